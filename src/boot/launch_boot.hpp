// The launcher's client: speaks the protocol of <photon/launch.h> over the inherited descriptor.
// Invariant: the descriptor was claimed by this object and by no other, in any process.
// Owner: the Context; one thread at a time.
//
//   claim -HELLO, WELCOME-> joined -end of file, malformed packet-> lost (told once by receive())
//                           joined -leave()-> left: another boot may claim the next channel, which
//                                             is where this one's was
#pragma once

#include <photon/launch.h>

#include <string_view>

#include "base/time_source.hpp"
#include "boot/boot.hpp"
#include "boot/inbox.hpp"
#include "boot/launch_claim.hpp"
#include "boot/launch_hosts.hpp"
#include "boot/outbox.hpp"
#include "boot/watch.hpp"

namespace photon::boot {

class LaunchBoot final : public Boot {
 public:
  // fd_text: the value of PHOTON_LAUNCH_FD. Blocks until the launcher answers, at most 30 s the
  // first time.
  static base::Result<std::unique_ptr<Boot>> open(std::string_view fd_text,
                                                  base::TimeSource time = {});

  ~LaunchBoot() override;

  Rank rank() const override { return welcome_.rank; }
  std::uint32_t size() const override { return welcome_.size; }
  const Secret& secret() const override { return secret_; }
  std::uint32_t local_size() const override { return welcome_.local_size; }
  std::optional<Rank> host_of(Rank rank) const override { return hosts_.first_of(rank); }
  bool passes_descriptors(Rank rank) const override {
    return rank - welcome_.local_first < welcome_.local_size;  // below it wraps to a large number
  }
  base::Result<bool> send(Rank to, std::span<const std::byte> bytes,
                          std::span<const int> fds) override;
  base::Result<std::optional<Message>> receive() override;
  bool idle() const override { return outbox_.empty(); }
  base::Result<> leave() override;
  void blame(Rank rank) override;
  bool has_left(Rank rank) const override { return ends_[rank].left; }
  int poll_fd() const override { return watch_.fd(); }
  base::Result<> allgather(std::span<const std::byte> mine, std::span<std::byte> all,
                           const Serve& serve) override;
  base::Result<> barrier(const Serve& serve) override;

 private:
  // The gather in progress; lives on the stack of allgather().
  struct Gather {
    std::size_t size_bytes;  // per rank
    std::span<std::byte> all;
    Rank next = 0;  // ranks below it have arrived
    bool sizes_differ = false;
  };
  struct End {
    bool gone = false;
    bool left = false;          // in order
    bool blamed = false;        // the launcher knows that our errors are about it
    std::uint64_t gathers = 0;  // it contributed to these
  };

  LaunchBoot(Claimed claimed, Inbox inbox, Watch watch)
      : socket_(std::move(claimed.fd)),
        is_next_(claimed.is_next),
        inbox_(std::move(inbox)),
        watch_(std::move(watch)) {}

  base::Result<> join(base::TimeSource time);
  base::Result<> await_welcome(base::TimeSource time);
  base::Result<Sent> post(ph_launch_header header, std::span<const std::byte> body,
                          std::span<const int> fds);
  void flush();
  void pump();
  bool dispatch(Arrival arrival, std::span<const std::byte> packet);
  bool take_welcome(std::span<const std::byte> body);
  bool take_delivery(const ph_launch_header& header, std::span<const std::byte> body,
                     std::vector<base::UniqueFd> fds);
  bool take_contributions(const ph_launch_header& header, std::span<const std::byte> body);
  bool take_end(const ph_launch_header& header, std::span<const std::byte> body);
  base::Result<> gather_state(const Gather& gather);
  void lose(std::string why);
  base::Error lost_error() const;
  bool wait_briefly(int news_fd) const;

  base::Result<bool> say_leave(std::span<const int> fds);
  std::uint32_t watched_events() const;
  void close_channel();

  base::UniqueFd socket_;
  bool is_next_;
  Inbox inbox_;
  Watch watch_;
  Outbox outbox_;
  bool watches_output_ = false;
  ph_launch_welcome welcome_{};
  LaunchHosts hosts_;
  Secret secret_{};
  std::vector<End> ends_;
  std::vector<std::byte> buffer_;
  std::uint64_t gathers_ = 0;  // numbers used so far
  Gather* gather_ = nullptr;
  std::string lost_;  // why; empty: connected
  bool loss_told_ = false;
};

}  // namespace photon::boot
