#include "service/coll/making.hpp"

#include "coll_unit.hpp"

namespace photon::test {
namespace {

struct Splits {
  std::array<Team*, Members::kCount> teams{};
  std::array<ph_status, Members::kCount> ends{};
};

// Every member's colour and key; all call again until it is over.
Splits split(Members& members, const std::array<Team*, Members::kCount>& parents,
             const std::array<std::int64_t, Members::kCount>& colours, std::int64_t key_step = 0) {
  Splits made;
  const auto call = [&](Rank rank) {
    made.ends[rank] =
        members[rank].split(*parents[rank], colours[rank],
                            key_step * static_cast<std::int64_t>(rank), made.teams[rank]);
  };
  for (Rank rank = 0; rank < Members::kCount; ++rank)
    if (parents[rank] != nullptr) call(rank);
  members.run();
  for (Rank rank = 0; rank < Members::kCount; ++rank)
    if (parents[rank] != nullptr && made.ends[rank] == PH_TIMEOUT) call(rank);
  members.run();
  return made;
}

std::array<Team*, Members::kCount> worlds(Members& members) {
  std::array<Team*, Members::kCount> all{};
  for (Rank rank = 0; rank < Members::kCount; ++rank) all[rank] = &members.world(rank);
  return all;
}

TEST(CollMaking, splits_by_colour_and_orders_by_key) {
  Members members;
  const Splits made = split(members, worlds(members), {5, 5, PH_NO_COLOUR, 5}, -1);
  for (const Rank rank : {0U, 1U, 3U}) {
    ASSERT_EQ(made.ends[rank], PH_OK);
    ASSERT_NE(made.teams[rank], nullptr);
    ASSERT_EQ(made.teams[rank]->size(), 3u);
    EXPECT_EQ(made.teams[rank]->members[0].rank, 3u);
    EXPECT_EQ(made.teams[rank]->members[1].rank, 1u);
    EXPECT_EQ(made.teams[rank]->members[2].rank, 0u);
    EXPECT_EQ(made.teams[rank]->members[made.teams[rank]->own].rank, rank);
  }
  EXPECT_EQ(made.ends[2], PH_OK);
  EXPECT_EQ(made.teams[2], nullptr);
  members.expect_nothing_held();
}

// Records of the new team come to a member that has not heard of it yet.
TEST(CollMaking, keeps_what_comes_before_the_team_is_known) {
  Members members;
  auto parents = worlds(members);
  Splits made;
  for (Rank rank = 0; rank < Members::kCount; ++rank)
    EXPECT_EQ(members[rank].split(*parents[rank], 1, 0, made.teams[rank]), PH_TIMEOUT);
  members.run();
  std::vector<Sum> sums;
  std::array<Operation*, Members::kCount> ops{};
  for (Rank rank = 0; rank < Members::kCount; ++rank) sums.emplace_back(3, rank);
  for (Rank rank = 0; rank < Members::kCount; ++rank) {
    ASSERT_EQ(members[rank].split(*parents[rank], 1, 0, made.teams[rank]), PH_OK);
    ASSERT_EQ(members[rank].begin(*made.teams[rank], sums[rank].args, &ops[rank]), PH_OK);
    members.run();  // to those that have not asked for their team
  }
  for (Rank rank = 0; rank < Members::kCount; ++rank) {
    ASSERT_EQ(ops[rank]->state, OpState::over);
    EXPECT_EQ(members[rank].done(*ops[rank]), PH_OK);
    EXPECT_EQ(sums[rank].out[2], 14);
  }
  members.expect_nothing_held();
}

TEST(CollMaking, gives_each_team_of_a_slot_a_number_above_all_before) {
  Members members;
  std::uint32_t last = 0;
  for (int round = 0; round < 100; ++round) {
    Splits made = split(members, worlds(members), {round, round, round, round});
    const std::uint32_t slot = made.teams[0]->slot;
    EXPECT_GT(made.teams[0]->number, last) << round;
    EXPECT_EQ(slot, 1u) << "slots are used again";
    last = made.teams[0]->number;
    for (Rank rank = 0; rank < Members::kCount; ++rank)
      EXPECT_EQ(members[rank].free(*made.teams[rank]), PH_OK);
  }
  members.expect_nothing_held();
}

TEST(CollMaking, ends_a_split_whose_member_dies) {
  Members members;
  auto parents = worlds(members);
  parents[3] = nullptr;
  Splits made = split(members, parents, {0, 0, 0, 0});
  members.kill(3);
  members.run();
  for (Rank rank = 0; rank < 3; ++rank)
    EXPECT_EQ(members[rank].split(*parents[rank], 0, 0, made.teams[rank]), PH_ERR_PEER);
  members.expect_nothing_held();
}

// The engine asks for news before each sleep, and other threads wait for other teams.
TEST(CollMaking, has_news_that_nobody_takes_from_another) {
  Members members;
  Team* team = nullptr;
  for (Rank rank = 0; rank < Members::kCount; ++rank)
    EXPECT_EQ(members[rank].split(members.world(rank), 0, 0, team), PH_TIMEOUT);
  const std::uint64_t before = members[0].making_news();
  members.run();
  static_cast<void>(static_cast<service::Service&>(members[0]).has_news());
  EXPECT_NE(members[0].making_news(), before);
  EXPECT_NE(members[0].making_news(), before) << "it is not taken by looking";
}

TEST(CollMaking, ends_a_split_that_is_over_though_a_member_has_left_since) {
  Members members;
  Splits made;
  for (Rank rank = 0; rank < Members::kCount; ++rank)
    EXPECT_EQ(
        members[rank].split(members.world(rank), rank == 3 ? PH_NO_COLOUR : 0, 0, made.teams[rank]),
        PH_TIMEOUT);
  members.run();
  members.kill(3, PH_ERR_DEPARTED);
  for (Rank rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(members[rank].split(members.world(rank), 0, 0, made.teams[rank]), PH_OK);
    ASSERT_NE(made.teams[rank], nullptr);
    EXPECT_EQ(made.teams[rank]->size(), 3u);
    EXPECT_EQ(members[rank].split(members.world(rank), 0, 0, made.teams[rank]), PH_ERR_DEPARTED);
  }
}

TEST(CollMaking, gives_a_parent_back_when_its_split_has_failed) {
  Members members;
  const Splits parents = split(members, worlds(members), {0, 0, 0, 0});
  Team* team = nullptr;
  for (Rank rank = 0; rank < 3; ++rank)
    EXPECT_EQ(members[rank].split(*parents.teams[rank], 0, 0, team), PH_TIMEOUT);
  members.run();
  members.kill(3);
  members.run();
  for (Rank rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(members[rank].split(*parents.teams[rank], 0, 0, team), PH_ERR_PEER);
    EXPECT_EQ(members[rank].free(*parents.teams[rank]), PH_OK);
  }
}

}  // namespace
}  // namespace photon::test
