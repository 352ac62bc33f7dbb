// Four members that share memory, and operations that are small enough for lines.
// Owner: the test. Threads: one.
#pragma once

#include "coll_unit.hpp"

namespace photon::test {

inline void share_all(Members& members) {
  for (Rank rank = 0; rank < Members::kCount; ++rank) members.port(rank).shares = true;
}

// One operation of each member.
struct Round {
  std::array<Operation*, Members::kCount> ops{};

  ph_status begin(Members& members, Rank rank, const ph_coll_args& args) {
    return members[rank].begin(members.world(rank), args, &ops[rank]);
  }
  bool is_over(Rank rank) const { return ops[rank]->state == OpState::over; }
  ph_status done(Members& members, Rank rank) {
    EXPECT_TRUE(is_over(rank)) << rank;
    return members[rank].done(*ops[rank]);
  }
};

// A broadcast of one integer, or of more, from member 0.
struct Cast {
  explicit Cast(std::int64_t first = 0, std::uint64_t count = 1)
      : value(count, first), args(coll_args(PH_COLL_BCAST)) {
    args.out = value.data();
    args.count = count;
    args.type = PH_INT64;
  }
  std::vector<std::int64_t> value;
  ph_coll_args args;
};

// A sum of all members, the last of whom begins when nobody else can go on.
inline void expect_sum_by_lines(Members& members, std::uint64_t count, Rank late) {
  std::vector<Sum> sums;
  for (Rank rank = 0; rank < Members::kCount; ++rank) sums.emplace_back(count, 10 * rank);
  Round round;
  for (Rank rank = 0; rank < Members::kCount; ++rank) {
    if (rank == late) continue;
    ASSERT_EQ(round.begin(members, rank, sums[rank].args), PH_OK);
  }
  members.run();
  ASSERT_EQ(round.begin(members, late, sums[late].args), PH_OK);
  members.run();
  for (Rank rank = 0; rank < Members::kCount; ++rank) {
    ASSERT_EQ(round.done(members, rank), PH_OK);
    for (std::uint64_t i = 0; i < count; ++i)
      ASSERT_EQ(sums[rank].out[i], 60 + 4 * static_cast<std::int64_t>(i)) << rank << ", " << i;
  }
  members.expect_nothing_held();
}

}  // namespace photon::test
