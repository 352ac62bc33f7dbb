// One bootstrap for the two transports of a rank: a face for each, that gives it the messages and
// the ends of its own ranks, and hands the other face the other's.
//
//   real boot -- receive() of either face --> near or far, by the sender's rank --> its inbox
//
// Which side a rank is on is decided before anything is sent, and never changes; so messages need
// no mark, and what comes from a rank on one side is never seen on the other, whatever it says.
// Invariants: messages of one rank stay in order. A face's descriptor is readable while the real
// boot's is, or while its inbox holds something: so what one face has taken off the real boot for
// the other still ends the other's sleep. An error of the real boot is told once by each face.
// Owner: MixedTransport. Threads: as the real boot, one at a time; poll_fd() is a constant.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "boot/boot.hpp"
#include "boot/inbox.hpp"
#include "boot/watch.hpp"

namespace photon::transport::mixed {

// Of each rank, whether it is one of the others (of another host).
using Sides = std::vector<bool>;

class SplitBoot {
 public:
  // `real` outlives it.
  static base::Result<std::unique_ptr<SplitBoot>> open(boot::Boot& real,
                                                       std::shared_ptr<const Sides> is_far);

  boot::Boot& near() noexcept { return near_; }
  boot::Boot& far() noexcept { return far_; }

 private:
  class Face final : public boot::Boot {
   public:
    struct Parts {
      boot::Inbox inbox;
      boot::Watch watch;
    };
    static base::Result<Parts> make(const boot::Boot& real);
    Face(SplitBoot& split, Parts parts) : split_(split), parts_(std::move(parts)) {}

    boot::Rank rank() const override { return split_.real_.rank(); }
    std::uint32_t size() const override { return split_.real_.size(); }
    const boot::Secret& secret() const override { return split_.real_.secret(); }
    std::uint32_t local_size() const override { return split_.real_.local_size(); }
    bool passes_descriptors(boot::Rank rank) const override {
      return split_.real_.passes_descriptors(rank);
    }
    base::Result<bool> send(boot::Rank to, std::span<const std::byte> bytes,
                            std::span<const int> fds) override {
      return split_.real_.send(to, bytes, fds);
    }
    base::Result<std::optional<boot::Message>> receive() override;
    bool idle() const override { return split_.real_.idle(); }
    bool has_left(boot::Rank rank) const override { return split_.real_.has_left(rank); }
    int poll_fd() const override { return parts_.watch.fd(); }
    base::Result<> allgather(std::span<const std::byte> mine, std::span<std::byte> all,
                             const std::function<void()>& serve) override {
      return split_.real_.allgather(mine, all, serve);
    }
    base::Result<> barrier(const std::function<void()>& serve) override {
      return split_.real_.barrier(serve);
    }

    void put(boot::Message message) { parts_.inbox.push(std::move(message)); }
    void fail(const base::Error& why);

   private:
    SplitBoot& split_;
    Parts parts_;
    std::optional<base::Error> failure_;  // to be told once
  };

  SplitBoot(boot::Boot& real, std::shared_ptr<const Sides> is_far, Face::Parts near,
            Face::Parts far)
      : real_(real),
        is_far_(std::move(is_far)),
        near_(*this, std::move(near)),
        far_(*this, std::move(far)) {}

  void sort(const Face& taker);
  Face& side_of(boot::Rank rank) noexcept {
    return rank < is_far_->size() && (*is_far_)[rank] ? far_ : near_;
  }

  boot::Boot& real_;
  const std::shared_ptr<const Sides> is_far_;
  Face near_;
  Face far_;
};

}  // namespace photon::transport::mixed
