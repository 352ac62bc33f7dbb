// N transports of one kind in one process, over a bootstrap in memory.
//
//   TransportHarness job(GetParam(), 2);
//   job[0].to(1).send(...);
//   ASSERT_TRUE(job.eventually([&] { return job[1].to(0).has_record(); }));
//
// A new transport joins the suite by an entry in kinds.cpp. Owner: the test.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "base/config.hpp"
#include "boot/lane_demux.hpp"
#include "hosts_boot.hpp"
#include "memory_boot.hpp"
#include "peer.hpp"
#include "watchdog.hpp"

namespace photon::test {

struct TransportKind {
  const char* name;
  base::Result<std::unique_ptr<transport::Transport>> (*open)(const base::Config&, boot::Boot&);
  // Why this kind cannot run here, or null.
  const char* (*unavailable)();
  // The ranks pretend to be on so many hosts, by turns: rank r on host r % hosts_count.
  std::uint32_t hosts_count = 1;
  // What must happen may also take this long, however often it is asked for: who goes through a
  // kernel's sockets, looks at them by the clock as libfabric's ofi_rxm does, every 10 ms, or has a
  // thread beside its callers (the flusher), which others keep from its core.
  std::int64_t patience_ns = 0;
};

inline std::ostream& operator<<(std::ostream& out, const TransportKind& kind) {
  return out << kind.name;
}

std::vector<TransportKind> transport_kinds();
// And those that differ in what NICs do alone.
std::vector<TransportKind> nic_kinds();

// Small rings, so that a test soon sees the second lap.
inline base::Config small_config() {
  base::Config config;
  config.ring_lines = 64;
  config.bulk_bytes = 8 << 10;
  config.bulk_chunk = 2 << 10;
  config.max_regions = 64;
  config.arena_bytes = 1 << 20;
  return config;
}

class TransportHarness {
 public:
  TransportHarness(const TransportKind& kind, std::uint32_t ranks_count,
                   base::Config config = small_config())
      : config_(config), patience_ns_(kind.patience_ns), memory_(ranks_count), peers_(ranks_count) {
    on_threads([&](transport::Rank rank) {
      auto boot = std::move(*boot::LaneDemux::front(
          std::make_unique<HostsBoot>(memory_.boot(rank), kind.hosts_count)));
      auto transport = kind.open(config_, *boot);
      if (!transport) throw std::runtime_error("open: " + transport.error().what);
      peers_[rank] = std::make_unique<Peer>(std::move(boot), std::move(*transport), config_);
    });
  }

  bool opened() const {
    for (const auto& peer : peers_)
      if (!peer) return false;
    return true;
  }
  const base::Config& config() const { return config_; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(peers_.size()); }
  Peer& operator[](transport::Rank rank) { return *peers_[rank]; }
  // The rank's transport and boot end.
  void end(transport::Rank rank) { peers_[rank].reset(); }
  // Another lane of a rank, driven with the others; ended by who opened it.
  std::shared_ptr<Peer> open_lane(transport::Rank rank, std::uint32_t number) {
    auto boot = peers_[rank]->boot().open_lane(number);
    if (!boot) throw std::runtime_error("boot: " + boot.error().what);
    auto transport = peers_[rank]->transport().open_lane(number, **boot);
    if (!transport) throw std::runtime_error("transport: " + transport.error().what);
    auto lane = std::make_shared<Peer>(std::move(*boot), std::move(*transport), config_);
    lanes_.push_back(lane);
    return lane;
  }

  // Drives all ranks from this thread until `done`; false: it takes too long.
  bool eventually(const std::function<bool()>& done) {
    const std::int64_t start_ns = base::now_ns();
    for (unsigned round = 0; round < kRounds || base::now_ns() - start_ns < patience_ns_; ++round) {
      if (done()) return true;
      for (auto& peer : peers_)
        if (peer) peer->poll();
      for (auto& lane : lanes_)
        if (const auto lives = lane.lock()) lives->poll();
    }
    return done();
  }
  // Drives all ranks for a while, so that what must not happen would.
  void settle() {
    for (unsigned round = 0; round < kSettleRounds; ++round)
      for (auto& peer : peers_)
        if (peer) peer->poll();
  }
  // Both ranks have both halves.
  bool join(transport::Rank a, transport::Rank b) {
    (*this)[a].to(b);
    return eventually([&] {
      return (*this)[a].to(b).can_receive() && (*this)[b].knows(a) &&
             (*this)[b].to(a).can_receive();
    });
  }

  // One thread per rank; what a body throws fails the test.
  void on_threads(const std::function<void(transport::Rank)>& body) {
    std::vector<std::thread> threads;
    for (transport::Rank rank = 0; rank < size(); ++rank) {
      threads.emplace_back([&, rank] {
        try {
          body(rank);
        } catch (const std::exception& exception) {
          ADD_FAILURE() << "rank " << rank << ": " << exception.what();
          memory_.meeting().break_up();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  // All threads wait for all.
  void meet() { memory_.meeting().meet(); }

 private:
  static constexpr unsigned kRounds = 20'000;
  static constexpr unsigned kSettleRounds = 1'000;

  const base::Config config_;
  const std::int64_t patience_ns_;
  MemoryJob memory_;
  std::vector<std::unique_ptr<Peer>> peers_;
  std::vector<std::weak_ptr<Peer>> lanes_;
};

// The fixture of the whole suite, in however many files. Skips, visibly, what this machine or build
// cannot run.
class TransportConformance : public testing::TestWithParam<TransportKind> {
 protected:
  void SetUp() override {
    if (const char* why = GetParam().unavailable()) GTEST_SKIP() << why;
  }

 private:
  Watchdog watchdog_{std::chrono::seconds(60)};
};
}  // namespace photon::test
