// Two shm transports over a bootstrap in memory, as ranks of one process and, by another token, as
// if of two: then every byte goes through a second mapping. The test's thread drives both.
// Owner: the test.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "memory_boot.hpp"
#include "transport/shm/shm_transport.hpp"
#include "watchdog.hpp"

namespace photon::transport::shm::test {

using photon::test::MemoryJob;
using photon::test::Watchdog;

// What a transport reported.
class News final : public Sink {
 public:
  void on_link(Rank rank) override { links.insert(rank); }
  void on_activity(Rank rank) override { activity.insert(rank); }
  void on_gone(Rank rank, const base::Error& why) override { gone[rank] = why; }

  std::set<Rank> links;
  std::set<Rank> activity;
  std::map<Rank, base::Error> gone;
};

struct Side {
  std::unique_ptr<boot::Boot> boot;
  std::unique_ptr<Transport> transport;
  News news;

  void poll() { transport->poll(news); }
  Link& to(Rank rank) {
    auto link = transport->connect(rank);
    if (!link) throw std::runtime_error(link.error().what);
    return **link;
  }
};

inline base::Config small_config() {
  base::Config config;
  config.ring_lines = 64;
  config.bulk_bytes = 8 << 10;
  config.bulk_chunk = 2 << 10;
  config.max_regions = 64;
  config.arena_bytes = 1 << 20;
  return config;
}

class ShmPair {
 public:
  explicit ShmPair(bool one_process, const base::Config& config = small_config(),
                   const base::Config& other = small_config()) {
    open(0, config, one_process, {});
    open(1, other, one_process, {});
  }
  // As if of two processes, the first one with these options.
  explicit ShmPair(const ShmOptions& options) {
    open(0, small_config(), false, options);
    open(1, small_config(), false, {});
  }

  Side& operator[](Rank rank) { return sides_[rank]; }
  MemoryJob& job() { return job_; }

  bool eventually(const std::function<bool()>& done) {
    for (int round = 0; round < 100'000; ++round) {
      if (done()) return true;
      for (Side& side : sides_)
        if (side.transport) side.poll();
    }
    return false;
  }
  bool join() {
    sides_[0].to(1);
    return eventually(
        [&] { return sides_[0].news.links.contains(1) && sides_[1].news.links.contains(0); });
  }
  void end(Rank rank) {
    sides_[rank].transport.reset();
    sides_[rank].boot.reset();
  }

 private:
  void open(Rank rank, const base::Config& config, bool one_process, ShmOptions options) {
    sides_[rank].boot = job_.boot(rank);
    if (!one_process) options.token = ProcessToken{rank, 17};
    auto opened = open_shm(config, *sides_[rank].boot, options);
    if (!opened) throw std::runtime_error(opened.error().what);
    sides_[rank].transport = std::move(*opened);
  }

  Watchdog watchdog_{std::chrono::seconds(60)};
  MemoryJob job_{2};
  Side sides_[2];
};

using Producer = sync::LineProducer<Policy>;
using Consumer = sync::LineConsumer<Policy>;

inline constexpr unsigned kRingLog2 = 6;

inline Producer producer_of(const Link& link) {
  return {link.tx_lines, link.tx_credits, kRingLog2, 0, link.tx_order};
}
inline Consumer consumer_of(const Link& link) {
  return {link.rx_lines, link.rx_credits, kRingLog2, link.rx_order};
}

// A record of one line whose first word is `value`.
inline void post(Producer& producer, std::uint64_t value) {
  ASSERT_TRUE(producer.has_room(1));
  producer.line(0).words[0].set(value);
  producer.publish(std::uint64_t{1} << 16, 1);
}

// The parameter: ranks of one process?
class ShmPairTest : public testing::TestWithParam<bool> {
 protected:
  bool one_process() const { return GetParam(); }
};

inline std::string process_name(const testing::TestParamInfo<bool>& one) {
  return one.param ? "one_process" : "two_mappings";
}

}  // namespace photon::transport::shm::test
