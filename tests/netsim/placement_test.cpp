// Where ranks live.
#include "netsim/run/placement.hpp"

#include <gtest/gtest.h>

#include "netsim/run/simulation.hpp"
#include "netsim/run/table.hpp"

namespace photon::netsim {
namespace {

TEST(Placement, without_a_list_ranks_fill_node_after_node) {
  const auto placement = make_placement("", 7, {4, 2});
  ASSERT_TRUE(placement);
  for (std::uint32_t rank = 0; rank < 7; ++rank) {
    const nic::Rank place = placement->place_of(rank);
    EXPECT_EQ(place, (nic::Rank{rank / 2, rank % 2}));
    EXPECT_EQ(placement->rank_at(place), rank);
  }
}

TEST(Placement, a_list_says_the_node_of_each_rank) {
  const auto placement = make_placement("3,0-2,3", 5, {5, 2});
  ASSERT_TRUE(placement) << placement.error();
  const nic::Rank places[] = {{3, 0}, {0, 0}, {1, 0}, {2, 0}, {3, 1}};
  for (std::uint32_t rank = 0; rank < 5; ++rank) {
    EXPECT_EQ(placement->place_of(rank), places[rank]);
    EXPECT_EQ(placement->rank_at(places[rank]), rank);
  }
  EXPECT_EQ(placement->rank_at({1, 1}), kNoRank);
  EXPECT_EQ(placement->places(), 8U);
}

TEST(Placement, what_is_no_list_of_nodes_is_refused) {
  const char* const lists[][2] = {
      {"0", "it has 1"},         {"0,1,2", "it has more"}, {"0-4294967295", "it has more"},
      {"0,4", "nodes up to 3"},  {"1,1,", "0,4,8-11"},     {"1;2", "0,4,8-11"},
      {"1-0,2", "0,4,8-11"},     {"0--1", "0,4,8-11"},     {" 0,1", "0,4,8-11"},
      {"0,99999999999", "0,4,8"}};
  for (const auto& [list, allowed] : lists) {
    const auto placement = make_placement(list, 2, {4, 2});
    ASSERT_FALSE(placement) << list;
    EXPECT_EQ(placement.error().find("run.placement = " + std::string(list)), 0U);
    EXPECT_NE(placement.error().find(allowed), std::string::npos) << placement.error();
  }
  EXPECT_TRUE(make_placement("1,1", 2, {4, 2}));
  EXPECT_FALSE(make_placement("1,1", 2, {4, 1}));
}

Settings pair_at(const std::string& list) {
  Settings settings = table_settings();
  settings.network = {"torus", "8"};
  settings.motif = {"pair", "2", 2048};
  settings.ranks_per_node = 2;
  settings.placement = list;
  return settings;
}

TEST(Placement, a_message_takes_the_way_between_the_listed_nodes) {
  const auto apart = run(pair_at("2,3"));
  const auto further = run(pair_at("7,3"));
  const auto together = run(pair_at("5,5"));
  ASSERT_TRUE(apart && further && together);
  EXPECT_EQ(apart->last_ps, 325002U);  // a row of the validation table
  EXPECT_EQ(apart->hops, 2U);
  EXPECT_EQ(further->hops, 5U);
  EXPECT_GT(further->last_ps, apart->last_ps);
  EXPECT_EQ(together->packets, 0U);
  EXPECT_EQ(together->last_ps, 602400U);  // the copy, then the latency
}

TEST(Placement, scattered_ranks_give_the_same_for_any_number_of_threads) {
  Settings settings = table_settings();
  settings.network = {"dragonfly", "2:3:2:4", "ugal"};
  settings.nic.protocol = "rvma";
  settings.motif = {"alltoall", "12", 5000, 2};
  settings.ranks_per_node = 2;
  settings.placement = "23,0,7,7,22,1,9,23,15,3,0,12";
  const auto serial = run(settings);
  ASSERT_TRUE(serial) << serial.error();
  EXPECT_EQ(serial->failure, "");
  EXPECT_EQ(serial->posted_bytes, (12U * 11 - 6) * 5000 * 2);  // three pairs share a node
  for (settings.threads = 2; settings.threads <= 5; ++settings.threads) {
    const auto result = run(settings);
    EXPECT_EQ(result->failure, "");
    EXPECT_EQ(result->finished_ps, serial->finished_ps);
    EXPECT_EQ(result->out_of_order, serial->out_of_order);
  }
}

}  // namespace
}  // namespace photon::netsim
