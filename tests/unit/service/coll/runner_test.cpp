#include "service/coll/runner.hpp"

#include "coll_unit.hpp"

namespace photon::test {
namespace {

// Sums of all four members: the one at `late` begins when all others have said what they can.
void expect_sum(Members& members, std::uint64_t count, Rank late) {
  std::vector<Sum> sums;
  for (Rank rank = 0; rank < Members::kCount; ++rank) sums.emplace_back(count, 10 * rank);
  std::array<Operation*, Members::kCount> ops{};
  const auto begin = [&](Rank rank) {
    ASSERT_EQ(members[rank].begin(members.world(rank), sums[rank].args, &ops[rank]), PH_OK);
  };
  for (Rank rank = 0; rank < Members::kCount; ++rank)
    if (rank != late) begin(rank);
  members.run();
  begin(late);
  members.run();
  for (Rank rank = 0; rank < Members::kCount; ++rank) {
    ASSERT_EQ(ops[rank]->state, OpState::over) << rank;
    EXPECT_EQ(members[rank].done(*ops[rank]), PH_OK);
    for (std::uint64_t i = 0; i < count; ++i)
      ASSERT_EQ(sums[rank].out[i], 60 + 4 * static_cast<std::int64_t>(i)) << rank << ", " << i;
  }
  members.expect_nothing_held();
}

TEST(CollRunner, adds_up_whoever_begins_last_and_whatever_the_size) {
  for (const std::uint64_t count : {0, 1, 4, 5, 100, 5000})
    for (Rank late = 0; late < Members::kCount; ++late) {
      Members members;
      expect_sum(members, count, late);
      expect_sum(members, count, (late + 1) % Members::kCount);
    }
}

TEST(CollRunner, cuts_long_folds_in_pieces) {
  Members members;
  expect_sum(members, 100'000, 0);
}

// A grant of 4 KiB: most of a thousand small messages are read instead of carried.
TEST(CollRunner, needs_no_grant_to_come_to_an_end) {
  Members members(4096);
  auto args = coll_args(PH_COLL_BCAST);
  std::vector<std::int64_t> value(Members::kCount * 64);
  std::vector<Operation*> ops;
  args.count = 1;
  args.type = PH_INT64;
  for (int round = 0; round < 16; ++round) {
    value[static_cast<std::size_t>(round)] = round;
    args.out = &value[static_cast<std::size_t>(round)];
    Operation* op = nullptr;
    ASSERT_EQ(members[0].begin(members.world(0), args, &op), PH_OK);
    ops.push_back(op);
  }
  members.run();
  for (Rank rank = 1; rank < Members::kCount; ++rank)
    for (int round = 0; round < 16; ++round) {
      args.out = &value[rank * 64 + static_cast<std::size_t>(round)];
      Operation* op = nullptr;
      ASSERT_EQ(members[rank].begin(members.world(rank), args, &op), PH_OK);
      members.run();
      ASSERT_EQ(op->state, OpState::over);
      ASSERT_EQ(members[rank].done(*op), PH_OK);
      EXPECT_EQ(value[rank * 64 + static_cast<std::size_t>(round)], round);
    }
  for (Operation* op : ops) {
    ASSERT_EQ(op->state, OpState::over);
    EXPECT_EQ(members[0].done(*op), PH_OK);
  }
  members.expect_nothing_held();
}

TEST(CollRunner, reads_again_what_found_no_room_for_its_read) {
  Members members;
  members.port(1).refuse(0, 3);
  expect_sum(members, 5000, 2);
}

}  // namespace
}  // namespace photon::test
