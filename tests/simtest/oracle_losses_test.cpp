// What the oracle lets pass where a link was lost, and what it does not: above all, that an
// operation was accepted, and lost without a word.
#include <gtest/gtest.h>

#include <string>

#include "tests/simtest/fed_oracle.hpp"

namespace photon::simtest {
namespace {

Step with_flags(Step step, std::uint32_t flags) {
  step.flags = flags;
  return step;
}

// The link is lost with this put of rank 0 to rank 1 under way.
struct LostPut : FedOracle {
  explicit LostPut(const Step& step = put_to(1)) : op(post(0, step)) { oracle.link_lost(0, 1); }
  std::string finalize(ph_status status = PH_OK) {
    oracle.finalized(0, status, error_of(1, status));
    return finding();
  }
  Operation& op;
};

TEST(OracleLosses, a_put_that_was_accepted_and_lost_without_a_word_is_found_and_named) {
  LostPut lost;
  lost.local(lost.op);
  EXPECT_EQ(lost.finalize(), "silent");
  EXPECT_NE(lost.oracle.finding()->text.find("#1 of rank 0 (put peer 1"), std::string::npos);
}

TEST(OracleLosses, one_that_was_lost_before_its_local_id_came_is_found_as_well) {
  for (const std::uint32_t flags : {0u, std::uint32_t{PH_NO_LCE}}) {
    LostPut lost(with_flags(put_to(1), flags));
    EXPECT_EQ(lost.finalize(), "silent") << flags;
  }
}

TEST(OracleLosses, an_error_completion_of_its_own_accounts_for_it) {
  LostPut lost;
  lost.local(lost.op);
  lost.local(lost.op, PH_ERR_PEER);
  EXPECT_EQ(lost.finalize(), "");
  LostPut twice;
  twice.local(twice.op, PH_ERR_PEER);
  twice.local(twice.op, PH_ERR_PEER);
  EXPECT_EQ(twice.finding(), "twice");
}

TEST(OracleLosses, an_error_of_finalize_accounts_for_all) {
  LostPut lost;
  lost.local(lost.op);
  EXPECT_EQ(lost.finalize(PH_ERR_PEER), "");
}

TEST(OracleLosses, where_a_local_id_said_ok_no_other_call_but_a_flush_accounts_for_it) {
  LostPut refused;
  refused.local(refused.op);
  refused.oracle.named(0, 1, error_of(1));
  EXPECT_EQ(refused.finalize(), "silent");
  LostPut flushed;
  flushed.local(flushed.op);
  flushed.oracle.flush_failed(0, error_of(1));
  EXPECT_EQ(flushed.finalize(), "");
}

TEST(OracleLosses, where_none_has_any_error_that_names_the_peer_does) {
  LostPut lost(with_flags(put_to(1), PH_NO_LCE));
  lost.oracle.named(0, 1, error_of(1));
  EXPECT_EQ(lost.finalize(), "");
  LostPut nameless(with_flags(put_to(1), PH_NO_LCE));
  nameless.nameless(0, 1, PH_ERR_PEER);
  EXPECT_EQ(nameless.finalize(), "");
}

TEST(OracleLosses, an_error_from_before_it_was_accepted_does_not) {
  FedOracle fed;
  fed.oracle.link_lost(0, 1);
  fed.oracle.flush_failed(0, error_of(1));
  fed.local(fed.post(0, put_to(1)));
  fed.oracle.finalized(0, PH_OK, error_of(PH_ANY_RANK, PH_OK));
  EXPECT_EQ(fed.finding(), "silent");
}

TEST(OracleLosses, what_has_come_needs_no_error) {
  LostPut seen;
  seen.arrive(seen.op);
  seen.remote(seen.op);
  seen.local(seen.op);
  EXPECT_EQ(seen.finalize(), "");
  LostPut there(with_flags(put_to(1), PH_NO_RCE));
  there.arrive(there.op);
  there.local(there.op);
  EXPECT_EQ(there.finalize(), "");
  LostPut absent(with_flags(put_to(1), PH_NO_RCE));
  absent.local(absent.op);
  EXPECT_EQ(absent.finalize(), "silent");
}

TEST(OracleLosses, who_asked_for_the_landing_was_told_all_of_it) {
  LostPut landed(with_flags(put_to(1), PH_DELIVERED));
  landed.arrive(landed.op);
  landed.local(landed.op);
  EXPECT_EQ(landed.finalize(), "");
  LostPut torn(with_flags(put_to(1), PH_DELIVERED));
  torn.local(torn.op);
  EXPECT_EQ(torn.finding(), "bytes");
}

TEST(OracleLosses, a_get_whose_owner_hears_nothing_of_it_is_found) {
  for (const bool has_id : {true, false}) {
    FedOracle fed;
    Operation& get =
        fed.post(0, with_flags(get_from(1, Area::library), has_id ? 0 : std::uint32_t{PH_NO_RCE}));
    fed.oracle.link_lost(0, 1);
    fed.fetch(get);
    fed.local(get);
    fed.oracle.finalized(0, PH_OK, error_of(PH_ANY_RANK, PH_OK));
    EXPECT_EQ(fed.finding(), has_id ? "silent" : "");
  }
}

TEST(OracleLosses, what_is_between_others_is_judged_as_ever) {
  FedOracle fed;
  EXPECT_FALSE(fed.oracle.may_be_lost(0, 1, PH_ERR_PEER));
  fed.local(fed.post(0, put_to(1)), PH_ERR_PEER);
  EXPECT_EQ(fed.finding(), "status");
  FedOracle lost;
  lost.oracle.link_lost(0, 1);
  EXPECT_TRUE(lost.oracle.may_be_lost(0, 1, PH_ERR_PEER));
  EXPECT_TRUE(lost.oracle.may_be_lost(1, PH_ANY_RANK, PH_ERR_PROTOCOL));
  EXPECT_FALSE(lost.oracle.may_be_lost(0, 0, PH_ERR_PEER));
  EXPECT_FALSE(lost.oracle.may_be_lost(0, 1, PH_ERR_DEPARTED));
  lost.local(lost.post(0, put_to(0)), PH_ERR_PEER);
  EXPECT_EQ(lost.finding(), "status");
}

TEST(OracleLosses, finalize_fails_only_for_a_peer_that_was_lost) {
  FedOracle whole;
  whole.oracle.finalized(0, PH_ERR_PEER, error_of(1));
  EXPECT_EQ(whole.finding(), "status");
  for (const ph_error& wrong : {error_of(PH_ANY_RANK), error_of(0), error_of(1, PH_TIMEOUT)}) {
    LostPut lost;
    lost.oracle.finalized(0, static_cast<ph_status>(wrong.status), wrong);
    EXPECT_EQ(lost.finding(), "status");
  }
}

TEST(OracleLosses, a_notice_that_a_ledger_had_room_for_may_be_lost_and_told_of) {
  LostPut lost(with_flags(get_from(1, Area::library), PH_NOTICE_ACCEPTED));
  lost.fetch(lost.op);
  lost.local(lost.op);
  lost.local(lost.op, PH_ERR_PEER);
  EXPECT_EQ(lost.finalize(), "");
}

TEST(OracleLosses, an_id_may_come_though_its_initiator_heard_of_the_loss_first) {
  LostPut lost;
  lost.local(lost.op, PH_ERR_PEER);
  lost.arrive(lost.op);
  lost.remote(lost.op);
  EXPECT_EQ(lost.finding(), "");
  lost.remote(lost.op);
  EXPECT_EQ(lost.finding(), "twice");
}

TEST(OracleLosses, of_a_lost_link_ids_come_in_order_and_without_gaps_but_for_fragments) {
  expect_ids_in_order_but_for_fragments([](FedOracle& fed, Operation& second) {
    fed.oracle.link_lost(0, 1);
    fed.arrive(second);
  });
}

TEST(OracleLosses, a_wait_for_a_peer_that_is_known_to_be_lost_ends) {
  constexpr std::uint64_t kLostNs = 1'000'000, kLateNs = 1'000'000;
  for (const bool is_known : {true, false}) {
    for (const std::uint64_t begin_ns : {std::uint64_t{0}, 5 * kLostNs}) {
      FedOracle fed;
      Oracle::Wait wait{"wait", begin_ns, 4'000};
      if (is_known) wait.lost_ns = kLostNs;
      fed.now_ns = begin_ns + 4'000'000;
      ASSERT_GT(fed.now_ns, kLostNs + kLateNs);
      fed.oracle.waited(0, wait, PH_TIMEOUT);
      EXPECT_EQ(fed.finding(), is_known ? "time" : "");
    }
  }
  FedOracle fed;
  Oracle::Wait wait{"wait", 0, 4'000};
  wait.lost_ns = 3'990'000;
  fed.now_ns = 4'000'000;
  fed.oracle.waited(0, wait, PH_TIMEOUT);
  EXPECT_EQ(fed.finding(), "") << "it could hardly know";
}

}  // namespace
}  // namespace photon::simtest
