// The ladder: its rungs run, its order is fixed, its steps are differences of neighbours.
#include "netsim/run/ladder.hpp"

#include <gtest/gtest.h>

#include "netsim/run/keys.hpp"
#include "netsim/run/simulation.hpp"

namespace photon::netsim {
namespace {

Settings halo_on(const TopologySettings& network) {
  Settings settings;
  settings.network = network;
  settings.nic.protocol = "bare";
  settings.motif.name = "halo3d";
  settings.motif.ranks = "2x2x2";
  settings.motif.nx = settings.motif.ny = settings.motif.nz = 50;
  return settings;
}

const TopologySettings kNetworks[] = {
    {"router", "8"},
    {"torus", "2x2x2"},
    {"hyperx", "2x2", "static", 2, 2},
    {"hyperx", "2x2", "adaptive", 2, 2},
    {"fattree", "2,2:4", "adaptive"},
    {"dragonfly", "1:2:1:4"},
    {"dragonfly", "1:2:1:4", "valiant"},
};

Time last_of(const Settings& settings) {
  const auto result = run(settings);
  EXPECT_TRUE(result) << (result ? "" : result.error());
  if (!result) return 0;
  EXPECT_EQ(result->failure, "");
  return result->last_ps;
}

std::vector<std::string> names_of(const Ladder& ladder) {
  std::vector<std::string> names;
  for (const Rung& rung : ladder.rungs) names.push_back(rung.name);
  return names;
}

TEST(Ladder, ladder_steps_sum_to_the_whole) {
  for (const TopologySettings& network : kNetworks) {
    for (const Ladder& ladder : ladders_of(halo_on(network))) {
      std::vector<Time> times;
      for (const Rung& rung : ladder.rungs) times.push_back(last_of(rung.settings));
      std::int64_t sum = 0;
      const std::vector<Step> steps = steps_of(ladder, times);
      ASSERT_EQ(steps.size(), ladder.rungs.size() - 1);
      for (std::size_t i = 0; i < steps.size(); ++i) {
        EXPECT_EQ(steps[i].gain_ps(), static_cast<std::int64_t>(times[i] - times[i + 1]));
        EXPECT_EQ(steps[i].effect, ladder.rungs[i + 1].effect);
        sum += steps[i].gain_ps();
      }
      const auto first = static_cast<std::int64_t>(last_of(ladder.rungs.front().settings));
      const auto last = static_cast<std::int64_t>(last_of(ladder.rungs.back().settings));
      EXPECT_EQ(sum, first - last) << network.topology << ' ' << ladder.name;
      EXPECT_TRUE(sum != 0 || ladder.name == "order");
    }
  }
}

TEST(Ladder, a_step_that_is_slower_has_a_gain_below_zero) {
  const Ladder ladder{"", {{"a", "", {}}, {"b", "x", {}}, {"c", "y", {}}}};
  const Time times[] = {5, 9, 2};
  const std::vector<Step> steps = steps_of(ladder, times);
  EXPECT_EQ(steps[0].gain_ps(), -4);
  EXPECT_EQ(steps[1].gain_ps(), 7);
}

TEST(Ladder, its_order_is_fixed_and_only_cards_and_routing_change) {
  for (const TopologySettings& network : kNetworks) {
    Settings settings = halo_on(network);
    settings.nic.order = "hold";  // of no effect on the ladder
    const std::vector<Ladder> ladders = ladders_of(settings);
    EXPECT_EQ(names_of(ladders[0]),
              (std::vector<std::string>{"rdma-usual", "rdma-equal", "rdma-put-ack",
                                        "rdma-put-behind", "rdma-put-imm", "rvma"}));
    for (const Ladder& ladder : ladders) {
      for (const Rung& rung : ladder.rungs) {
        Settings plain = rung.settings;
        plain.nic.protocol = settings.nic.protocol;
        plain.nic.order = settings.nic.order;
        plain.nic.addresses = settings.nic.addresses;
        if (ladder.name == "order") plain.network.routing = settings.network.routing;
        EXPECT_EQ(complete_text(plain), complete_text(settings));
      }
    }
  }
}

TEST(Ladder, puts_told_by_the_last_byte_stand_where_packets_stay_in_order) {
  for (const TopologySettings& network : kNetworks) {
    const std::vector<Ladder> ladders = ladders_of(halo_on(network));
    const bool has_order = network.topology != "router" && network.topology != "torus";
    ASSERT_EQ(ladders.size(), has_order ? 3U : 2U) << network.topology;
    if (!has_order) continue;
    const auto& rungs = ladders[1].rungs;
    ASSERT_EQ(rungs.size(), 3U);
    EXPECT_EQ(rungs[0].settings.network.routing, "static");
    EXPECT_EQ(rungs[0].settings.nic.order, "none");
    EXPECT_NE(rungs[1].settings.network.routing, "static");
    EXPECT_EQ(rungs[1].settings.nic.order, "hold");
    EXPECT_EQ(rungs[2].settings.network.routing, rungs[1].settings.network.routing);
    EXPECT_EQ(rungs[2].settings.nic.protocol, "rvma");
    if (network.routing != "static") {
      EXPECT_EQ(rungs[2].settings.network.routing, network.routing);
    }
  }
}

TEST(Ladder, puts_know_addresses_before_but_for_the_first_rung_of_the_last_ladder) {
  for (const Ladder& ladder : ladders_of(halo_on({"torus", "2x2x2"}))) {
    for (std::size_t i = 0; i < ladder.rungs.size(); ++i) {
      const bool is_asking = ladder.name == "addresses" && i == 0;
      EXPECT_EQ(ladder.rungs[i].settings.nic.addresses, is_asking ? "asked" : "known");
    }
  }
}

}  // namespace
}  // namespace photon::netsim
