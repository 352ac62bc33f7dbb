// Wiring and routing of all topologies: shapes, ways, and the channel dependency graph.
#include "netsim/net/topology.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace photon::netsim {
namespace {

struct Case {
  TopologySettings settings;
  std::uint32_t most_hops;  // routers on a way
};

std::unique_ptr<Topology> make(const TopologySettings& settings) {
  auto made = make_topology(settings);
  EXPECT_TRUE(made) << (made ? "" : made.error());
  return made ? std::move(*made) : nullptr;
}

const Case kCases[] = {
    {{"router", "5"}, 1},
    {{"torus", "5", "static", 2}, 3},
    {{"torus", "4x3x2", "static", 1}, 5},
    {{"torus", "6x5", "static", 1}, 6},
    {{"hyperx", "4x3", "static", 2, 2}, 3},
    {{"hyperx", "4x3", "adaptive", 2, 2}, 5},
    {{"hyperx", "3x3x3", "adaptive", 1, 1}, 7},
    {{"fattree", "3,2:4"}, 3},
    {{"fattree", "2,3:2,2:3"}, 5},
    {{"fattree", "2,3:2,2:3", "adaptive"}, 5},
    {{"dragonfly", "2:4:1:4"}, 4},
    {{"dragonfly", "1:3:2:5"}, 4},
    {{"dragonfly", "2:4:1:4", "ugal"}, 6},
    {{"dragonfly", "1:3:2:5", "ugal"}, 6},
    {{"dragonfly", "1:3:2:5", "valiant"}, 6},
    {{"dragonfly", "1:4:3:3", "ugal"}, 6},
};

// Channels are output queues (port, VC). An edge: a packet that holds one may wait for the other.
class Dependencies {
 public:
  explicit Dependencies(std::size_t channels) : next_(channels) {}
  void add(std::uint32_t from, std::uint32_t to) {
    auto& after = next_[from];
    if (std::find(after.begin(), after.end(), to) == after.end()) after.push_back(to);
  }
  bool has_cycle() const {
    std::vector<int> colour(next_.size(), 0);
    for (std::uint32_t channel = 0; channel < next_.size(); ++channel) {
      if (colour[channel] == 0 && closes(channel, colour)) return true;
    }
    return false;
  }

 private:
  bool closes(std::uint32_t channel, std::vector<int>& colour) const {
    colour[channel] = 1;
    for (const std::uint32_t after : next_[channel]) {
      if (colour[after] == 1 || (colour[after] == 0 && closes(after, colour))) return true;
    }
    colour[channel] = 2;
    return false;
  }

  std::vector<std::vector<std::uint32_t>> next_;
};

// Sends packets from all to all through a network whose queues have random lengths, so that the
// routing makes its choices, and counts the routers on each way.
class Walker {
 public:
  Walker(const Topology& topology, std::uint32_t vcs)
      : topology_(topology),
        wiring_(topology.wire()),
        vcs_(vcs),
        queues_(std::size_t{wiring_.ports()} * vcs),
        dependencies_(queues_.size()) {}

  const Wiring& wiring() const { return wiring_; }
  const Dependencies& dependencies() const { return dependencies_; }

  void fill(Random& random) {
    const std::uint32_t most = 1U << (1 + random.below(9));
    for (OutputQueue& queue : queues_) queue.used = random.below(most);
  }
  std::uint32_t walk(std::uint32_t source, std::uint32_t destination, Random& random) {
    Packet packet;
    packet.source = source;
    packet.destination = destination;
    std::uint32_t port = wiring_.host_port[source];
    std::uint32_t vc = 0;
    std::uint32_t before = kNone;
    for (std::uint32_t routers = 1; routers < 100; ++routers) {
      const auto above = std::upper_bound(wiring_.port_base.begin(), wiring_.port_base.end(), port);
      const auto router = static_cast<std::uint32_t>(above - wiring_.port_base.begin() - 1);
      const std::uint32_t first = wiring_.port_base[router];
      const QueueView view(&queues_[std::size_t{first} * vcs_], vcs_, 1000);
      const Hop hop = topology_.route({router, port - first, vc, view, &random}, packet);
      EXPECT_LT(hop.port, wiring_.port_base[router + 1] - first);
      vc = std::min(hop.vc, vcs_ - 1);
      EXPECT_LT(hop.vc, topology_.vcs());
      const std::uint32_t channel = (first + hop.port) * vcs_ + vc;
      if (before != kNone) dependencies_.add(before, channel);
      before = channel;
      const std::uint32_t peer = wiring_.peer[first + hop.port];
      if (peer == (kCardBit | destination)) return routers;
      EXPECT_EQ(peer & kCardBit, 0U) << "a wrong host";
      if ((peer & kCardBit) != 0) return 100;
      port = peer;
    }
    return 100;
  }
  std::uint32_t walk_all(std::uint32_t rounds) {
    std::uint32_t most = 0;
    for (std::uint32_t round = 0; round < rounds; ++round) {
      Random random(round, 0);
      for (std::uint32_t source = 0; source < wiring_.hosts; ++source) {
        fill(random);
        for (std::uint32_t to = 0; to < wiring_.hosts; ++to) {
          most = std::max(most, walk(source, to, random));
        }
      }
    }
    return most;
  }

 private:
  const Topology& topology_;
  Wiring wiring_;
  std::uint32_t vcs_;
  std::vector<OutputQueue> queues_;
  Dependencies dependencies_;
};

TEST(Topologies, every_port_has_one_other_end) {
  for (const Case& one : kCases) {
    const Wiring wiring = make(one.settings)->wire();
    std::uint32_t hosts = 0;
    for (std::uint32_t port = 0; port < wiring.ports(); ++port) {
      const std::uint32_t peer = wiring.peer[port];
      ASSERT_NE(peer, kNone) << one.settings.topology << ' ' << one.settings.shape;
      if ((peer & kCardBit) != 0) {
        ++hosts;
        ASSERT_EQ(wiring.host_port[peer & ~kCardBit], port);
      } else {
        ASSERT_EQ(wiring.peer[peer], port);
      }
    }
    EXPECT_EQ(hosts, wiring.hosts);
  }
}

TEST(Topologies, every_way_ends_at_its_host_and_no_channels_wait_in_a_ring) {
  for (const Case& one : kCases) {
    const auto topology = make(one.settings);
    Walker walker(*topology, topology->vcs());
    const std::string name =
        one.settings.topology + ' ' + one.settings.shape + ' ' + one.settings.routing;
    EXPECT_EQ(walker.walk_all(20), one.most_hops) << name;
    EXPECT_FALSE(walker.dependencies().has_cycle()) << name;
  }
}

TEST(Topologies, a_vc_fewer_closes_a_ring_of_channels) {
  const TopologySettings settings[] = {
      {"torus", "5", "static", 1},         {"torus", "6x5", "static", 1},
      {"hyperx", "4x3", "adaptive", 1, 2}, {"dragonfly", "2:4:1:4", "static"},
      {"dragonfly", "2:4:1:4", "ugal"},    {"dragonfly", "1:3:2:5", "valiant"}};
  for (const TopologySettings& one : settings) {
    const auto topology = make(one);
    Walker walker(*topology, topology->vcs() - 1);
    walker.walk_all(20);
    EXPECT_TRUE(walker.dependencies().has_cycle()) << one.topology << ' ' << one.routing;
  }
}

TEST(Topologies, links_lie_where_the_table_says) {
  // Dragonfly 2:4:1:4: three global links a group on routers 0, 1, 2. Group 1's link 0 goes to
  // group 0, whose link to group 1 is its first.
  const Wiring wiring = make({"dragonfly", "2:4:1:4"})->wire();
  EXPECT_EQ(wiring.peer[wiring.port_base[4] + 5], wiring.port_base[0] + 5);
  // Fat tree 3,2:4: up port 1 of leaf 2 goes to router 1 of the top at its down port 2.
  const Wiring tree = make({"fattree", "3,2:4"})->wire();
  EXPECT_EQ(tree.peer[tree.port_base[2] + 4], tree.port_base[5] + 2);
  // HyperX 4x3, width 2: router 1's first link to x = 3 is port 4, and leads to router 3's to x
  // = 1.
  const Wiring hyperx = make({"hyperx", "4x3", "static", 2, 2})->wire();
  EXPECT_EQ(hyperx.peer[hyperx.port_base[1] + 4], hyperx.port_base[3] + 2);
}

TEST(Topologies, bad_shapes_and_routings_are_refused_in_one_sentence) {
  const TopologySettings settings[] = {{"mesh", "4x4"},
                                       {"router", "0"},
                                       {"router", "2x2"},
                                       {"torus", "4x"},
                                       {"torus", "4x4", "ugal"},
                                       {"torus", "99999x99999"},
                                       {"hyperx", "4x-4"},
                                       {"hyperx", "4", "static", 0},
                                       {"fattree", "8,8"},
                                       {"fattree", "8:8"},
                                       {"fattree", "8,8:8", "ugal"},
                                       {"dragonfly", "4:4:1"},
                                       {"dragonfly", "4:4:0:4"},
                                       {"dragonfly", "4:4:1:4", "adaptive"}};
  for (const TopologySettings& one : settings) {
    const auto made = make_topology(one);
    ASSERT_FALSE(made) << one.topology << ' ' << one.shape;
    EXPECT_NE(made.error().find("allowed"), std::string::npos);
  }
}

}  // namespace
}  // namespace photon::netsim
