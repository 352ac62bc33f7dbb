// What the oracle lets pass of lanes, and what it does not.
#include <gtest/gtest.h>

#include "tests/simtest/fed_oracle.hpp"

namespace photon::simtest {
namespace {

struct LanedOracle : FedOracle {
  LanedOracle() : FedOracle({7, 9}) {}
};

TEST(OracleLanes, what_is_posted_by_a_lane_is_probed_there_and_nowhere_else) {
  LanedOracle fed;
  Operation& op = fed.post({0, 1}, put_to(1));
  fed.arrive(op);
  fed.remote(op);
  fed.local(op);
  EXPECT_EQ(fed.finding(), "");
  EXPECT_TRUE(fed.oracle.is_settled());
  for (const std::uint32_t wrong : {0u, 2u}) {
    LanedOracle leaky;
    Operation& other = leaky.post({0, 1}, put_to(1));
    leaky.arrive(other);
    leaky.remote(other, wrong);
    EXPECT_EQ(leaky.finding(), "lane");
    LanedOracle late;
    late.local(late.post({0, 1}, put_to(1)), PH_OK, wrong);
    EXPECT_EQ(late.finding(), "lane");
  }
}

TEST(OracleLanes, ids_too_short_to_name_their_operation_are_expected_on_its_lane) {
  Step step = put_to(1);
  step.remote_id_bytes = 2;
  LanedOracle fed;
  Operation& op = fed.post({0, 1}, step);
  fed.arrive(op);
  fed.remote(op, 2);
  EXPECT_EQ(fed.finding(), "order");
}

TEST(OracleLanes, order_is_a_lanes_own) {
  LanedOracle fed;
  Operation& first = fed.post({0, 1}, put_to(1));
  Operation& second = fed.post({0, 2}, put_to(1, Area::window, kContendedBytes + 100));
  Operation& third = fed.post({0, 1}, put_to(1, Area::window, kContendedBytes + 200));
  for (Operation* op : {&first, &second, &third}) fed.arrive(*op);
  fed.remote(second);
  EXPECT_EQ(fed.finding(), "") << "nothing is ordered between lanes";
  fed.remote(third);
  EXPECT_EQ(fed.finding(), "order");
}

TEST(OracleLanes, a_fence_of_one_lane_orders_nothing_of_another) {
  Step step = put_to(1, Area::contended, 0);
  step.flags = PH_ORDER_NONE;  // of their ids
  for (const bool is_same : {true, false}) {
    const std::uint32_t lane = is_same ? 1 : 2;
    LanedOracle fed;
    Operation& older = fed.post({0, 1}, step);
    fed.oracle.fenced({0, lane}, 1);
    Operation& newer = fed.post({0, lane}, step);
    fed.arrive(newer);
    fed.remote(newer);
    fed.arrive(older);  // over the newer one's bytes
    fed.oracle.check_memory(1);
    EXPECT_EQ(fed.finding(), is_same ? "bytes" : "");
  }
}

TEST(OracleLanes, a_flush_of_one_lane_says_nothing_of_another) {
  LanedOracle fed;
  fed.post({0, 1}, put_to(1));
  fed.oracle.flushed({0, 2}, 1);
  EXPECT_EQ(fed.finding(), "");
  fed.oracle.flushed({0, 1}, 1);
  EXPECT_EQ(fed.finding(), "bytes") << "they have not landed";
}

TEST(OracleLanes, who_closes_a_lane_has_departed_from_that_lane_alone) {
  LanedOracle fed;
  Operation& before = fed.post({0, 1}, put_to(1));
  fed.oracle.leaving({1, 1});
  EXPECT_TRUE(fed.oracle.may_be_gone({1, 1}, PH_ERR_DEPARTED));
  EXPECT_FALSE(fed.oracle.may_be_gone({1, 2}, PH_ERR_DEPARTED));
  EXPECT_FALSE(fed.oracle.may_be_gone({1, 1}, PH_ERR_PEER));
  fed.local(before, PH_ERR_DEPARTED);
  fed.post({0, 1}, put_to(1, Area::window, kContendedBytes + 100), PH_ERR_DEPARTED);
  EXPECT_EQ(fed.finding(), "");
  fed.post({0, 2}, put_to(1, Area::window, kContendedBytes + 200), PH_ERR_DEPARTED);
  EXPECT_EQ(fed.finding(), "status");
}

TEST(OracleLanes, what_the_closer_had_accepted_still_comes) {
  LanedOracle fed;
  Operation& op = fed.post({0, 1}, put_to(1));
  fed.oracle.leaving({0, 1});
  fed.arrive(op);
  fed.oracle.left({0, 1}, PH_OK);  // its source is its own again
  EXPECT_FALSE(fed.oracle.is_settled());
  fed.remote(op);
  EXPECT_EQ(fed.finding(), "");
  EXPECT_TRUE(fed.oracle.is_settled());
}

TEST(OracleLanes, the_memory_of_who_closes_a_lane_stays_shown) {
  LanedOracle fed;
  fed.oracle.leaving({1, 1});
  fed.oracle.left({1, 1}, PH_OK);
  Operation& op = fed.post({0, 2}, put_to(1));
  fed.arrive(op);
  fed.remote(op);
  fed.local(op);
  fed.oracle.check_memory(1);
  EXPECT_EQ(fed.finding(), "");
}

TEST(OracleLanes, an_error_that_nobody_heard_of_is_what_closing_says) {
  Step wrong = put_to(1);
  wrong.fault = Fault::wrong_key;
  for (const ph_status status : {PH_OK, PH_ERR_KEY}) {
    LanedOracle fed;
    fed.post({0, 1}, wrong);
    fed.oracle.leaving({0, 1});
    fed.oracle.left({0, 1}, status);
    EXPECT_EQ(fed.finding(), status == PH_OK ? "status" : "");
    if (status == PH_OK) continue;
    fed.oracle.leaving(0);
    fed.oracle.left(0, PH_OK);
    EXPECT_EQ(fed.finding(), "") << "it has been said";
  }
  LanedOracle fed;
  fed.post({0, 1}, wrong);
  fed.oracle.leaving({0, 2});
  fed.oracle.left({0, 2}, PH_ERR_KEY);
  EXPECT_EQ(fed.finding(), "status") << "it was another lane's";
}

TEST(OracleLanes, a_silent_get_whose_error_closing_told_of_brings_nothing) {
  Step wrong = get_from(1, Area::library);
  wrong.fault = Fault::wrong_key;
  wrong.flags = PH_NO_LCE;
  LanedOracle fed;
  fed.post({0, 1}, wrong);
  fed.oracle.leaving({0, 1});
  fed.oracle.left({0, 1}, PH_ERR_KEY);
  fed.oracle.check_silent_gets(0);
  EXPECT_EQ(fed.finding(), "");
}

}  // namespace
}  // namespace photon::simtest
