// How payloads end that are read from their senders: gets that fail, handlers that do, sources that
// are lost, and the close.
#include "am_pulling_unit.hpp"

namespace photon::service::am {
namespace {

using namespace pulling_test;

TEST(AmPullEnd, a_get_that_fails_ends_it_with_one_call_when_no_other_writes) {
  Pulling one;
  one.port.gets_are_stuck = true;
  one.begin(30, {.blocks = {10, 10, 10}});
  one.port.end_get(PH_ERR_KEY);
  EXPECT_FALSE(one.run_one()) << "a network may still write to the landing";
  one.port.end_get();
  EXPECT_FALSE(one.run_one());
  one.port.end_get(PH_ERR_ACCESS);
  ASSERT_TRUE(one.run_one());
  EXPECT_FALSE(one.run_one());
  ASSERT_EQ(one.mails[0]->parts.size(), 1u);
  EXPECT_EQ(one.mails[0]->parts[0].status, PH_ERR_KEY) << "the first one";
  EXPECT_EQ(one.mails[0]->parts[0].size_bytes, 0u);
  EXPECT_EQ(one.mails[0]->parts[0].is_last, 1);
  EXPECT_EQ(one.over, (Pulling::Over{{0, PH_ERR_KEY}}));
  expect_idle(one);
}

TEST(AmPullEnd, gets_that_are_given_up_do_not_keep_the_landing) {
  Pulling one;
  one.begin(30, {.blocks = {10, 10, 10}});
  one.port.end_get(PH_ERR_KEY);
  ASSERT_TRUE(one.run_one());
  EXPECT_EQ(one.over, (Pulling::Over{{0, PH_ERR_KEY}}));
  EXPECT_FALSE(one.pulls.is_idle()) << "two gets have not ended";
  const std::size_t next = one.begin(10, {});
  while (one.port.gets() != 0) one.port.end_get();
  one.run_all();
  EXPECT_EQ(one.over.back(), (std::pair<std::uint64_t, ph_status>{next, PH_OK}));
  expect_idle(one);
}

TEST(AmPullEnd, one_that_cannot_be_asked_for_ends_with_that_error) {
  Pulling one;
  struct Refusing : FakePort {
    using FakePort::FakePort;
    ph_status get(Rank, const Fetch&, std::uint64_t&) override { return PH_ERR_ACCESS; }
  } port(wire::Owner::am);
  port.serve(one);
  Pulls pulls(port, one.gates, one);
  Pull* const pull = pulls.add(1, {}, {10, 7, 1, 0}, {{1, 10, 1}});
  Bytes memory(10);
  ph_am_landing named{};
  named.buffer = memory.data();
  named.buffer_bytes = 10;
  ASSERT_EQ(pull->landing.take(named, 10, false), PH_OK);
  pull->node_pulls = &one.node_pulls;
  pulls.begin(*pull);
  EXPECT_EQ(one.over, (Pulling::Over{{7, PH_ERR_ACCESS}}));
  EXPECT_TRUE(pulls.is_idle());
}

TEST(AmPullEnd, an_error_of_a_handler_is_told_to_it_once_more_and_ends_the_rest) {
  Pulling one;
  one.port.gets_are_stuck = true;
  one.begin(100, {.chunk_bytes = 10});
  one.port.end_get();
  ASSERT_TRUE(one.run_one(PH_ERR_RANGE));
  EXPECT_FALSE(one.run_one()) << "gets may still write";
  while (one.port.gets() != 0) one.port.end_get();
  ASSERT_TRUE(one.run_one());
  EXPECT_FALSE(one.run_one());
  const auto& parts = one.mails[0]->parts;
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[1].status, PH_ERR_RANGE);
  EXPECT_EQ(parts[1].offset, 10u);
  EXPECT_EQ(parts[1].is_last, 1);
  EXPECT_EQ(one.over, (Pulling::Over{{0, PH_ERR_RANGE}}));
  expect_idle(one);
}

TEST(AmPullEnd, an_error_of_the_last_part_is_its_end_without_another_call) {
  Pulling one;
  one.begin(10, {});
  one.port.end_get();
  ASSERT_TRUE(one.run_one(PH_AGAIN));
  EXPECT_FALSE(one.run_one());
  EXPECT_EQ(one.over, (Pulling::Over{{0, PH_ERR_ARGUMENT}})) << "no status of a message";
}

TEST(AmPullEnd, what_a_lost_source_has_not_sent_ends_with_its_status) {
  Pulling one;
  one.begin(100, {.chunk_bytes = 10});
  one.begin(10, {});
  one.begin(10, {.from = 2});
  one.port.end_get();  // the first part of the first one
  one.port.lose(1, PH_ERR_DEPARTED);
  one.run_all();
  ASSERT_EQ(one.mails[0]->parts.size(), 1u) << "parts of it were told after its end, or none was";
  EXPECT_EQ(one.mails[0]->parts[0].status, PH_ERR_DEPARTED);
  EXPECT_EQ(one.over.size(), 3u);
  EXPECT_EQ(one.mails[2]->seen, one.mails[2]->source);
  expect_idle(one);
}

TEST(AmPullEnd, what_is_there_when_its_source_is_lost_is_handled) {
  Pulling one;
  one.begin(20, {.chunk_bytes = 10});
  one.port.end_get();
  one.port.end_get();
  one.port.lose(1);
  one.run_all();
  EXPECT_EQ(one.mails[0]->seen, one.mails[0]->source);
  EXPECT_EQ(one.over, (Pulling::Over{{0, PH_OK}}));
}

TEST(AmPullEnd, one_whose_source_died_before_its_handler_ran_is_told_so) {
  Pulling one;
  one.begin(10, {});
  one.run_all();
  one.port.lose(1);
  one.begin(10, {});
  one.run_all();
  ASSERT_EQ(one.mails[1]->parts.size(), 1u);
  EXPECT_EQ(one.mails[1]->parts[0].status, PH_ERR_PEER);
  expect_idle(one);
}

TEST(AmPullEnd, a_source_that_is_lost_inside_a_handler_ends_it_behind_that) {
  Pulling one;
  one.begin(40, {.chunk_bytes = 10});
  one.port.end_get();
  Pulls::Call call = one.pulls.collect();
  ASSERT_NE(call.pull, nullptr);
  one.port.lose(1);
  EXPECT_EQ(one.pulls.collect().pull, nullptr) << "two handlers of one message at once";
  EXPECT_TRUE(one.over.empty());
  one.pulls.settle(call);
  one.run_all();
  ASSERT_EQ(one.mails[0]->parts.size(), 1u);
  EXPECT_EQ(one.mails[0]->parts[0].status, PH_ERR_PEER);
  EXPECT_EQ(one.mails[0]->parts[0].offset, 10u);
  expect_idle(one);
}

TEST(AmPullEnd, after_the_close_no_handler_is_called_and_gets_are_waited_for) {
  Pulling one;
  one.port.gets_are_stuck = true;
  one.begin(10, {});
  one.begin(10, {});
  one.port.end_get();  // its handler is due
  one.pulls.close();
  EXPECT_FALSE(one.run_one());
  EXPECT_EQ(one.over, (Pulling::Over{{0, PH_ERR_DEPARTED}})) << "one is still written to";
  EXPECT_FALSE(one.pulls.is_idle());
  one.port.end_get();
  EXPECT_FALSE(one.run_one());
  EXPECT_EQ(one.over, (Pulling::Over{{0, PH_ERR_DEPARTED}, {1, PH_ERR_DEPARTED}}));
  expect_idle(one);
}

TEST(AmPullEnd, a_handler_that_runs_while_the_lane_closes_is_the_last) {
  Pulling one;
  one.begin(40, {.chunk_bytes = 10});
  while (one.port.gets() != 0) one.port.end_get();
  const Pulls::Call call = one.pulls.collect();
  ASSERT_NE(call.pull, nullptr);
  one.pulls.close();
  EXPECT_TRUE(one.over.empty());
  one.pulls.settle(call);
  EXPECT_EQ(one.over, (Pulling::Over{{0, PH_ERR_DEPARTED}}));
  expect_idle(one);
}

TEST(AmPullEnd, one_that_is_refused_is_over_and_reads_nothing) {
  Pulling one;
  const std::size_t number = one.arrive(10, {});
  one.pulls.end(*one.mails[number]->pull, PH_ERR_NOT_FOUND);
  EXPECT_EQ(one.over, (Pulling::Over{{number, PH_ERR_NOT_FOUND}}));
  EXPECT_EQ(one.port.gets(), 0u);
  expect_idle(one);
}

}  // namespace
}  // namespace photon::service::am
