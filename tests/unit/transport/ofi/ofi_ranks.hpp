// Ranks of a job on transport ofi over a fabric of the test's, all driven by the test's thread over
// a bootstrap in memory. Their clock is the test's, too: each turn moves it by kTurnNs, so that
// what takes seconds by the clock takes milliseconds. Where threads drive them it is the system's.
// Owner: the test.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <vector>

#include "boot/proof.hpp"
#include "fake_fabric.hpp"
#include "given_time.hpp"
#include "memory_boot.hpp"
#include "transport/ofi/ofi_transport_impl.hpp"
#include "watchdog.hpp"
#include "wire/imm_codec.hpp"
#include "wire/record.hpp"

namespace photon::transport::ofi::test {

using photon::test::FakeFabric;
using photon::test::FakeManners;
using photon::test::MemoryJob;

inline base::Config ofi_config() {
  base::Config config;
  config.ring_lines = 64;
  config.bulk_bytes = 8 << 10;
  config.bulk_chunk = 2 << 10;
  config.max_regions = 64;
  config.log = base::LogLevel::error;
  return config;
}

class OfiNews final : public Sink {
 public:
  void on_link(Rank rank) override { links.insert(rank); }
  void on_activity(Rank rank) override { ++activity[rank]; }
  void on_gone(Rank rank, const base::Error& why) override {
    gone[rank] = why;
    done_before_gone = done.size();
  }
  void on_fragment(Rank from, std::uint32_t imm) override {
    EXPECT_EQ(from, wire::ImmCodec(ranks_count, kImmBits).rank_in(imm));
    ++told[imm];
  }
  void on_done(std::uint64_t token, ph_status status) override {
    done[token] = status;
    activity_before_done = activity;
  }

  std::uint32_t ranks_count = 0;
  std::map<std::uint32_t, unsigned> told;  // by name
  std::set<Rank> links;
  std::map<Rank, unsigned> activity;
  std::map<Rank, base::Error> gone;
  std::map<std::uint64_t, ph_status> done;        // by token
  std::size_t done_before_gone = 0;               // the latest
  std::map<Rank, unsigned> activity_before_done;  // the latest
};

struct OfiSide {
  std::unique_ptr<boot::Boot> boot;
  std::unique_ptr<Transport> transport;
  std::vector<FakeFabric*> fabrics;
  std::unique_ptr<sync::LineProducer<Policy>> producer;
  OfiNews news;

  OfiTransport& ofi() { return dynamic_cast<OfiTransport&>(*transport); }
  FakeFabric& fabric() { return *fabrics.front(); }
  Link& to(Rank rank) {
    auto link = transport->connect(rank);
    if (!link) throw std::runtime_error(link.error().what);
    return **link;
  }
  // One line into the ring to `rank`, and a kick. Always to the same rank. False: it is full.
  bool say(Rank rank, std::uint64_t word) {
    Link& link = to(rank);
    if (producer == nullptr)
      producer = std::make_unique<sync::LineProducer<Policy>>(link.tx_lines, link.tx_credits, 6);
    if (!producer->has_room(1)) return false;
    producer->line(0).words[2].set(word);
    producer->publish(wire::encode(wire::Kind::bye, wire::kNoId, 0), 1);
    transport->kick(rank);
    return true;
  }
};

using EachManners = std::vector<FakeManners>;  // by rank

enum class OfiTime : std::uint8_t { given, real };

class OfiRanks {
 public:
  // Far below what any of them waits for: a turn is no time.
  static constexpr std::int64_t kTurnNs = 100'000;

  explicit OfiRanks(std::uint32_t count, const FakeManners& manners = {},
                    const base::Config& config = ofi_config(), const OfiOptions& options = {},
                    OfiTime whose = OfiTime::given)
      : OfiRanks(EachManners(count, manners), config, options, whose) {}
  explicit OfiRanks(const EachManners& manners, const base::Config& config = ofi_config(),
                    const OfiOptions& options = {}, OfiTime whose = OfiTime::given)
      : options_{options.regions, options.give_back_ns,
                 whose == OfiTime::given ? time_.source() : base::TimeSource()},
        job_(static_cast<std::uint32_t>(manners.size())),
        sides_(manners.size()) {
    for (Rank rank = 0; rank < manners.size(); ++rank) open(rank, config, manners[rank]);
  }
  void open(Rank rank, const base::Config& config, const FakeManners& manners) {
    sides_[rank].boot = job_.boot(rank);
    sides_[rank].news.ranks_count = sides_[rank].boot->size();
    auto opened = open_ofi_over(config, *sides_[rank].boot,
                                photon::test::open_fake(manners, &sides_[rank].fabrics), options_);
    if (!opened) throw std::runtime_error(opened.error().what);
    sides_[rank].transport = std::move(*opened);
  }

  OfiSide& operator[](Rank rank) { return sides_[rank]; }
  MemoryJob& job() { return job_; }
  photon::test::GivenTime& time() { return time_; }
  void turn() {
    time_.move_ns(kTurnNs);
    for (OfiSide& side : sides_)
      if (side.transport != nullptr) side.transport->poll(side.news);
  }
  // The deadline is the watchdog's.
  bool eventually(const std::function<bool()>& done) {
    while (!done()) turn();
    return true;
  }
  bool join(Rank a, Rank b) {
    sides_[a].to(b);
    return eventually(
        [&] { return sides_[a].news.links.count(b) + sides_[b].news.links.count(a) == 2; });
  }
  void turn_for(std::int64_t ns) {
    for (const std::int64_t end_ns = time_.now_ns() + ns; time_.now_ns() < end_ns;) turn();
  }
  void settle() {
    for (int i = 0; i < 500; ++i) turn();
  }
  // As a stranger says it, who has found the endpoint of that rank.
  template <class Message>
  void tell(Rank to, const Message& message) {
    FakeFabric::deliver(sides_[to].fabric().number(), std::as_bytes(std::span(&message, 1)));
  }

 private:
  photon::test::Watchdog watchdog_{std::chrono::seconds(60)};
  photon::test::GivenTime time_;
  const OfiOptions options_;
  MemoryJob job_;
  std::vector<OfiSide> sides_;
};

// Skips where nothing can be proved.
class OfiTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!boot::can_prove()) GTEST_SKIP() << "this library was built without OpenSSL";
  }
};

}  // namespace photon::transport::ofi::test
