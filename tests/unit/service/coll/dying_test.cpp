// Members that die in the middle of an operation, at every step of it.
#include "coll_unit.hpp"

namespace photon::test {
namespace {

struct OneRun {
  explicit OneRun(ph_coll_kind kind, std::uint64_t count) : sums(Members::kCount, Sum(count, 1)) {
    for (Rank rank = 0; rank < Members::kCount; ++rank) {
      Sum& sum = sums[rank];
      sum.args.in = kind == PH_COLL_BCAST ? nullptr : sum.in.data();
      sum.args.out = sum.out.data();
      sum.args.kind = kind;
      if (kind == PH_COLL_BCAST) sum.args.op = static_cast<ph_op>(0);
      if (kind == PH_COLL_BCAST && rank == 0) sum.out = sum.in;
      EXPECT_EQ(members[rank].begin(members.world(rank), sum.args, &ops[rank]), PH_OK);
    }
  }
  bool is_over(Rank rank) const { return ops[rank]->state == OpState::over; }
  // The value at every place of a member that was told PH_OK.
  void expect_right(Rank rank, const std::string& how) const {
    const std::int64_t times = sums[rank].args.kind == PH_COLL_BCAST ? 1 : Members::kCount;
    for (std::size_t i = 0; i < sums[rank].out.size(); ++i)
      ASSERT_EQ(sums[rank].out[i], times * (1 + static_cast<std::int64_t>(i))) << how << ", " << i;
  }

  Members members;
  std::vector<Sum> sums;
  std::array<Operation*, Members::kCount> ops{};
};

// So many messages and reads go, in turn. False: there are no more.
bool go_some(OneRun& run, std::size_t steps) {
  for (std::size_t at = 0; at < steps;) {
    const std::size_t before = at;
    for (Rank rank = 0; rank < Members::kCount && at < steps; ++rank) {
      run.members.port(rank).run_turns();
      at += run.members.step(rank);
    }
    if (at == before) return false;
  }
  return true;
}

// The dead member has said where its bytes are, or what it has, and has not read all it would.
// clang-format off
TEST(CollDying,
     a_member_that_dies_between_its_line_and_its_last_read_fails_no_completed_member_and_hangs_none)
{
  // clang-format on
  int completed = 0;
  int read_on = 0;
  for (const ph_coll_kind kind : {PH_COLL_ALLREDUCE, PH_COLL_BCAST})
    for (const std::uint64_t count : {3, 100, 5000})
      for (const ph_status why : {PH_ERR_PEER, PH_ERR_DEPARTED})
        for (Rank dead = 0; dead < Members::kCount; ++dead)
          for (std::size_t steps = 1;; ++steps) {
            OneRun run(kind, count);
            if (!go_some(run, steps)) break;
            const std::string how = "rank " + std::to_string(dead) + " dies at " +
                                    std::to_string(steps) + " of kind " + std::to_string(kind);
            read_on += run.members.port(dead).gets() != 0;
            std::array<bool, Members::kCount> was_over{};
            for (Rank rank = 0; rank < Members::kCount; ++rank) was_over[rank] = run.is_over(rank);
            run.members.kill(dead, why);
            run.members.run();
            for (Rank rank = 0; rank < Members::kCount; ++rank) {
              if (rank == dead) continue;
              ASSERT_TRUE(run.is_over(rank)) << how << ": rank " << rank << " hangs";
              const ph_status status = run.members[rank].done(*run.ops[rank]);
              if (was_over[rank]) {
                ASSERT_EQ(status, PH_OK) << how << ", rank " << rank << " had completed";
                ++completed;
              }
              ASSERT_TRUE(status == PH_OK || status == PH_ERR_PEER || status == PH_ERR_DEPARTED)
                  << how << ": " << status;
              if (status == PH_OK) run.expect_right(rank, how);
              EXPECT_TRUE(run.members.port(rank).holds_nothing()) << how;
            }
            if (HasFatalFailure()) return;
          }
  EXPECT_GT(completed, 100);
  EXPECT_GT(read_on, 100) << "there were reads that had not ended";
}

}  // namespace
}  // namespace photon::test
