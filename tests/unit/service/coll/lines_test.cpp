#include "service/coll/lines.hpp"

#include "coll_lines.hpp"

namespace photon::test {
namespace {

// One word, a whole line, a word more, and as much as there is room for.
TEST(CollLines, add_up_whoever_begins_last_and_whatever_the_size) {
  for (const std::uint64_t count : {0, 1, 6, 7, 100, 240})
    for (Rank late = 0; late < Members::kCount; ++late) {
      Members members;
      share_all(members);
      for (int round = 0; round < 5; ++round) expect_sum_by_lines(members, count, late);
      EXPECT_EQ(members.port(0).exposures(), 0u);
    }
}

TEST(CollLines, need_no_message_once_all_see_all) {
  Members members;
  share_all(members);
  expect_sum_by_lines(members, 1, 0);
  Sum sum(1, 5);
  Round round;
  for (Rank rank = 0; rank < Members::kCount; ++rank) {
    ASSERT_EQ(round.begin(members, rank, sum.args), PH_OK);
    EXPECT_EQ(members.port(rank).waiting(), 0u);
  }
  EXPECT_TRUE(round.is_over(3)) << "all lines were there when it began";
  members.run();
  for (Rank rank = 0; rank < Members::kCount; ++rank) EXPECT_EQ(round.done(members, rank), PH_OK);
}

TEST(CollLines, are_not_for_what_has_no_room_there) {
  Members members;
  share_all(members);
  expect_sum_by_lines(members, 240, 0);
  expect_sum_by_lines(members, 241, 0);  // behind the page
  expect_sum_by_lines(members, 2048, 0);
  Sum sum(2049, 5);
  Round round;
  ASSERT_EQ(round.begin(members, 0, sum.args), PH_OK);
  EXPECT_NE(members.port(0).waiting(), 0u) << "a message has gone";
  for (Rank rank = 1; rank < Members::kCount; ++rank)
    ASSERT_EQ(round.begin(members, rank, sum.args), PH_OK);
  members.run();
  for (Rank rank = 0; rank < Members::kCount; ++rank) EXPECT_EQ(round.done(members, rank), PH_OK);
}

// Two are said, and the others of a window wait for the slowest reader.
TEST(CollLines, a_root_says_two_things_that_nobody_has_read_and_no_more) {
  Members members;
  share_all(members);
  expect_sum_by_lines(members, 1, 0);
  const std::uint32_t window = static_cast<std::uint32_t>(members.port(0).settings.coll_window);
  std::vector<Cast> casts;
  for (std::uint32_t i = 0; i < window + 3; ++i) casts.emplace_back(100 + i);
  std::vector<Operation*> ops(casts.size());
  std::uint32_t begun = 0;
  for (; begun < casts.size(); ++begun) {
    const ph_status status = members[0].begin(members.world(0), casts[begun].args, &ops[begun]);
    if (status == PH_AGAIN) break;
    ASSERT_EQ(status, PH_OK);
  }
  EXPECT_EQ(begun, window + 2);
  EXPECT_EQ(ops[1]->state, OpState::over);
  EXPECT_EQ(ops[2]->state, OpState::running);
  for (std::uint32_t i = 0; i < begun; ++i) {
    for (Rank rank = 1; rank < Members::kCount; ++rank) {
      Cast cast;
      Round round;
      ASSERT_EQ(round.begin(members, rank, cast.args), PH_OK);
      ASSERT_EQ(round.done(members, rank), PH_OK) << "it was there";
      EXPECT_EQ(cast.value[0], 100 + i) << rank;
    }
    members.run();
  }
  for (std::uint32_t i = 0; i < begun; ++i) EXPECT_EQ(members[0].done(*ops[i]), PH_OK);
  members.expect_nothing_held();
}

// Whoever has begun another operation at the same place, by lines or by messages: all fail, and
// what they begin next is right.
TEST(CollLines, of_different_calls_fail_at_all_members) {
  for (const bool is_first : {true, false})
    for (const std::uint64_t others_count : {2, 1000})
      for (Rank other = 0; other < Members::kCount; ++other) {
        Members members;
        share_all(members);
        if (!is_first) expect_sum_by_lines(members, 1, 0);
        Sum one(1, 5);
        Sum another(others_count, 5);
        Round round;
        for (Rank rank = 0; rank < Members::kCount; ++rank)
          ASSERT_EQ(round.begin(members, rank, rank == other ? another.args : one.args), PH_OK);
        members.run();
        for (Rank rank = 0; rank < Members::kCount; ++rank) members.port(rank).pass(30'000'000);
        members.run();
        for (Rank rank = 0; rank < Members::kCount; ++rank)
          EXPECT_EQ(round.done(members, rank), PH_ERR_ARGUMENT)
              << rank << " beside " << other << " with " << others_count;
        expect_sum_by_lines(members, 3, 1);
      }
}

// The root's line was the only word of it, and it waits for nobody.
TEST(CollLines, that_were_said_tell_whoever_waits_for_a_message_instead) {
  Members members;
  share_all(members);
  expect_sum_by_lines(members, 1, 0);
  Cast small(7);
  Cast large(0, 5000);
  Round round;
  for (Rank rank = 0; rank + 1 < Members::kCount; ++rank)
    ASSERT_EQ(round.begin(members, rank, small.args), PH_OK);
  ASSERT_EQ(round.begin(members, 3, large.args), PH_OK);
  members.run();
  EXPECT_FALSE(round.is_over(3));
  members.port(3).pass(30'000'000);
  members.run();
  EXPECT_EQ(round.done(members, 3), PH_ERR_ARGUMENT);
  for (Rank rank = 0; rank + 1 < Members::kCount; ++rank)
    EXPECT_EQ(round.done(members, rank), PH_OK);
}

TEST(CollLines, of_a_member_that_died_fail_whoever_waits_for_it) {
  Members members;
  share_all(members);
  expect_sum_by_lines(members, 1, 0);
  Sum sum(1, 5);
  Round round;
  for (Rank rank = 0; rank + 1 < Members::kCount; ++rank)
    ASSERT_EQ(round.begin(members, rank, sum.args), PH_OK);
  members.run();
  members.kill(3);
  members.run();
  for (Rank rank = 0; rank + 1 < Members::kCount; ++rank)
    EXPECT_EQ(round.done(members, rank), PH_ERR_PEER);
}

// It has said its part and left: what it said is there.
TEST(CollLines, of_a_member_that_left_are_read_to_the_last) {
  Members members;
  share_all(members);
  expect_sum_by_lines(members, 1, 0);
  Cast cast(7);
  Round round;
  ASSERT_EQ(round.begin(members, 0, cast.args), PH_OK);
  ASSERT_TRUE(round.is_over(0));
  ASSERT_EQ(round.done(members, 0), PH_OK);
  Cast first;
  ASSERT_EQ(round.begin(members, 1, first.args), PH_OK);
  EXPECT_EQ(round.done(members, 1), PH_OK);
  std::vector<Sum> sums;
  for (Rank rank = 0; rank < Members::kCount; ++rank) sums.emplace_back(1, rank);
  Round barrier;
  ASSERT_EQ(barrier.begin(members, 1, coll_args(PH_COLL_BARRIER)), PH_OK);
  members.kill(0, PH_ERR_DEPARTED);
  members.run();
  EXPECT_EQ(barrier.done(members, 1), PH_ERR_DEPARTED) << "it has not said that";
}

// Operations that end behind one that waits are carried out when their turn comes.
TEST(CollLines, go_in_the_order_in_which_they_were_begun) {
  Members members;
  share_all(members);
  expect_sum_by_lines(members, 1, 0);
  std::array<std::array<Cast, 3>, Members::kCount> casts;
  std::array<Round, 3> rounds;
  for (std::uint32_t i = 0; i < 3; ++i)
    for (const Rank rank : {3, 2, 1, 0}) {
      Cast& cast = casts[rank][i];
      cast.args.out = cast.value.data();
      cast.args.root = i;
      if (rank == i) cast.value[0] = 40 + i;
      ASSERT_EQ(rounds[i].begin(members, rank, cast.args), PH_OK);
    }
  members.run();
  for (std::uint32_t i = 0; i < 3; ++i)
    for (Rank rank = 0; rank < Members::kCount; ++rank) {
      EXPECT_EQ(rounds[i].done(members, rank), PH_OK);
      EXPECT_EQ(casts[rank][i].value[0], 40 + i) << rank;
    }
  members.expect_nothing_held();
}

}  // namespace
}  // namespace photon::test
