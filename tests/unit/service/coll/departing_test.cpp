#include "coll_unit.hpp"

namespace photon::test {
namespace {

// A gather to member 1, of which each other member gives its number.
struct Given {
  explicit Given(Rank rank) : in(static_cast<int>(rank)), args(coll_args(PH_COLL_GATHER)) {
    args.in = &in;
    args.count = 1;
    args.type = PH_INT32;
    args.root = 1;
  }
  ph_coll_args& to(std::array<int, Members::kCount>& room) {
    args.in = &in;
    args.out = room.data();
    return args;
  }
  int in;
  ph_coll_args args;
};

// Member 3 gives its part and leaves; member 2 hears of that before it begins, so it never will.
TEST(CollDeparting, an_operation_that_another_member_refuses_to_begin_ends) {
  Members members;
  std::array<int, Members::kCount> room{};
  std::vector<Operation*> ops(Members::kCount);
  for (const Rank rank : {0U, 1U, 3U}) {
    Given given(rank);
    ASSERT_EQ(members[rank].begin(members.world(rank), given.to(room), &ops[rank]), PH_OK);
  }
  members.run();
  EXPECT_EQ(ops[1]->state, OpState::running);
  members.kill(3, PH_ERR_DEPARTED);
  members.run();
  EXPECT_EQ(ops[1]->state, OpState::over);
  Given late(2);
  EXPECT_EQ(members[2].begin(members.world(2), late.to(room), &ops[2]), PH_ERR_DEPARTED);
  members.run();
  EXPECT_EQ(members[1].done(*ops[1]), PH_ERR_DEPARTED);
  EXPECT_EQ(members[0].done(*ops[0]), PH_OK);
}

// Member 1 knows nothing of the one that left: it is not told by it.
TEST(CollDeparting, word_of_a_member_that_left_comes_from_who_will_begin_nothing) {
  Members members;
  std::array<int, Members::kCount> room{};
  std::vector<Operation*> ops(Members::kCount);
  Given root(1);
  ASSERT_EQ(members[1].begin(members.world(1), root.to(room), &ops[1]), PH_OK);
  members.world(2);
  members.port(2).lose(3, PH_ERR_DEPARTED);
  members.run();
  EXPECT_EQ(ops[1]->state, OpState::running);
  Given late(2);
  EXPECT_EQ(members[2].begin(members.world(2), late.to(room), &ops[2]), PH_ERR_DEPARTED);
  members.run();
  ASSERT_EQ(ops[1]->state, OpState::over);
  EXPECT_EQ(members[1].done(*ops[1]), PH_ERR_DEPARTED);
}

// What a member has begun is carried out, however late its message comes.
TEST(CollDeparting, an_operation_goes_on_that_those_it_waits_for_have_begun) {
  Members members;
  std::array<int, Members::kCount> room{};
  std::vector<Operation*> ops(Members::kCount);
  for (const Rank rank : {1U, 3U}) {
    Given given(rank);
    ASSERT_EQ(members[rank].begin(members.world(rank), given.to(room), &ops[rank]), PH_OK);
  }
  while (members.step(3)) {
  }
  Given two(2), zero(0);
  ASSERT_EQ(members[2].begin(members.world(2), two.to(room), &ops[2]), PH_OK);
  ASSERT_EQ(members[0].begin(members.world(0), zero.to(room), &ops[0]), PH_OK);
  members.kill(3, PH_ERR_DEPARTED);
  members.port(1).run_turns();  // it asks those whose parts have not come
  members.run();
  ASSERT_EQ(ops[1]->state, OpState::over);
  EXPECT_EQ(members[1].done(*ops[1]), PH_OK);
  EXPECT_EQ(room, (std::array<int, 4>{0, 1, 2, 3}));
}

// What comes for an operation that will not be begun waits for nobody.
TEST(CollDeparting, nothing_is_kept_for_operations_of_a_broken_team) {
  for (const ph_status why : {PH_ERR_DEPARTED, PH_ERR_PEER}) {
    Members members;
    std::array<int, Members::kCount> room{};
    std::vector<Operation*> ops(Members::kCount);
    Given given(0);
    ASSERT_EQ(members[0].begin(members.world(0), given.to(room), &ops[0]), PH_OK);
    members.run();
    EXPECT_NE(members[1].held(), 0u);
    members.kill(3, why);
    members.run();
    EXPECT_EQ(members[1].held(), 0u);
    Given late(2);
    EXPECT_EQ(members[2].begin(members.world(2), late.to(room), &ops[2]), why);
    EXPECT_EQ(members[0].done(*ops[0]), PH_OK);
    members.run();
    members.expect_nothing_held();
  }
}

// A split that fails at some members only: the teams of the others are no good, and say so. Member
// 3 is of another colour than those that are looked at.
TEST(CollDeparting, a_team_whose_member_has_failed_to_make_it_hangs_nobody) {
  int partial = 0;
  for (const ph_status why : {PH_ERR_PEER, PH_ERR_DEPARTED})
    for (int steps = 0; steps < 60; ++steps) {
      Members members;
      std::array<Team*, Members::kCount> teams{};
      std::array<ph_status, Members::kCount> made{};
      const auto look = [&](Rank rank) {
        made[rank] = members[rank].split(members.world(rank), rank == 3 ? 1 : 0, 0, teams[rank]);
      };
      for (Rank rank = 0; rank < Members::kCount; ++rank) look(rank);
      for (int i = 0; i < steps; ++i) members.step(static_cast<Rank>((i * 7 + steps) % 4));
      for (Rank rank = 0; rank < 3; ++rank) look(rank);
      members.kill(3, why);
      for (Rank rank = 0; rank < 3; ++rank)
        if (made[rank] == PH_TIMEOUT) look(rank);
      members.run();
      std::array<Operation*, Members::kCount> ops{};
      std::array<std::array<int, Members::kCount>, Members::kCount> rooms{};
      int with = 0;
      for (Rank rank = 0; rank < 3; ++rank) {
        if (made[rank] == PH_TIMEOUT) look(rank);
        ASSERT_NE(made[rank], PH_TIMEOUT) << steps;
        if (made[rank] != PH_OK) continue;
        ++with;
        Given given(rank);
        const ph_status begun =
            members[rank].begin(*teams[rank], given.to(rooms[rank]), &ops[rank]);
        EXPECT_TRUE(begun == PH_OK || begun == why) << begun;
        if (begun != PH_OK) ops[rank] = nullptr;
      }
      members.run();
      for (Rank rank = 0; rank < 3; ++rank) {
        if (ops[rank] == nullptr) continue;
        ASSERT_EQ(ops[rank]->state, OpState::over) << steps << " " << rank;
        const ph_status end = members[rank].done(*ops[rank]);
        EXPECT_TRUE(end == PH_OK || end == why) << end;
      }
      if (with == 1 || with == 2) ++partial;
    }
  EXPECT_GT(partial, 0);
}

}  // namespace
}  // namespace photon::test
