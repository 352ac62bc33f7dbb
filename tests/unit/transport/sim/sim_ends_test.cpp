// Ends of ranks on the simulated network, cuts, and who comes under the number of a dead rank.
#include <gtest/gtest.h>
#include <photon/memory.h>

#include <memory>
#include <string>
#include <vector>

#include "transport/sim/sim_transport.hpp"
#include "wire/record.hpp"

namespace photon::transport::sim {
namespace {

using Profile = base::SimProfile;
constexpr std::uint64_t kFarNs = 1'000'000;

SimNetwork::Settings settings(Profile profile, std::uint64_t seed = 1) {
  SimNetwork::Settings all;
  all.seed = seed;
  all.max_delay_ns = 5000;
  all.profile = profile;
  return all;
}

// Only the tests move the clock.
class NoPacer final : public Pacer {
 public:
  void sleep(SimNetwork&, Rank, std::uint64_t) noexcept override {}
  void interrupt(SimNetwork&, Rank, std::uint64_t) noexcept override {}
};

struct EndingNet {
  explicit EndingNet(Profile profile, std::uint64_t seed = 1, std::uint32_t ranks = 3)
      : network(ranks, settings(profile, seed)) {
    network.pace_by(pacer);
  }
  void post(Rank from, Rank to, std::uint64_t number) {
    network.post(to, {.kind = Packet::Kind::record, .from = from, .position = number});
  }
  std::vector<Packet> take(Rank rank) {
    std::vector<Packet> due;
    network.take_due(rank, due);
    return due;
  }
  // Everything that still comes.
  std::vector<Packet> rest(Rank rank) {
    network.advance_to(network.now_ns() + kFarNs);
    return take(rank);
  }
  NoPacer pacer;
  SimNetwork network;
};

bool ends_with_gone(const std::vector<Packet>& packets) {
  return !packets.empty() && packets.back().kind == Packet::Kind::gone;
}

TEST(SimEnds, of_an_ordered_link_the_end_is_lost_and_nothing_comes_after_gone) {
  std::size_t most = 0, least = 100;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    EndingNet net(Profile::stream, seed);
    for (std::uint64_t i = 0; i < 10; ++i) net.post(0, 1, i);
    net.network.die(0, 5000);
    net.post(0, 1, 10);  // the dead post nothing
    const auto come = net.rest(1);
    ASSERT_TRUE(ends_with_gone(come)) << "seed " << seed;
    for (std::size_t i = 0; i + 1 < come.size(); ++i) ASSERT_EQ(come[i].position, i);
    most = std::max(most, come.size());
    least = std::min(least, come.size());
    EXPECT_TRUE(ends_with_gone(net.rest(2))) << "everybody is told";
  }
  EXPECT_EQ(most, 11u);
  EXPECT_LT(least, 6u);
}

TEST(SimEnds, what_was_published_in_shared_memory_outlives_its_sender) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    EndingNet net(Profile::mapped, seed);
    for (std::uint64_t i = 0; i < 10; ++i) net.post(0, 1, i);
    net.network.die(0, 100);
    const auto come = net.rest(1);
    EXPECT_TRUE(ends_with_gone(come));
    EXPECT_EQ(come.size(), 11u);
  }
}

TEST(SimEnds, without_order_anything_under_way_may_be_lost) {
  bool has_gap = false;
  for (std::uint64_t seed = 1; seed <= 50 && !has_gap; ++seed) {
    EndingNet net(Profile::srd, seed);
    for (std::uint64_t i = 0; i < 10; ++i) net.post(0, 1, i);
    net.network.die(0, 10'000);
    std::vector<bool> seen(10);
    std::size_t last = 0;
    for (const Packet& packet : net.rest(1)) {
      if (packet.kind == Packet::Kind::gone) continue;
      seen[packet.position] = true;
      last = std::max(last, packet.position);
    }
    for (std::size_t i = 0; i < last; ++i) has_gap = has_gap || !seen[i];
  }
  EXPECT_TRUE(has_gap);
}

TEST(SimEnds, what_had_come_before_the_death_stays) {
  EndingNet net(Profile::srd);
  for (std::uint64_t i = 0; i < 10; ++i) net.post(0, 1, i);
  net.network.advance_to(kFarNs);
  net.network.die(0, 0);
  const auto come = net.rest(1);
  EXPECT_EQ(come.size(), 11u);
  EXPECT_TRUE(ends_with_gone(come));
}

TEST(SimEnds, a_death_is_known_when_the_news_of_it_have_come_and_a_bye_at_once) {
  EndingNet net(Profile::stream);
  net.network.die(0, kFarNs);
  EXPECT_FALSE(net.network.is_gone(0, 1) && net.network.is_gone(0, 2));
  EXPECT_TRUE(ends_with_gone(net.rest(1)));
  EXPECT_TRUE(net.network.is_gone(0, 1));
  net.network.leave(2);
  EXPECT_TRUE(net.network.is_gone(2, 1));
  net.network.leave(0);  // its memory is freed long after: no more news
  EXPECT_EQ(net.rest(1).size(), 1u);
}

TEST(SimEnds, a_cut_delays_all_between_two_groups_and_loses_nothing) {
  for (const Profile profile : {Profile::stream, Profile::srd}) {
    EndingNet net(profile);
    for (std::uint64_t i = 0; i < 5; ++i) net.post(0, 1, i);
    net.network.cut(1, 50'000);
    for (std::uint64_t i = 5; i < 10; ++i) net.post(0, 1, i);
    net.post(1, 0, 0);
    net.post(2, 1, 0);
    EXPECT_EQ(net.network.healed_ns(), 50'000u);
    net.network.advance_to(49'000);
    EXPECT_EQ(net.take(1).size(), 1u) << "from the same side";
    EXPECT_TRUE(net.take(0).empty());
    EXPECT_EQ(net.rest(0).size(), 1u);
    const auto come = net.rest(1);
    EXPECT_EQ(come.size(), 10u);
    if (profile == Profile::srd) continue;
    for (std::size_t i = 0; i < come.size(); ++i) EXPECT_EQ(come[i].position, i);
  }
}

TEST(SimEnds, a_longer_cut_over_another_one_ends_later_and_a_shorter_one_changes_nothing) {
  EndingNet net(Profile::stream);
  net.post(0, 1, 0);
  net.network.cut(1, 50'000);
  net.network.cut(2, 90'000);
  net.network.cut(1, 10'000);
  net.network.advance_to(89'000);
  EXPECT_TRUE(net.take(1).empty());
  EXPECT_EQ(net.rest(1).size(), 1u);
  EXPECT_EQ(net.network.healed_ns(), 90'000u);
}

TEST(SimEnds, nobody_hears_of_a_death_across_a_cut) {
  EndingNet net(Profile::stream);
  net.network.cut(1, 50'000);
  net.network.die(0, 0);
  net.network.advance_to(49'000);
  EXPECT_TRUE(net.take(1).empty());
  EXPECT_FALSE(net.network.is_gone(0, 1));
  EXPECT_TRUE(ends_with_gone(net.rest(1)));
}

// Two ranks with a NIC each; 0 writes to 1.
struct Nics {
  explicit Nics(std::uint64_t seed)
      : net(Profile::rc, seed, 2), regions(new RegionEntry[16]), memory(64), source(64) {
    net.network.show_regions(1, regions, 16);
    const auto at = reinterpret_cast<std::uintptr_t>(memory.data());
    regions[3].publish(0x33, {at, 64, PH_ACCESS_ALL});
    source.assign(64, std::byte{1});
    flight = std::make_shared<Flight>();
    flight->fragment = {.rank = 1, .address = at, .key = 0x33, .size_bytes = 64};
    flight->fragment.source = source.data();
    flight->fragment.imm = 7;
    net.network.post_fragment(0, flight);
  }
  EndingNet net;
  std::shared_ptr<RegionEntry[]> regions;
  std::vector<std::byte> memory, source;
  std::shared_ptr<Flight> flight;
};

TEST(SimEnds, a_fragment_to_a_dead_rank_ends_with_what_became_of_it) {
  bool failed = false, landed = false;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Nics nics(seed);
    nics.net.network.advance_to(3000);
    nics.net.network.die(1, 0);
    const auto come = nics.net.rest(0);
    ASSERT_EQ(come.size(), 2u) << "done and gone";
    const bool is_whole = nics.memory == nics.source;
    EXPECT_EQ(nics.flight->status, is_whole ? PH_OK : PH_ERR_PEER);
    (is_whole ? landed : failed) = true;
  }
  EXPECT_TRUE(failed && landed);
}

TEST(SimEnds, a_fragment_of_a_dead_rank_is_told_of_only_if_all_of_it_has_landed) {
  bool told = false, lost = false;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Nics nics(seed);
    nics.net.network.die(0, 5000);
    const auto come = nics.net.rest(1);
    ASSERT_TRUE(ends_with_gone(come));
    const bool is_whole = nics.memory == nics.source;
    if (come.size() == 2) {
      EXPECT_TRUE(is_whole);
    }
    (come.size() == 2 ? told : lost) = true;
  }
  EXPECT_TRUE(told && lost);
}

// Counts what the engine would be told.
class Count final : public Sink {
 public:
  void on_link(Rank) override { ++links; }
  void on_activity(Rank) override { ++activities; }
  void on_gone(Rank, const base::Error&) override { ++gone; }
  int links = 0, activities = 0, gone = 0;
};

TEST(SimEnds, who_is_started_anew_under_a_dead_rank_s_number_is_nobody_s_peer) {
  base::Config config;
  config.ring_lines = 64;
  config.bulk_bytes = 8192;
  config.max_regions = 16;
  for (const auto fault : {Fault::Kind::none, Fault::Kind::rejoin}) {
    auto with_fault = settings(Profile::stream);
    with_fault.fault.kind = fault;
    const auto network = std::make_shared<SimNetwork>(2, with_fault);
    SimTransport stays(config, 0, network), dies(config, 1, network);
    network->die(1, 0);
    SimTransport anew(config, 1, network);
    ASSERT_TRUE(anew.connect(0));
    Count count;
    for (int i = 0; i < 1000; ++i) stays.poll(count);
    EXPECT_EQ(count.links, fault == Fault::Kind::none ? 0 : 1);
    EXPECT_FALSE(stays.connect(1) && fault == Fault::Kind::none);
  }
}

// Lanes that are there, and lanes that are opened later.
TEST(SimEnds, what_ends_or_is_cut_ends_and_is_cut_on_every_lane) {
  EndingNet net(Profile::stream);
  const auto before = net.network.lane(1);
  net.network.die(1, 0);
  net.network.cut(0b100, 5000);
  const auto after = net.network.lane(2);
  for (SimNetwork* lane : {before.get(), after.get()}) {
    EXPECT_TRUE(lane->is_gone(1, 0));
    EXPECT_TRUE(lane->has_died(1));
    EXPECT_FALSE(lane->is_gone(2, 0));
    EXPECT_EQ(lane->healed_ns(), net.network.healed_ns());
  }
  net.network.leave(2);
  EXPECT_TRUE(after->is_gone(2, 0));
  EXPECT_FALSE(after->has_died(2));
}

TEST(SimEnds, who_leaves_a_lane_stays_on_the_others) {
  EndingNet net(Profile::stream);
  const auto lane = net.network.lane(1);
  lane->leave(1);
  EXPECT_TRUE(lane->is_gone(1, 0));
  EXPECT_FALSE(net.network.is_gone(1, 0));
  EXPECT_FALSE(net.network.lane(2)->is_gone(1, 0));
}

}  // namespace
}  // namespace photon::transport::sim
