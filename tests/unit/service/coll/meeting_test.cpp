#include "coll_unit.hpp"

namespace photon::test {
namespace {

ph_team_of_args list_of(const std::vector<ph_rank>& ranks, std::uint64_t tag) {
  ph_team_of_args args{};
  args.size = sizeof args;
  args.ranks = ranks.data();
  args.count = static_cast<std::uint32_t>(ranks.size());
  args.tag = tag;
  return args;
}

TEST(CollMeeting, makes_a_team_of_a_list_in_its_order_whoever_comes_first) {
  const std::vector<ph_rank> ranks = {2, 0, 3};
  for (const Rank late : ranks) {
    Members members;
    const ph_team_of_args args = list_of(ranks, 7);
    std::array<Team*, Members::kCount> teams{};
    for (const Rank rank : ranks)
      if (rank != late) {
        EXPECT_EQ(members[rank].of(args, teams[rank]), PH_TIMEOUT);
      }
    members.run();
    for (const Rank rank : ranks)
      if (rank != late) {
        EXPECT_EQ(members[rank].of(args, teams[rank]), PH_TIMEOUT);
      }
    static_cast<void>(members[late].of(args, teams[late]));
    members.run();
    std::vector<Sum> sums(Members::kCount, Sum(1, 1));
    std::array<Operation*, Members::kCount> ops{};
    for (const Rank rank : ranks) {
      if (teams[rank] == nullptr) {
        ASSERT_EQ(members[rank].of(args, teams[rank]), PH_OK) << rank;
      }
      ASSERT_EQ(teams[rank]->size(), 3u);
      EXPECT_EQ(ranks[teams[rank]->own], rank);
      sums[rank].args.in = sums[rank].in.data();
      sums[rank].args.out = sums[rank].out.data();
      ASSERT_EQ(members[rank].begin(*teams[rank], sums[rank].args, &ops[rank]), PH_OK);
    }
    members.run();
    for (const Rank rank : ranks) {
      EXPECT_EQ(members[rank].done(*ops[rank]), PH_OK);
      EXPECT_EQ(sums[rank].out[0], 3);
      EXPECT_EQ(members[rank].free(*teams[rank]), PH_OK);
    }
    members.expect_nothing_held();
  }
}

TEST(CollMeeting, tells_lists_and_tags_apart) {
  Members members;
  const std::vector<ph_rank> ranks = {0, 1};
  const ph_team_of_args one = list_of(ranks, 1);
  const ph_team_of_args two = list_of(ranks, 2);
  Team* team = nullptr;
  EXPECT_EQ(members[0].of(one, team), PH_TIMEOUT);
  EXPECT_EQ(members[1].of(two, team), PH_TIMEOUT);
  members.run();
  EXPECT_EQ(members[0].of(one, team), PH_TIMEOUT);
  Team* other = nullptr;
  static_cast<void>(members[0].of(two, other));
  members.run();
  EXPECT_EQ(members[1].of(two, team), PH_OK);
  EXPECT_EQ(members[0].of(one, team), PH_TIMEOUT);
}

TEST(CollMeeting, refuses_lists_that_make_no_team) {
  Members members;
  Team* team = nullptr;
  EXPECT_EQ(members[0].of(list_of({0, 1, 0}, 0), team), PH_ERR_ARGUMENT);
  EXPECT_EQ(members[0].of(list_of({1, 2}, 0), team), PH_ERR_ARGUMENT);
  EXPECT_EQ(members[0].of(list_of({0, 9}, 0), team), PH_ERR_RANK);
  EXPECT_EQ(members[0].of(list_of({0}, 0), team), PH_OK) << "a team of one needs nobody";
}

TEST(CollMeeting, ends_for_all_when_one_of_the_list_dies) {
  for (const Rank dead : {0U, 2U}) {
    Members members;
    const std::vector<ph_rank> ranks = {0, 1, 2};
    const ph_team_of_args args = list_of(ranks, 0);
    Team* team = nullptr;
    for (const Rank rank : ranks)
      if (rank != dead) {
        EXPECT_EQ(members[rank].of(args, team), PH_TIMEOUT);
      }
    members.run();
    members.kill(dead);
    members.run();
    for (const Rank rank : ranks)
      if (rank != dead) {
        EXPECT_EQ(members[rank].of(args, team), PH_ERR_PEER) << rank;
      }
  }
}

// The first of the list has called and gone on before others come: they hear of it nevertheless.
TEST(CollMeeting, ends_for_those_who_come_after_the_first_has_given_up) {
  for (const bool calls_before : {false, true}) {
    Members members;
    const std::vector<ph_rank> ranks = {0, 1, 2};
    const ph_team_of_args args = list_of(ranks, 0);
    Team* team = nullptr;
    if (calls_before) {
      EXPECT_EQ(members[0].of(args, team), PH_TIMEOUT);
    }
    members.port(0).lose(2);
    EXPECT_EQ(members[0].of(args, team), PH_ERR_PEER);
    members.run();
    for (int call = 0; call < 2; ++call) {
      EXPECT_EQ(members[1].of(args, team), PH_TIMEOUT);
      members.run();
      EXPECT_EQ(members[1].of(args, team), PH_ERR_PEER);
    }
  }
}

// They have come, and wait for a first that refuses at once.
TEST(CollMeeting, ends_for_those_who_came_before_the_first_refuses) {
  Members members;
  const std::vector<ph_rank> ranks = {0, 1, 2};
  const ph_team_of_args args = list_of(ranks, 0);
  Team* team = nullptr;
  EXPECT_EQ(members[1].of(args, team), PH_TIMEOUT);
  members.run();
  members.port(0).lose(2, PH_ERR_DEPARTED);
  EXPECT_EQ(members[0].of(args, team), PH_ERR_DEPARTED);
  members.run();
  EXPECT_EQ(members[1].of(args, team), PH_ERR_DEPARTED);
}

// A member that is inside the making of one team hears nothing of the next of the same list.
TEST(CollMeeting, fails_the_next_team_of_a_list_while_a_member_is_late_for_the_one_before) {
  Members members;
  const std::vector<ph_rank> ranks = {0, 1, 2};
  const ph_team_of_args args = list_of(ranks, 0);
  Team* team = nullptr;
  for (const Rank rank : {1U, 2U}) EXPECT_EQ(members[rank].of(args, team), PH_TIMEOUT);
  members.run();
  ASSERT_EQ(members[0].of(args, team), PH_OK);
  ASSERT_EQ(members[0].free(*team), PH_OK);
  members.run();
  EXPECT_EQ(members[0].of(args, team), PH_TIMEOUT);
  members.port(0).lose(2, PH_ERR_DEPARTED);
  members.run();
  EXPECT_EQ(members[0].of(args, team), PH_ERR_DEPARTED);
  ASSERT_EQ(members[1].of(args, team), PH_OK);
  ASSERT_EQ(members[1].free(*team), PH_OK);
  EXPECT_EQ(members[1].of(args, team), PH_TIMEOUT);
  members.run();
  EXPECT_EQ(members[1].of(args, team), PH_ERR_DEPARTED);
}

}  // namespace
}  // namespace photon::test
