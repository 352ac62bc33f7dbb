#include "service/coll/collectives.hpp"

#include "coll_unit.hpp"

namespace photon::test {
namespace {

TEST(Collectives, lets_as_many_operations_be_under_way_as_the_window_has_places) {
  Members members;
  auto args = coll_args(PH_COLL_BARRIER);
  args.flags = PH_NO_LCE;
  for (int i = 0; i < 16; ++i) ASSERT_EQ(members[0].begin(members.world(0), args), PH_OK) << i;
  EXPECT_EQ(members[0].begin(members.world(0), args), PH_AGAIN);
  for (Rank rank = 1; rank < Members::kCount; ++rank)
    for (int i = 0; i < 16; ++i) ASSERT_EQ(members[rank].begin(members.world(rank), args), PH_OK);
  members.run();
  EXPECT_EQ(members[0].begin(members.world(0), args), PH_OK);
}

TEST(Collectives, tells_the_end_of_an_operation_once) {
  Members members;
  const auto args = coll_args(PH_COLL_BARRIER);
  for (Rank rank = 0; rank < Members::kCount; ++rank)
    ASSERT_EQ(members[rank].begin(members.world(rank), args), PH_OK);
  EXPECT_EQ(members.port(0).promises(), 1u);
  members.run();
  for (Rank rank = 0; rank < Members::kCount; ++rank) EXPECT_EQ(members.port(rank).told(), 1u);
  members.expect_nothing_held();
}

TEST(Collectives, begins_nothing_without_a_place_for_its_completion) {
  Members members;
  members.port(0).refuse(0);
  const auto args = coll_args(PH_COLL_BARRIER);
  EXPECT_EQ(members[0].begin(members.world(0), args), PH_AGAIN);
  EXPECT_EQ(members[0].held(), 0u);
  for (Rank rank = 0; rank < Members::kCount; ++rank)
    ASSERT_EQ(members[rank].begin(members.world(rank), args), PH_OK);
  members.run();
  members.expect_nothing_held();
}

// A handler is run when the lane is free, and begins the next operation.
TEST(Collectives, runs_a_handler_after_the_end) {
  Members members;
  int runs = 0;
  auto args = coll_args(PH_COLL_BARRIER);
  args.user = &runs;
  args.handler = [](void* user, ph_status status) {
    EXPECT_EQ(status, PH_OK);
    ++*static_cast<int*>(user);
  };
  for (Rank rank = 0; rank < Members::kCount; ++rank) {
    ASSERT_EQ(members[rank].begin(members.world(rank), args), PH_OK);
    EXPECT_EQ(runs, 0);
  }
  members.run();
  EXPECT_EQ(runs, 4);
}

TEST(Collectives, starts_prepared_operations_in_any_order) {
  Members members;
  std::vector<Sum> sums;
  std::array<std::array<Operation*, 3>, Members::kCount> ops{};
  for (Rank rank = 0; rank < Members::kCount; ++rank)
    for (int i = 0; i < 3; ++i) sums.emplace_back(2, 100 * i + static_cast<int>(rank));
  for (Rank rank = 0; rank < Members::kCount; ++rank)
    for (std::size_t i = 0; i < 3; ++i) {
      sums[rank * 3 + i].args.flags = PH_NO_LCE;
      ASSERT_EQ(members[rank].prepare(members.world(rank), sums[rank * 3 + i].args, ops[rank][i]),
                PH_OK);
    }
  for (int round = 0; round < 3; ++round) {
    for (Rank rank = 0; rank < Members::kCount; ++rank)
      for (std::size_t i = 0; i < 3; ++i) {
        const std::size_t which = (i + rank) % 3;
        sums[rank * 3 + which].in[0] += round;
        ASSERT_EQ(members[rank].start(*ops[rank][which]), PH_OK);
        if (i == 0 && rank == 0) {
          EXPECT_EQ(members[0].start(*ops[0][which]), PH_ERR_STATE);
        }
      }
    members.run();
    for (Rank rank = 0; rank < Members::kCount; ++rank)
      for (std::size_t i = 0; i < 3; ++i)
        EXPECT_EQ(sums[rank * 3 + i].out[0],
                  400 * static_cast<std::int64_t>(i) + 6 + 4 * (round * (round + 1) / 2));
  }
  EXPECT_EQ(members[0].free(members.world(0)), PH_ERR_ARGUMENT);
  for (Rank rank = 0; rank < Members::kCount; ++rank)
    for (Operation* op : ops[rank]) EXPECT_EQ(members[rank].free(*op), PH_OK);
  members.expect_nothing_held();
}

// One member prepares and starts before the others have prepared anything.
TEST(Collectives, keeps_what_comes_for_an_operation_that_is_not_prepared_here) {
  Members members;
  std::vector<Sum> sums;
  std::array<Operation*, Members::kCount> ops{};
  for (Rank rank = 0; rank < Members::kCount; ++rank) sums.emplace_back(2, rank);
  for (Rank rank = 0; rank < Members::kCount; ++rank) {
    sums[rank].args.flags = PH_NO_LCE;
    ASSERT_EQ(members[rank].prepare(members.world(rank), sums[rank].args, ops[rank]), PH_OK);
    ASSERT_EQ(members[rank].start(*ops[rank]), PH_OK);
    members.run();
  }
  for (Rank rank = 0; rank < Members::kCount; ++rank) {
    EXPECT_EQ(sums[rank].out[1], 10);
    EXPECT_EQ(members[rank].free(*ops[rank]), PH_OK);
  }
  members.expect_nothing_held();
}

TEST(Collectives, counts_what_senders_have_sent) {
  Members members;
  std::array<std::array<std::int32_t, 12>, Members::kCount> out{};
  std::array<std::array<std::uint64_t, 4>, Members::kCount> counts{};
  std::vector<std::int32_t> in = {1, 2, 3};
  std::array<std::uint64_t, Members::kCount> sent = {3, 0, 1, 2};
  for (Rank rank = 0; rank < Members::kCount; ++rank) {
    auto args = coll_args(PH_COLL_ALLGATHERV);
    counts[rank] = {3, 3, 3, 3};
    args.in = in.data();
    args.out = out[rank].data();
    args.in_counts = &sent[rank];
    args.out_counts = counts[rank].data();
    args.type = PH_INT32;
    args.flags = PH_COUNTS_FROM_SENDERS | PH_NO_LCE;
    ASSERT_EQ(members[rank].begin(members.world(rank), args), PH_OK);
  }
  members.run();
  for (Rank rank = 0; rank < Members::kCount; ++rank)
    for (std::size_t from = 0; from < 4; ++from) {
      EXPECT_EQ(counts[rank][from], sent[from]) << rank << " from " << from;
      for (std::size_t i = 0; i < 3; ++i)
        EXPECT_EQ(out[rank][3 * from + i], i < sent[from] ? in[i] : 0);
    }
  members.expect_nothing_held();
}

// Who waits reads its team when it says how the operation ended.
TEST(Collectives, keeps_a_team_until_who_waits_has_seen_the_end) {
  Members members;
  std::array<Team*, Members::kCount> teams{};
  for (int look = 0; look < 2; ++look) {
    for (Rank rank = 0; rank < Members::kCount; ++rank)
      members[rank].split(members.world(rank), 0, 0, teams[rank]);
    members.run();
  }
  std::array<Operation*, Members::kCount> ops{};
  for (Rank rank = 0; rank < Members::kCount; ++rank)
    ASSERT_EQ(members[rank].begin(*teams[rank], coll_args(PH_COLL_BARRIER), &ops[rank]), PH_OK);
  members.run();
  ASSERT_EQ(ops[0]->state, OpState::over);
  EXPECT_EQ(members[0].free(*teams[0]), PH_ERR_STATE);
  EXPECT_EQ(members[0].done(*ops[0]), PH_OK);
  EXPECT_EQ(members[0].free(*teams[0]), PH_OK);
}

// Its payloads are within its grants, and wait there; then come notes, whose operations are not
// over, and at last there is no place in the window.
TEST(Collectives, a_root_ten_thousand_broadcasts_ahead_costs_its_receivers_no_memory) {
  constexpr int kBroadcasts = 10'000;
  constexpr std::uint64_t kEarlyBytes = 16 << 10, kWindow = 16;
  constexpr std::uint64_t kCharge = 64 + 64;  // of a payload of 8 bytes
  Members members(kEarlyBytes);
  std::vector<std::int64_t> values(kBroadcasts);
  std::array<std::int64_t, Members::kCount> got{};
  auto args = coll_args(PH_COLL_BCAST);
  args.count = 1;
  args.type = PH_INT64;
  args.flags = PH_NO_LCE;
  std::array<int, Members::kCount> begun{};
  std::uint64_t agains = 0;
  while (begun[0] < kBroadcasts) {
    while (begun[0] < kBroadcasts) {
      values[begun[0]] = 7 * begun[0];
      args.out = &values[begun[0]];
      const ph_status status = members[0].begin(members.world(0), args);
      if (status == PH_AGAIN) ++agains;
      if (status != PH_OK) break;
      ++begun[0];
      members.run();
    }
    EXPECT_LE(begun[0] - begun[1], static_cast<int>(kEarlyBytes / kCharge + kWindow));
    for (Rank rank = 1; rank < Members::kCount; ++rank) {
      EXPECT_LE(members[rank].held(), kEarlyBytes / kCharge + kWindow) << "what waits there";
      for (args.out = &got[rank]; begun[rank] < begun[0]; ++begun[rank]) {
        ASSERT_EQ(members[rank].begin(members.world(rank), args), PH_OK);
        members.run();
        ASSERT_EQ(got[rank], 7 * begun[rank]);
      }
    }
  }
  EXPECT_GT(agains, 0u);
  members.run();
  members.expect_nothing_held();
}

}  // namespace
}  // namespace photon::test
