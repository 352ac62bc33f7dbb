// The caller's allgather and barrier, plus one datagram socket a rank for messages within its host;
// messages to other hosts are the Messenger's, which there is where the job is on several.
// Invariant: a message is believed only if it carries the job's secret and comes from our user.
// Owner: the Context; one thread at a time.
//
// A peer, seen from here; gone is told once, after its last message:
//   silent -send, message-> known -process ended, socket refused, farewell-> gone
//
// Who leaves shuts its socket to new messages and answers those it has not read with a farewell.
#pragma once

#include <array>
#include <map>
#include <vector>

#include "boot/boot.hpp"
#include "boot/card.hpp"
#include "boot/inbox.hpp"
#include "boot/messenger.hpp"
#include "boot/outbox.hpp"
#include "boot/watch.hpp"

namespace photon::boot {

class CallbackBoot final : public Boot {
 public:
  static base::Result<std::unique_ptr<Boot>> open(const ph_bootstrap& bootstrap,
                                                  const base::Config& config);

  Rank rank() const override { return bootstrap_.rank; }
  std::uint32_t size() const override { return bootstrap_.size; }
  const Secret& secret() const override { return secret_; }
  std::uint32_t local_size() const override { return local_size_; }
  bool passes_descriptors(Rank rank) const override { return known_[rank].near; }
  base::Result<bool> send(Rank to, std::span<const std::byte> bytes,
                          std::span<const int> fds) override;
  base::Result<std::optional<Message>> receive() override;
  bool idle() const override { return !sends_wait(); }
  base::Result<> leave() override;
  bool has_left(Rank rank) const override {
    if (!passes_descriptors(rank)) return messenger_->has_left(rank);
    const auto peer = peers_.find(rank);
    return peer != peers_.end() && peer->second.left;
  }
  int poll_fd() const override { return watch_.fd(); }
  base::Result<> allgather(std::span<const std::byte> mine, std::span<std::byte> all,
                           const std::function<void()>& serve) override;
  base::Result<> barrier(const std::function<void()>& serve) override;
  bool collects_alone() const override { return true; }

  // Datagrams that were not from a rank of this job, or made no sense.
  std::uint64_t dropped_count() const { return dropped_count_; }
  // Packets that wait for room at their receiver's socket.
  bool sends_wait() const;

 private:
  enum class Seen { silent, known, gone };
  enum class Kind : std::uint32_t { message, farewell };
  // What of a card is needed to meet its rank: kept small, there is one for every rank of the job.
  struct Known {
    std::array<std::byte, 16> name{};
    std::uint64_t start_ticks = 0;
    std::uint32_t pid = 0;
    bool near = false;
    bool same_pids = false;  // of our host and pid namespace
  };
  struct Peer {  // of a rank that we have exchanged messages with
    Seen seen = Seen::silent;
    bool left = false;      // in order
    base::UniqueFd socket;  // connected to the peer's, from the first send on
    base::UniqueFd pidfd;
    Outbox outbox;
  };

  CallbackBoot(const ph_bootstrap& bootstrap, Inbox inbox, Watch watch)
      : bootstrap_(bootstrap), inbox_(std::move(inbox)), watch_(std::move(watch)) {}

  // Runs a callback; what peers ask meanwhile, serve() does.
  base::Result<> collect(const char* name, const std::function<void()>& serve,
                         const std::function<int()>& callback);
  Card card_of(Rank rank) const;
  bool is_gone(Rank rank) const;
  base::Result<> bind_socket(const Card& own);
  base::Result<> introduce(const Card& own, const base::Config& config);
  base::Result<> open_messenger(const base::Config& config);
  base::Result<bool> post(Rank to, Kind kind, const Packet& packet);
  base::Result<> connect_to(Rank to);
  base::Result<> meet(Rank rank);
  base::Result<> drain_socket();
  std::optional<Rank> accept(Arrival arrival, std::span<const std::byte> packet);
  base::Result<> flush_to(Rank to);
  base::Result<> set_gone(Rank rank);
  base::Result<> set_refused(Rank rank);
  base::Result<> handle(const Ready& ready);

  ph_bootstrap bootstrap_;
  Inbox inbox_;
  Watch watch_;
  base::UniqueFd socket_;
  Secret secret_{};
  std::uint32_t local_size_ = 0;
  Card own_;
  std::vector<Known> known_;    // by rank
  std::map<Rank, Peer> peers_;  // contacted ones
  std::unique_ptr<Messenger> messenger_;
  std::uint64_t dropped_count_ = 0;
  bool leaving_ = false;
};

}  // namespace photon::boot
