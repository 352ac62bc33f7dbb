// What adaptive routings choose, at the very lengths of queues where the choice turns.
#include <gtest/gtest.h>

#include <map>

#include "netsim/net/dragonfly.hpp"
#include "netsim/net/fat_tree.hpp"
#include "netsim/net/hyperx.hpp"

namespace photon::netsim {
namespace {

constexpr std::uint32_t kRoom = 100;

// A router of a topology, whose queues are filled by hand.
class AtRouter {
 public:
  AtRouter(const Topology& topology, std::uint32_t router)
      : topology_(topology), router_(router), queues_(64 * topology.vcs()) {}

  AtRouter& fill(std::uint32_t port, std::uint32_t vc, std::uint32_t flits) {
    queues_[port * topology_.vcs() + vc].used = flits;
    return *this;
  }
  Hop hop(Packet packet, std::uint32_t port, std::uint32_t vc = 0) {
    const Here here{router_, port, vc, QueueView(queues_.data(), topology_.vcs(), kRoom), &random_};
    return topology_.route(here, packet);
  }
  // How often which port is taken, of so many times.
  std::map<std::uint32_t, int> ports(const Packet& packet, std::uint32_t port, int times) {
    std::map<std::uint32_t, int> taken;
    for (int i = 0; i < times; ++i) ++taken[hop(packet, port).port];
    return taken;
  }

 private:
  const Topology& topology_;
  std::uint32_t router_;
  std::vector<OutputQueue> queues_;
  Random random_{1, 1};
};

Packet from_to(std::uint32_t source, std::uint32_t destination) {
  Packet packet;
  packet.source = source;
  packet.destination = destination;
  return packet;
}

bool operator==(const Hop& a, const Hop& b) { return a.port == b.port && a.vc == b.vc; }

// Router 0 of three in a row: port 0 to router 1, port 1 to router 2, port 2 to the host.
TEST(Routing, a_hyperx_weighs_twice_the_queue_of_a_detour_and_one_more) {
  const HyperX row({{3}, 1, 1, true});
  const Packet to_two = from_to(0, 2);
  EXPECT_TRUE((AtRouter(row, 0).hop(to_two, 2) == Hop{1, 0}));
  EXPECT_TRUE((AtRouter(row, 0).fill(1, 0, 20).fill(0, 1, 10).hop(to_two, 2) == Hop{1, 0}));
  EXPECT_TRUE((AtRouter(row, 0).fill(1, 0, 22).fill(0, 1, 10).hop(to_two, 2) == Hop{0, 1}));
  // Of equal weights the first port's wins, be it the detour or the straight one.
  EXPECT_TRUE((AtRouter(row, 0).fill(1, 0, 21).fill(0, 1, 10).hop(to_two, 2) == Hop{0, 1}));
  const Packet to_one = from_to(0, 1);
  EXPECT_TRUE((AtRouter(row, 0).fill(0, 0, 21).fill(1, 1, 10).hop(to_one, 2) == Hop{0, 0}));
}

// Two links to each: 0 and 1 to router 1, 2 and 3 to router 2. The packet comes from router 1.
TEST(Routing, a_hyperx_goes_straight_after_a_detour_by_the_shortest_queue_of_vc_1) {
  const HyperX row({{3}, 2, 1, true});
  const Packet to_two = from_to(1, 2);
  EXPECT_TRUE((AtRouter(row, 0).hop(to_two, 0, 1) == Hop{2, 0}));
  EXPECT_TRUE((AtRouter(row, 0).fill(2, 1, 1).hop(to_two, 0, 1) == Hop{3, 0}));
  EXPECT_TRUE((AtRouter(row, 0).fill(2, 0, 9).fill(3, 1, 1).hop(to_two, 0, 1) == Hop{2, 0}));
}

// A leaf with hosts 0 and 1, and up ports 2 to 4; host 2's usual one is 4.
TEST(Routing, a_fat_tree_leaves_the_usual_port_when_less_than_half_of_its_room_is_free) {
  const FatTree tree({{2, 3}, {2, 0}}, true);
  const Packet packet = from_to(0, 2);
  EXPECT_EQ(AtRouter(tree, 0).fill(4, 0, 50).hop(packet, 0).port, 4U);
  EXPECT_EQ(AtRouter(tree, 0).fill(4, 0, 51).hop(packet, 0).port, 2U);
  EXPECT_EQ(AtRouter(tree, 0).fill(4, 0, 51).fill(2, 0, 30).fill(3, 0, 20).hop(packet, 0).port, 3U);
  EXPECT_EQ(AtRouter(tree, 0).fill(4, 0, 51).fill(2, 0, 20).fill(3, 0, 20).hop(packet, 0).port, 2U);
  EXPECT_EQ(AtRouter(tree, 0).fill(4, 0, 51).fill(2, 0, 51).fill(3, 0, 51).hop(packet, 0).port, 4U);
}

// Groups of one router: port 0 to the host, 1 to group 1, 2 to group 2, which is the middle one.
TEST(Routing, ugal_weighs_twice_the_queue_of_a_detour_and_50_more_at_the_first_router) {
  const Dragonfly groups({1, 1, 1, 3, DragonflyRouting::ugal});
  const Packet packet = from_to(0, 1);
  const auto ports = [&](std::uint32_t straight, std::uint32_t detour) {
    return AtRouter(groups, 0).fill(1, 0, straight).fill(2, 0, detour).ports(packet, 0, 400);
  };
  EXPECT_EQ(ports(49, 0)[1], 400);
  EXPECT_EQ(ports(51, 0)[2], 400);
  EXPECT_EQ(ports(69, 10)[1], 400);
  EXPECT_EQ(ports(71, 10)[2], 400);
  EXPECT_NEAR(ports(50, 0)[1], 200, 60);  // equals are drawn
  EXPECT_NEAR(ports(70, 10)[1], 200, 60);
}

// Three links between two groups.
TEST(Routing, ugal_draws_each_of_several_equals_as_often) {
  const Dragonfly groups({1, 1, 3, 2, DragonflyRouting::ugal});
  auto ports = AtRouter(groups, 0).ports(from_to(0, 1), 0, 3000);
  for (const std::uint32_t port : {1U, 2U, 3U}) EXPECT_NEAR(ports[port], 1000, 120);
}

// Three routers in a group: port 1 to router 1, port 2 to router 2, the middle one.
TEST(Routing, ugal_goes_straight_inside_a_group_up_to_twice_the_detour_and_50) {
  const Dragonfly group({1, 3, 1, 2, DragonflyRouting::ugal});
  const Packet packet = from_to(0, 1);
  EXPECT_EQ(AtRouter(group, 0).fill(1, 0, 50).hop(packet, 0).port, 1U);
  EXPECT_EQ(AtRouter(group, 0).fill(1, 0, 51).hop(packet, 0).port, 2U);
  EXPECT_EQ(AtRouter(group, 0).fill(1, 0, 70).fill(2, 0, 10).hop(packet, 0).port, 1U);
  EXPECT_EQ(AtRouter(group, 0).fill(1, 0, 71).fill(2, 0, 10).hop(packet, 0).port, 2U);
  // The middle router goes on at VC + 2.
  EXPECT_TRUE((AtRouter(group, 2).hop(packet, 1) == Hop{2, 2}));
}

// Router 1 of a group of two owns the links to groups 3 and 4: ports 2 and 3. The packet comes from
// router 0 by port 1.
TEST(Routing, the_owner_of_both_links_in_the_source_group_compares_again) {
  const Dragonfly groups({1, 2, 1, 5, DragonflyRouting::ugal});
  for (const bool was_detoured : {false, true}) {
    Packet packet = from_to(0, 6);
    packet.middle = 4;
    packet.is_detoured = was_detoured;
    EXPECT_EQ(AtRouter(groups, 1).fill(2, 0, 50).hop(packet, 1).port, 2U);
    EXPECT_EQ(AtRouter(groups, 1).fill(2, 0, 51).hop(packet, 1).port, 3U);
    EXPECT_EQ(AtRouter(groups, 1).fill(2, 0, 70).fill(3, 0, 10).hop(packet, 1).port, 2U);
    EXPECT_EQ(AtRouter(groups, 1).fill(2, 0, 71).fill(3, 0, 10).hop(packet, 1).port, 3U);
  }
}

// Router 0 of group 1, the middle one: port 3 is its own link to group 2, port 1 leads to its
// neighbour, which has the other slice's. The packet comes from group 0 by port 2.
TEST(Routing, the_middle_group_weighs_a_neighbours_link_twice) {
  const Dragonfly groups({1, 2, 2, 3, DragonflyRouting::ugal});
  Packet packet = from_to(0, 4);
  packet.middle = 1;
  packet.is_detoured = true;
  EXPECT_TRUE((AtRouter(groups, 2).fill(3, 1, 15).fill(1, 1, 8).hop(packet, 2) == Hop{3, 1}));
  EXPECT_TRUE((AtRouter(groups, 2).fill(3, 1, 17).fill(1, 1, 8).hop(packet, 2) == Hop{1, 1}));
  auto ports = AtRouter(groups, 2).fill(3, 1, 16).fill(1, 1, 8).ports(packet, 2, 400);
  EXPECT_NEAR(ports[3], 200, 60);
  EXPECT_NEAR(ports[1], 200, 60);
}

}  // namespace
}  // namespace photon::netsim
