// Links between two living ranks of the simulated network that are lost for good.
#include <gtest/gtest.h>
#include <photon/memory.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "transport/sim/sim_network.hpp"
#include "wire/record.hpp"

namespace photon::transport::sim {
namespace {

using Profile = base::SimProfile;
using Kind = Packet::Kind;
constexpr std::uint64_t kLongNs = 1'000'000;
constexpr std::uint64_t kBoundNs = 200'000;

// Only the tests move the clock.
class StillPacer final : public Pacer {
 public:
  void sleep(SimNetwork&, Rank, std::uint64_t) noexcept override {}
  void interrupt(SimNetwork&, Rank, std::uint64_t) noexcept override {}
};

SimNetwork::Settings lossy(Profile profile, std::uint64_t seed) {
  SimNetwork::Settings all;
  all.seed = seed;
  all.max_delay_ns = 5000;
  all.profile = profile;
  return all;
}

// Three ranks; what each has taken of what peer, in order.
struct LossyNet {
  explicit LossyNet(Profile profile = Profile::stream, std::uint64_t seed = 1)
      : network(3, lossy(profile, seed)) {
    network.pace_by(pacer);
  }
  void hello(Rank from, Rank to) { network.post(to, {.kind = Kind::hello, .from = from}); }
  void meet(Rank a, Rank b) {
    hello(a, b);
    hello(b, a);
    network.advance_to(network.now_ns() + kLongNs);
    take(a);
    take(b);
  }
  static void record(SimNetwork& where, Rank from, Rank to, std::uint64_t number) {
    Packet packet{.kind = Kind::record, .from = from, .position = number};
    packet.lines.resize(1);
    packet.lines[0][0] = wire::encode(wire::Kind::put, 8, 0);
    where.post(to, std::move(packet));
  }
  void record(Rank from, Rank to, std::uint64_t number) { record(network, from, to, number); }
  static std::vector<Packet> take(SimNetwork& where, Rank rank) {
    std::vector<Packet> due;
    where.take_due(rank, due);
    return due;
  }
  std::vector<Packet> take(Rank rank) { return take(network, rank); }
  std::vector<Packet> rest(Rank rank) {
    network.advance_to(network.now_ns() + kLongNs);
    return take(rank);
  }
  StillPacer pacer;
  SimNetwork network;
};

std::size_t count(const std::vector<Packet>& packets, Kind kind) {
  return static_cast<std::size_t>(std::count_if(
      packets.begin(), packets.end(), [kind](const Packet& one) { return one.kind == kind; }));
}

Loss lose_0_to_1(bool both_ways = true) {
  return {Loss::Kind::unreachable, 0, 1, both_ways, kBoundNs};
}

TEST(SimLosses, what_had_come_stays_and_nothing_follows) {
  for (const Profile profile : {Profile::stream, Profile::srd}) {
    LossyNet net(profile);
    net.meet(0, 1);
    for (std::uint64_t i = 0; i < 5; ++i) net.record(0, 1, i);
    net.network.advance_to(net.network.now_ns() + kLongNs);
    net.network.lose_link(lose_0_to_1());
    for (std::uint64_t i = 5; i < 10; ++i) net.record(0, 1, i);
    EXPECT_EQ(count(net.rest(1), Kind::record), 5u);
  }
}

TEST(SimLosses, what_is_under_way_is_lost_and_others_lose_nothing) {
  LossyNet net;
  net.meet(0, 1);
  net.meet(0, 2);
  for (std::uint64_t i = 0; i < 10; ++i) {
    net.record(0, 1, i);
    net.record(0, 2, i);
  }
  net.network.lose_link(lose_0_to_1());
  EXPECT_LT(count(net.rest(1), Kind::record), 10u);
  EXPECT_EQ(count(net.rest(2), Kind::record), 10u);
  EXPECT_EQ(net.network.loss_known_ns(0, 2), SimLosses::kUnknown);
}

TEST(SimLosses, each_of_the_two_is_told_once_within_the_bound_at_a_time_of_its_own) {
  bool differ = false;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    LossyNet net(Profile::stream, seed);
    net.meet(0, 1);
    const std::uint64_t begin_ns = net.network.now_ns();
    net.network.lose_link(lose_0_to_1());
    net.network.lose_link(lose_0_to_1(false));  // changes nothing
    const std::uint64_t known_ns[] = {net.network.loss_known_ns(1, 0),
                                      net.network.loss_known_ns(0, 1)};
    differ = differ || known_ns[0] != known_ns[1];
    for (const Rank me : {0u, 1u}) {
      EXPECT_LE(known_ns[me], begin_ns + kBoundNs);
      EXPECT_EQ(count(net.rest(me), Kind::gone), 1u);
      EXPECT_TRUE(net.network.is_link_lost(1 - me, me));
      EXPECT_TRUE(net.rest(me).empty());
    }
  }
  EXPECT_TRUE(differ);
}

TEST(SimLosses, the_other_way_may_go_on) {
  LossyNet net;
  net.meet(0, 1);
  net.network.lose_link(lose_0_to_1(false));
  net.record(0, 1, 0);
  net.record(1, 0, 0);
  EXPECT_EQ(count(net.rest(0), Kind::record), 1u);
  EXPECT_EQ(count(net.rest(1), Kind::record), 0u);
}

TEST(SimLosses, who_has_no_link_is_told_when_it_has_asked_for_one) {
  LossyNet net;
  net.network.lose_link(lose_0_to_1());
  EXPECT_TRUE(net.rest(0).empty());
  EXPECT_EQ(net.network.loss_known_ns(1, 0), SimLosses::kUnknown);
  net.hello(0, 1);
  EXPECT_LE(net.network.loss_known_ns(1, 0), net.network.now_ns() + kBoundNs);
  EXPECT_EQ(count(net.rest(0), Kind::gone), 1u);
  EXPECT_TRUE(net.rest(1).empty()) << "it has never heard of the other one";
}

TEST(SimLosses, who_is_cut_off_has_sent_a_malformed_record_which_is_the_last_that_comes) {
  for (const Profile profile : {Profile::stream, Profile::mapped}) {
    LossyNet net(profile);
    net.meet(0, 1);
    net.network.lose_link({Loss::Kind::cut_off, 0, 1, true, kBoundNs});
    EXPECT_TRUE(net.rest(0).empty()) << "nothing has come of it yet";
    for (std::uint64_t i = 0; i < 5; ++i) net.record(0, 1, i);
    std::vector<Packet> come;
    while (net.network.loss_known_ns(0, 1) == SimLosses::kUnknown)
      for (const Packet& packet : net.take(1)) come.push_back(packet);
    ASSERT_FALSE(come.empty());
    EXPECT_FALSE(wire::decode(come.front().lines[0][0]));
    for (std::size_t i = 1; i < come.size(); ++i)
      EXPECT_TRUE(wire::decode(come[i].lines[0][0])) << "one is, no other";
    net.record(0, 1, 9);
    net.record(1, 0, 9);
    for (const Rank me : {0u, 1u}) {
      const auto rest = net.rest(me);
      EXPECT_EQ(count(rest, Kind::gone), 1u);
      EXPECT_EQ(count(rest, Kind::record), 0u);
    }
  }
}

TEST(SimLosses, lanes_lose_it_as_well_those_that_are_opened_later_too) {
  LossyNet net;
  const auto before = net.network.lane(1);
  net.network.lose_link(lose_0_to_1());
  const auto after = net.network.lane(2);
  for (const auto& lane : {before, after}) {
    lane->post(1, {.kind = Kind::hello, .from = 0});
    LossyNet::record(*lane, 0, 1, 0);
    net.network.advance_to(net.network.now_ns() + kLongNs);
    EXPECT_EQ(count(LossyNet::take(*lane, 1), Kind::record), 0u);
    EXPECT_EQ(count(LossyNet::take(*lane, 0), Kind::gone), 1u);
  }
}

TEST(SimLosses, who_has_lost_something_owes_that_until_it_is_told) {
  LossyNet net;
  net.meet(0, 1);
  net.network.lose_link(lose_0_to_1());
  EXPECT_FALSE(net.network.owes_news(0)) << "nothing was under way";
  net.record(0, 1, 0);
  EXPECT_EQ(net.network.owes_news(0), net.network.loss_known_ns(1, 0) > net.network.now_ns());
  EXPECT_FALSE(net.network.owes_news(1));
  net.rest(0);
  EXPECT_FALSE(net.network.owes_news(0));
}

TEST(SimLosses, of_a_rank_that_has_left_nothing_is_lost) {
  LossyNet net;
  net.meet(0, 1);
  net.record(0, 1, 0);
  net.network.leave(0);
  net.network.lose_link(lose_0_to_1());
  const auto come = net.rest(1);
  EXPECT_EQ(count(come, Kind::record), 1u);
  EXPECT_EQ(count(come, Kind::gone), 1u);
  EXPECT_FALSE(net.network.is_link_lost(0, 1));
}

// Rank 0's NIC writes to rank 1.
struct LossyNics {
  explicit LossyNics(std::uint64_t seed) : net(Profile::rc, seed), regions(new RegionEntry[16]) {
    net.network.show_regions(1, regions, 16);
    regions[3].publish(0x33, {address(), memory.size(), PH_ACCESS_ALL});
    net.meet(0, 1);
  }
  std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(memory.data()); }
  std::shared_ptr<Flight> write() {
    auto flight = std::make_shared<Flight>();
    flight->fragment = {.rank = 1, .address = address(), .key = 0x33, .size_bytes = source.size()};
    flight->fragment.source = source.data();
    flight->fragment.imm = 7;
    net.network.post_fragment(0, flight);
    return flight;
  }
  LossyNet net;
  std::shared_ptr<RegionEntry[]> regions;
  std::vector<std::byte> memory = std::vector<std::byte>(64);
  std::vector<std::byte> source = std::vector<std::byte>(64, std::byte{1});
};

TEST(SimLosses, a_fragment_lands_and_is_told_of_or_is_refused) {
  bool some_land = false, some_do_not = false;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    LossyNics nics(seed);
    const auto flight = nics.write();
    nics.net.network.advance_to(nics.net.network.now_ns() + 3000);
    nics.net.network.lose_link(lose_0_to_1());
    const bool has_landed = nics.memory == nics.source;
    some_land = some_land || has_landed;
    some_do_not = some_do_not || !has_landed;
    EXPECT_EQ(count(nics.net.rest(1), Kind::fragment), has_landed ? 1u : 0u);
    EXPECT_EQ(count(nics.net.rest(0), Kind::done), 1u);
    EXPECT_EQ(flight->status, has_landed ? PH_OK : PH_ERR_PEER);
  }
  EXPECT_TRUE(some_land && some_do_not);
}

TEST(SimLosses, a_nic_tries_a_later_fragment_for_a_while_and_gives_up) {
  LossyNics nics(1);
  nics.net.network.lose_link(lose_0_to_1(false));
  const auto flight = nics.write();
  const std::uint64_t end_ns = nics.net.network.now_ns() + kBoundNs;
  nics.net.network.advance_to(end_ns);
  EXPECT_EQ(count(nics.net.take(0), Kind::done), 1u);
  EXPECT_EQ(flight->status, PH_ERR_PEER);
  EXPECT_EQ(nics.memory, std::vector<std::byte>(64));
}

}  // namespace
}  // namespace photon::transport::sim
