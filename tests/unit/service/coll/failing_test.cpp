#include "coll_unit.hpp"

namespace photon::test {
namespace {

// All but `missing` begin an allreduce; the result: how each ended, by what it says.
std::vector<ph_status> ends_of(Members& members, std::vector<Operation*>& ops) {
  std::vector<ph_status> ends;
  for (Rank rank = 0; rank < Members::kCount; ++rank) {
    if (ops[rank] == nullptr) {
      ends.push_back(PH_AGAIN);
      continue;
    }
    EXPECT_EQ(ops[rank]->state, OpState::over) << rank;
    if (ops[rank]->state != OpState::over) return {};
    ends.push_back(members[rank].done(*ops[rank]));
  }
  return ends;
}

TEST(CollFailing, ends_an_operation_everywhere_when_a_member_dies) {
  for (const std::uint64_t count : {1, 5000})
    for (Rank dead = 0; dead < Members::kCount; ++dead) {
      Members members;
      std::vector<Sum> sums(Members::kCount, Sum(count, 1));
      for (Sum& sum : sums) sum.args.in = sum.in.data(), sum.args.out = sum.out.data();
      std::vector<Operation*> ops(Members::kCount);
      for (Rank rank = 0; rank < Members::kCount; ++rank)
        if (rank != dead) {
          ASSERT_EQ(members[rank].begin(members.world(rank), sums[rank].args, &ops[rank]), PH_OK);
        }
      members.run();
      members.kill(dead);
      members.run();
      const std::vector<ph_status> ends = ends_of(members, ops);
      for (Rank rank = 0; rank < Members::kCount; ++rank) {
        if (rank == dead) continue;
        EXPECT_EQ(ends[rank], PH_ERR_PEER) << rank;
        Operation* op = nullptr;
        EXPECT_EQ(members[rank].begin(members.world(rank), sums[rank].args, &op), PH_ERR_PEER);
      }
      members.expect_nothing_held();
    }
}

// What one member did not see itself it hears from those who did.
TEST(CollFailing, passes_the_word_to_members_that_saw_nothing) {
  Members members;
  std::vector<Operation*> ops(Members::kCount);
  const auto args = coll_args(PH_COLL_BARRIER);
  for (Rank rank = 0; rank < 3; ++rank)
    ASSERT_EQ(members[rank].begin(members.world(rank), args, &ops[rank]), PH_OK);
  members.run();
  members.port(0).lose(3);
  members.run();
  EXPECT_EQ(ends_of(members, ops),
            std::vector<ph_status>({PH_ERR_PEER, PH_ERR_PEER, PH_ERR_PEER, PH_AGAIN}));
}

TEST(CollFailing, lets_a_member_leave_after_a_barrier_that_others_are_still_in) {
  Members members;
  std::vector<Operation*> ops(Members::kCount);
  const auto args = coll_args(PH_COLL_BARRIER);
  for (Rank rank = 0; rank < Members::kCount; ++rank)
    ASSERT_EQ(members[rank].begin(members.world(rank), args, &ops[rank]), PH_OK);
  // Member 3 hears of all others, and its own messages have gone; the others have not looked.
  for (int round = 0; round < 100 && ops[3]->state != OpState::over; ++round)
    for (Rank rank = 0; rank < Members::kCount; ++rank) members.step(rank);
  ASSERT_EQ(ops[3]->state, OpState::over);
  while (members.step(3)) {
  }
  EXPECT_EQ(members[3].done(*ops[3]), PH_OK);
  ops[3] = nullptr;
  members.kill(3, PH_ERR_DEPARTED);
  members.run();
  EXPECT_EQ(ends_of(members, ops), std::vector<ph_status>({PH_OK, PH_OK, PH_OK, PH_AGAIN}));
}

// Member 3 has left, which member 0 knows and is refused; the others wait for member 0 meanwhile.
TEST(CollFailing, ends_what_waits_for_a_member_that_was_refused) {
  for (const bool is_prepared : {false, true}) {
    Members members;
    std::vector<Operation*> ops(Members::kCount);
    auto args = coll_args(PH_COLL_BARRIER);
    args.flags = PH_NO_LCE;
    for (Rank rank = 0; rank < 3 && is_prepared; ++rank)
      ASSERT_EQ(members[rank].prepare(members.world(rank), args, ops[rank]), PH_OK);
    const auto begin = [&](Rank rank) {
      return is_prepared ? members[rank].start(*ops[rank])
                         : members[rank].begin(members.world(rank), args, &ops[rank]);
    };
    members.world(0);
    members.port(0).lose(3, PH_ERR_DEPARTED);
    for (int round = 0; round < 40; ++round) EXPECT_EQ(begin(0), PH_ERR_DEPARTED);
    EXPECT_EQ(begin(1), PH_OK);
    members.run();
    EXPECT_EQ(begin(2), PH_ERR_DEPARTED) << "it has heard of it";
    for (Rank rank = 0; rank < 3; ++rank) {
      if (is_prepared) {
        EXPECT_EQ(members[rank].free(*ops[rank]), PH_OK);
      } else if (rank == 1) {
        EXPECT_EQ(members[1].done(*ops[1]), PH_ERR_DEPARTED);
      }
    }
    members.expect_nothing_held();
  }
}

TEST(CollFailing, ends_what_waits_for_a_member_that_left_without_it) {
  Members members;
  std::vector<Operation*> ops(Members::kCount);
  const auto args = coll_args(PH_COLL_BARRIER);
  for (Rank rank = 0; rank < 3; ++rank)
    ASSERT_EQ(members[rank].begin(members.world(rank), args, &ops[rank]), PH_OK);
  members.run();
  members.kill(3, PH_ERR_DEPARTED);
  members.run();
  const std::vector<ph_status> ends = ends_of(members, ops);
  for (Rank rank = 0; rank < 3; ++rank) EXPECT_EQ(ends[rank], PH_ERR_DEPARTED) << rank;
}

TEST(CollFailing, says_to_both_members_what_each_has_begun) {
  for (const std::uint64_t count : {1, 5000}) {
    Members members;
    std::vector<Sum> sums;
    for (Rank rank = 0; rank < Members::kCount; ++rank)
      sums.emplace_back(rank == 2 ? count + 1 : count, 1);
    std::vector<Operation*> ops(Members::kCount);
    for (Rank rank = 0; rank < Members::kCount; ++rank)
      ASSERT_EQ(members[rank].begin(members.world(rank), sums[rank].args, &ops[rank]), PH_OK);
    members.run();
    for (Rank rank = 0; rank < Members::kCount; ++rank) {
      ASSERT_EQ(ops[rank]->state, OpState::over) << rank;
      EXPECT_EQ(members[rank].done(*ops[rank]), PH_ERR_ARGUMENT) << rank;
      const std::string& words = members.port(rank).last_error().what;
      EXPECT_NE(words.find("member 2 (rank 2)"), std::string::npos) << words;
      EXPECT_NE(words.find("allreduce of " + std::to_string(count + 1)), std::string::npos)
          << words;
    }
    members.expect_nothing_held();
    Sum again(1, 1);  // the team goes on
    for (Rank rank = 0; rank < Members::kCount; ++rank)
      ASSERT_EQ(members[rank].begin(members.world(rank), again.args, &ops[rank]), PH_OK);
    members.run();
    for (Rank rank = 0; rank < Members::kCount; ++rank)
      EXPECT_EQ(members[rank].done(*ops[rank]), PH_OK);
  }
}

TEST(CollFailing, ends_everywhere_if_a_function_throws_at_one_member) {
  Members members;
  std::vector<Sum> sums(Members::kCount, Sum(3, 1));
  std::vector<Operation*> ops(Members::kCount);
  const auto add = [](void* user, const void* left, const void* right, void* out,
                      std::uint64_t count) {
    if (user != nullptr) throw std::runtime_error("no more");
    for (std::uint64_t i = 0; i < count; ++i)
      static_cast<std::int64_t*>(out)[i] =
          static_cast<const std::int64_t*>(left)[i] + static_cast<const std::int64_t*>(right)[i];
  };
  for (Rank rank = 0; rank < Members::kCount; ++rank) {
    ph_fold fold{sizeof fold, add, rank == 1 ? &members : nullptr, 0, 1};
    sums[rank].args.in = sums[rank].in.data();
    sums[rank].args.out = sums[rank].out.data();
    sums[rank].args.op = static_cast<ph_op>(0);
    sums[rank].args.fold = &fold;
    ASSERT_EQ(members[rank].begin(members.world(rank), sums[rank].args, &ops[rank]), PH_OK);
  }
  members.run();
  const std::vector<ph_status> ends = ends_of(members, ops);
  ASSERT_EQ(ends.size(), 4u);
  EXPECT_EQ(ends[1], PH_ERR_ARGUMENT);
  EXPECT_GE(std::count(ends.begin(), ends.end(), PH_ERR_ARGUMENT), 2) << "who needs it hears of it";
  for (Rank rank = 0; rank < Members::kCount; ++rank)
    EXPECT_TRUE(ends[rank] != PH_OK || sums[rank].out[0] == 4) << rank;
  members.expect_nothing_held();
}

TEST(CollFailing, tells_the_others_when_this_rank_closes_its_lane) {
  Members members;
  std::vector<Operation*> ops(Members::kCount);
  const auto args = coll_args(PH_COLL_BARRIER);
  for (Rank rank = 0; rank < 3; ++rank)
    ASSERT_EQ(members[rank].begin(members.world(rank), args, &ops[rank]), PH_OK);
  members.run();
  members[0].close();
  members.run();
  for (Rank rank = 0; rank < 3; ++rank) {
    ASSERT_EQ(ops[rank]->state, OpState::over);
    EXPECT_EQ(ops[rank]->blame.status, PH_ERR_DEPARTED);
  }
  EXPECT_TRUE(members[0].is_idle());
}

// False: messages go on and on.
bool come_to_rest(Members& members, Rank dead = Members::kCount) {
  constexpr int kMost = 20'000;
  int messages = 0;
  for (bool moved = true; moved;) {
    moved = false;
    for (Rank rank = 0; rank < Members::kCount; ++rank) {
      if (rank == dead) continue;
      members.port(rank).run_turns();
      for (; members.step(rank); moved = true)
        if (++messages > kMost) return false;
    }
  }
  return true;
}

void widen_windows(Members& members) {
  for (Rank rank = 0; rank < Members::kCount; ++rank) members.port(rank).settings.coll_window = 64;
}

// Word of each goes on once, however many there are.
TEST(CollFailing, ends_a_whole_window_of_operations_when_a_member_dies) {
  Members members;
  widen_windows(members);
  const auto args = coll_args(PH_COLL_BARRIER);
  for (Rank rank = 0; rank < 3; ++rank)
    for (int i = 0; i < 64; ++i) {
      Operation* op = nullptr;
      ASSERT_EQ(members[rank].begin(members.world(rank), args, &op), PH_OK);
    }
  members.run();
  members.kill(3);
  EXPECT_TRUE(come_to_rest(members, 3));
  members.expect_nothing_held();
}

TEST(CollFailing, tells_who_comes_late_of_every_mismatch) {
  Members members;
  widen_windows(members);
  constexpr std::size_t kOps = 40;
  std::vector<Sum> sums(Members::kCount, Sum(1, 1));
  std::vector<Operation*> late(kOps);
  const auto begin_all = [&](Rank rank) {
    Sum& sum = sums[rank];
    sum.args.in = sum.in.data(), sum.args.out = sum.out.data();
    if (rank == 1) sum.args.op = PH_OP_MAX;
    for (Operation*& op : late)
      ASSERT_EQ(members[rank].begin(members.world(rank), sum.args, &op), PH_OK);
  };
  for (Rank rank = 0; rank < 3; ++rank) begin_all(rank);
  ASSERT_TRUE(come_to_rest(members));
  begin_all(3);
  ASSERT_TRUE(come_to_rest(members));
  for (Operation* op : late) {
    ASSERT_EQ(op->state, OpState::over);
    EXPECT_EQ(members[3].done(*op), PH_ERR_ARGUMENT);
  }
}

TEST(CollFailing, answers_who_asks_a_member_that_has_freed_the_team) {
  Members members;
  std::array<Team*, Members::kCount> teams{};
  for (int look = 0; look < 2; ++look) {
    for (Rank rank = 0; rank < Members::kCount; ++rank)
      members[rank].split(members.world(rank), 0, 0, teams[rank]);
    members.run();
  }
  std::int64_t value = 5;
  auto args = coll_args(PH_COLL_BCAST);
  args.out = &value, args.count = 1, args.type = PH_INT64, args.flags = PH_NO_LCE;
  ASSERT_EQ(members[0].begin(*teams[0], args), PH_OK);
  ASSERT_EQ(members[0].free(*teams[0]), PH_OK);
  members.run();
  args.type = PH_UINT64;
  for (Rank rank = 1; rank < Members::kCount; ++rank) {
    Operation* op = nullptr;
    ASSERT_EQ(members[rank].begin(*teams[rank], args, &op), PH_OK);
    members.run();
    ASSERT_EQ(op->state, OpState::over) << rank;
    EXPECT_EQ(members[rank].done(*op), PH_ERR_ARGUMENT) << rank;
  }
}

// An empty payload costs 64 bytes of a grant, which is 1 MiB at most.
TEST(CollFailing, cuts_off_nobody_who_is_ahead_within_his_grant) {
  Members members(1 << 20);
  auto args = coll_args(PH_COLL_BCAST);
  args.type = PH_INT64, args.flags = PH_NO_LCE;
  for (int i = 0; i < (1 << 20) / 64; ++i) {
    ASSERT_EQ(members[0].begin(members.world(0), args), PH_OK) << i;
    while (members.step(0)) {
    }
  }
  EXPECT_EQ(members.port(1).state(0), PH_OK);
  EXPECT_EQ(members[1].held(), std::uint64_t{(1 << 20) / 64});
}

// A note that was not sent is answered by nobody, and a read that was not begun does not end.
TEST(CollFailing, ends_an_operation_that_finds_no_memory_for_its_bytes) {
  for (const bool reads : {false, true}) {
    Members members;
    std::vector<Sum> sums(Members::kCount, Sum(5000, 1));
    std::vector<Operation*> ops(Members::kCount);
    for (Sum& sum : sums) sum.args.in = sum.in.data(), sum.args.out = sum.out.data();
    for (Rank rank = 0; rank < Members::kCount; ++rank) {
      members.port(rank).lacks_memory = !reads && rank == 1;
      ASSERT_EQ(members[rank].begin(members.world(rank), sums[rank].args, &ops[rank]), PH_OK);
    }
    if (reads) members.port(1).lacks_memory = true;
    members.run();
    EXPECT_FALSE(members.port(1).lacks_memory);
    EXPECT_EQ(ends_of(members, ops), std::vector<ph_status>(Members::kCount, PH_ERR_MEMORY));
    members.expect_nothing_held();
  }
}

}  // namespace
}  // namespace photon::test
