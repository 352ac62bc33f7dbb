// One bootstrap for the two transports of a rank: a face for each, that gives it the messages and
// the ends of its own ranks, and hands the other face the other's.
//
//   real boot -- receive() of either face --> near or far, by the sender's rank --> its inbox
//
// Which side a rank is on is decided before anything is exchanged, and never changes; so messages
// need no mark, and what comes from a rank on one side is never seen on the other, whatever it
// says.
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

// Of each rank, whether it is one of the others (of another host): once the bootstrap knows where
// it is, that is for good. A rank that is not known yet is looked for again; nothing is exchanged
// with it before.
class Sides {
 public:
  explicit Sides(const boot::Boot& boot) : boot_(boot), sides_(boot.size(), Side::unknown) {
    for (boot::Rank rank = 0; rank < size(); ++rank) look(rank);
  }

  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(sides_.size()); }
  bool is_far(boot::Rank rank) {
    if (rank >= sides_.size()) return false;
    if (sides_[rank] == Side::unknown) look(rank);
    return sides_[rank] == Side::far;
  }

 private:
  enum class Side : std::uint8_t { unknown, near, far };
  void look(boot::Rank rank) {
    if (!boot_.knows(rank)) return;
    const bool is_near = rank == boot_.rank() || boot_.passes_descriptors(rank);
    sides_[rank] = is_near ? Side::near : Side::far;
  }

  const boot::Boot& boot_;
  std::vector<Side> sides_;
};

class SplitBoot {
 public:
  // `real` outlives it.
  static base::Result<std::unique_ptr<SplitBoot>> open(boot::Boot& real,
                                                       std::shared_ptr<Sides> sides);

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
    bool knows(boot::Rank rank) const override { return split_.real_.knows(rank); }
    std::optional<boot::Address> met_at(boot::Rank rank) const override {
      return split_.real_.met_at(rank);
    }
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
                             const boot::Serve& serve) override {
      return split_.real_.allgather(mine, all, serve);
    }
    base::Result<> barrier(const boot::Serve& serve) override {
      return split_.real_.barrier(serve);
    }

    void put(boot::Message message) { parts_.inbox.push(std::move(message)); }
    void fail(const base::Error& why);

   private:
    SplitBoot& split_;
    Parts parts_;
    std::optional<base::Error> failure_;  // to be told once
  };

  SplitBoot(boot::Boot& real, std::shared_ptr<Sides> sides, Face::Parts near, Face::Parts far)
      : real_(real),
        sides_(std::move(sides)),
        near_(*this, std::move(near)),
        far_(*this, std::move(far)) {}

  void sort(const Face& taker);
  Face& side_of(boot::Rank rank) { return sides_->is_far(rank) ? far_ : near_; }

  boot::Boot& real_;
  const std::shared_ptr<Sides> sides_;
  Face near_;
  Face far_;
};

}  // namespace photon::transport::mixed
