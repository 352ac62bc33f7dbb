// What the oracle lets pass of ranks that die, and what it does not.
#include <gtest/gtest.h>

#include "tests/simtest/fed_oracle.hpp"

namespace photon::simtest {
namespace {

TEST(OracleDeaths, nobody_waits_for_what_a_dead_rank_had_posted) {
  FedOracle fed;
  fed.post(0, put_to(1));
  EXPECT_FALSE(fed.oracle.is_settled());
  fed.oracle.died(0);
  EXPECT_TRUE(fed.oracle.is_settled());
}

TEST(OracleDeaths, what_comes_of_a_dead_rank_comes_whole_and_once) {
  FedOracle fed;
  Operation& op = fed.post(0, put_to(1));
  fed.oracle.died(0);
  fed.arrive(op);
  fed.remote(op);
  EXPECT_EQ(fed.finding(), "");
  fed.remote(op);
  EXPECT_EQ(fed.finding(), "twice");
  FedOracle torn;
  Operation& other = torn.post(0, put_to(1));
  torn.oracle.died(0);
  torn.remote(other);
  EXPECT_EQ(torn.finding(), "bytes");
}

TEST(OracleDeaths, an_id_of_a_dead_rank_overtakes_none_but_what_lost_its_fragments) {
  expect_ids_in_order_but_for_fragments([](FedOracle& fed, Operation& second) {
    fed.arrive(second);
    fed.oracle.died(0);
  });
}

TEST(OracleDeaths, what_goes_to_a_dead_rank_ends_once_by_ok_or_by_the_error) {
  FedOracle fed;
  Operation& first = fed.post(0, put_to(1));
  Operation& second = fed.post(0, put_to(1, Area::window, kContendedBytes + 32));
  fed.oracle.died(1);
  EXPECT_FALSE(fed.oracle.is_settled());
  fed.local(first);
  fed.local(second, PH_ERR_PEER);
  EXPECT_TRUE(fed.oracle.is_settled());
  EXPECT_EQ(fed.finding(), "");
  fed.local(second, PH_ERR_PEER);
  EXPECT_EQ(fed.finding(), "twice");
}

TEST(OracleDeaths, it_may_have_come_though_its_initiator_hears_of_an_error) {
  FedOracle fed;
  Operation& op = fed.post(0, put_to(1));
  fed.arrive(op);
  fed.remote(op);
  fed.oracle.died(1);
  fed.local(op, PH_ERR_PEER);
  EXPECT_EQ(fed.finding(), "");
}

TEST(OracleDeaths, an_operation_fails_so_only_if_its_target_died) {
  FedOracle fed;
  fed.local(fed.post(0, put_to(1)), PH_ERR_PEER);
  EXPECT_EQ(fed.finding(), "status");
  FedOracle other;
  Operation& op = other.post(0, put_to(1));
  other.oracle.died(1);
  other.local(op, PH_ERR_DEPARTED);
  EXPECT_EQ(other.finding(), "status") << "it died without a bye";
}

TEST(OracleDeaths, what_is_said_to_have_landed_lies_in_the_memory_of_the_dead) {
  Step delivered = put_to(1);
  delivered.flags = PH_DELIVERED;
  for (const bool is_there : {true, false}) {
    FedOracle fed;
    Operation& op = fed.post(0, delivered);
    if (is_there) fed.arrive(op);
    fed.oracle.died(1);
    fed.local(op);
    EXPECT_EQ(fed.finding(), is_there ? "" : "bytes");
  }
}

TEST(OracleDeaths, what_has_no_local_id_may_fail_without_a_name_once_for_each) {
  for (const Verb verb : {Verb::put, Verb::notify}) {
    Step step = put_to(1);
    step.verb = verb;
    step.flags = PH_NO_LCE;
    FedOracle fed;
    fed.post(0, step);
    fed.oracle.died(1);
    fed.nameless(0, 1, PH_ERR_PEER);
    EXPECT_EQ(fed.finding(), "");
    fed.nameless(0, 1, PH_ERR_PEER);
    EXPECT_EQ(fed.finding(), "unexpected");
  }
}

TEST(OracleDeaths, finalize_may_say_that_something_was_lost_with_who_died) {
  FedOracle fed;
  fed.oracle.finalized(0, PH_ERR_PEER, error_of(1));
  EXPECT_EQ(fed.finding(), "status");
  FedOracle other;
  other.oracle.died(1);
  other.oracle.finalized(0, PH_ERR_PEER, error_of(1));
  EXPECT_EQ(other.finding(), "");
}

TEST(OracleDeaths, a_refused_call_names_who_died) {
  FedOracle fed;
  fed.oracle.died(1);
  fed.oracle.named(0, 1, error_of(1));
  fed.oracle.named(0, PH_ANY_RANK, error_of(1));
  EXPECT_EQ(fed.finding(), "");
  fed.oracle.named(0, 1, error_of(0));
  EXPECT_EQ(fed.finding(), "status");
  for (const ph_error& wrong : {error_of(PH_ANY_RANK), error_of(1, PH_ERR_DEPARTED), error_of(0)}) {
    FedOracle other;
    other.oracle.died(1);
    other.oracle.named(0, PH_ANY_RANK, wrong);
    EXPECT_EQ(other.finding(), "status");
  }
}

TEST(OracleDeaths, calls_are_refused_so_only_where_somebody_died) {
  FedOracle fed;
  EXPECT_FALSE(fed.oracle.may_be_gone(1, PH_ERR_PEER));
  EXPECT_FALSE(fed.oracle.may_be_gone(PH_ANY_RANK, PH_ERR_PEER));
  fed.oracle.died(1);
  EXPECT_TRUE(fed.oracle.may_be_gone(1, PH_ERR_PEER));
  EXPECT_TRUE(fed.oracle.may_be_gone(PH_ANY_RANK, PH_ERR_PEER));
  EXPECT_FALSE(fed.oracle.may_be_gone(0, PH_ERR_PEER));
  EXPECT_FALSE(fed.oracle.may_be_gone(1, PH_ERR_DEPARTED));
}

}  // namespace
}  // namespace photon::simtest
