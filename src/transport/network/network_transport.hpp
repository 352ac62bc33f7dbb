// What tcp and ofi are alike: how the engine gets and gives back a link, which questions about a
// transport over a network have one answer, and what both need for that. Each adds its peers, how
// it meets them, and what moves lines, fragments and news.
//
// Invariant: a rank never contacted costs one pointer. Reports to the engine are made in poll()
// only, by news_.
// Owner: the engine. Threads: the engine's calls come one at a time; beside them runs the Flusher
// of the transport, under lock_. Whatever touches peers, news or refusals takes it. Without it run
// sleep(), slept(), wake(), leave(), read(), write(), now_ns(), pause(), and what answers with a
// constant. Each transport says what its sleep_on() does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/config.hpp"
#include "base/log.hpp"
#include "base/time_source.hpp"
#include "boot/boot.hpp"
#include "sync/hint.hpp"
#include "transport/network/network_peer.hpp"
#include "transport/network/news.hpp"
#include "transport/network/owner_lock.hpp"
#include "transport/network/refusals.hpp"
#include "transport/network/side_channel.hpp"
#include "transport/network/wakeup.hpp"
#include "transport/transport.hpp"

namespace photon::transport::network {

class NetworkTransport : public Transport {
 public:
  unsigned poll_interval() const noexcept override { return 1; }
  base::Result<Link*> connect(Rank rank) override;
  void disconnect(Rank rank) noexcept override;
  bool drained() const noexcept override;

  // PH_ERR_STATE: memory of peers is reached by posting only.
  base::Result<> read(Rank rank, std::uint64_t address,
                      std::span<std::byte> destination) noexcept override;
  base::Result<> write(Rank rank, std::uint64_t address,
                       std::span<const std::byte> source) noexcept override;
  void leave() noexcept override { is_leaving_ = true; }  // read by our end
  bool quiesces() const noexcept override { return true; }
  std::span<std::byte> arena() noexcept override { return {}; }

  void sleep(std::int64_t timeout_us) noexcept override;
  void slept(unsigned ready) noexcept override;
  Sleepers sleepers() noexcept override { return {this}; }
  void disarm() noexcept override;
  void wake() noexcept override { wake_.ring(); }

  std::int64_t now_ns() noexcept override { return time_.now_ns(); }
  void pause(unsigned spins) noexcept override {
    if (!time_.pause()) Policy::pause(spins);
  }
  RejectedConnections rejected() const noexcept override;

  // For tests.
  std::uint64_t refused(Refusal why) const noexcept { return refused_.count(why); }

 protected:
  struct Setup {
    const base::Config& config;
    boot::Boot& boot;
    base::TimeSource time;
    Wakeup wake;
    NewsQueue::Order order = NewsQueue::Order::as_it_came;
    bool posts = false;  // a fragment that post() takes is a kick, too
  };
  explicit NetworkTransport(Setup setup);

  // Null: nothing is known of it, or it is no rank of the job.
  virtual NetworkPeer* known(Rank rank) const noexcept = 0;
  virtual NetworkPeer& remember(Rank rank) = 0;
  // Whether anybody can be met any more; else what is said of that.
  virtual base::Result<> can_meet(Rank /*rank*/) const { return {}; }
  // Asks a rank to meet us, by the side channel. False: it is gone.
  virtual base::Result<bool> ask(Rank rank) = 0;
  virtual void end(Rank rank, base::Error why) = 0;
  // What the side channel brings of another rank: an endpoint info; or that it has ended, and how
  // that is told.
  virtual void take_info(Rank rank, std::span<const std::byte> bytes) = 0;
  virtual void boot_gone(Rank rank, const char* why) = 0;
  // With the lock: whether nothing that was handed over is left here.
  virtual bool has_left_all() const noexcept = 0;

  base::Result<> give_link(NetworkPeer& peer) {
    return peer.give_link(config_, peer.rank == self_, posts_);
  }
  // PH_ERR_PEER, in words that begin with the transport and the rank.
  base::Error peer_error(Rank rank, const std::string& what, int native_errno = 0) const;
  // The messages of a look at the side channel that has begun. If it is broken, nobody that was
  // asked will ever be met.
  void take_messages();
  // Whoever sleeps meanwhile has not seen it.
  void tell(const News& news) {
    news_.add(news);
    wake_.ring_if_armed();
  }

  boot::Boot& boot_;
  const base::Config config_;
  const base::TimeSource time_;
  const base::Log log_;
  mutable OwnerLock lock_;
  Wakeup wake_;
  NewsQueue news_;
  Refusals refused_;
  SideChannel side_channel_;
  std::size_t unsettled_ = 0;  // peers that have deadlines to keep, or are not met yet
  bool is_leaving_ = false;
  mutable bool is_undrained_ = false;                  // when drained() was asked last
  sync::Hint<Policy, std::int64_t> longest_sleep_us_;  // arm() writes, sleep_on() reads

 private:
  void take_message(const boot::Message& message);
  void end_who_is_asked(const base::Error& why);

  const Rank self_;
  const std::uint32_t ranks_count_;
  const bool posts_;
};

}  // namespace photon::transport::network
