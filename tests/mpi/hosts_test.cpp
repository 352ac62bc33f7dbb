// Windows of one-sided MPI whose members are on two hosts, preloaded: who cannot reach a target's
// memory asks the target's thread. The programs are those of the other suites. The ranks are at two
// network namespaces, by turns ("ab") or two by two ("aabb"), where those of one host share memory.
#include <gtest/gtest.h>

#include "mpi_job.hpp"

namespace photon::test {
namespace {

class MpiHosts : public MpiTest {
 protected:
  static void expect_ok(const std::string& program, int ranks, const std::string& cases,
                        const std::string& sides = "ab") {
    MpiJob job{GetParam(), program, ranks, cases};
    job.sides = sides;
    MpiTest::expect_ok(job);
  }
};

TEST_P(MpiHosts, Epochs) { expect_ok("matrix", 2, "fence post lock all stack"); }
TEST_P(MpiHosts, EpochsOfFour) { expect_ok("matrix", 4, "stack"); }
TEST_P(MpiHosts, EpochsOfTwoAndTwo) { expect_ok("matrix", 4, "stack", "aabb"); }

TEST_P(MpiHosts, PostAndStart) { expect_ok("pscw", 2, "nothing_before_post mixed_epochs"); }
TEST_P(MpiHosts, PostAndStartOfTwoAndTwo) {
  expect_ok("pscw", 4, "groups_in_rounds origins_and_targets", "aabb");
}

TEST_P(MpiHosts, LocksExclude) {
  expect_ok("locks", 2, "exclusive shared_and_exclusive all_and_exclusive two_windows no_check");
}
TEST_P(MpiHosts, LocksOfTwoAndOne) {
  expect_ok("locks", 3, "shared_together null_target several_targets", "aab");
}
TEST_P(MpiHosts, LocksOfTwoAndTwo) { expect_ok("locks", 4, "everyone_finishes", "aabb"); }

TEST_P(MpiHosts, Progress) {
  expect_ok("progress", 2,
            "fence_serves_rendezvous lock_serves_rendezvous wait_serves_rendezvous"
            " start_serves_rendezvous target_computes");
}
TEST_P(MpiHosts, TargetInRecvIsServed) { expect_ok("progress", 3, "target_in_recv", "abb"); }

TEST_P(MpiHosts, Threads) {
  MpiJob job{GetParam(), "threads", 2, "one_window different_targets several_windows"};
  job.sides = "ab";
  if (const std::string missing = missing_for(job); !missing.empty()) GTEST_SKIP() << missing;
  MpiJob plain = job;
  plain.is_preloaded = false;
  plain.arguments = "one_window";
  const std::string refusal = "does not support MPI_THREAD_MULTIPLE";
  if (job.flavour == "openmpi" && count_of(run_mpi(plain).output, refusal) > 0)
    GTEST_SKIP() << "Open MPI itself " << refusal << " in windows between hosts here";
  MpiTest::expect_ok(job);
}

TEST_P(MpiHosts, Types) {
  expect_ok("types", 2,
            "freed_right_after bottom_absolute negative_lower_bound pair_holes zero_size"
            " nested_contiguous");
}
TEST_P(MpiHosts, LargeTypes) { expect_ok("types_large", 2, "put get accumulate get_accumulate"); }

TEST_P(MpiHosts, Errors) {
  expect_ok("errors", 2,
            "out_of_range outside_epochs wrong_locks wrong_posts wrong_ops wrong_asserts"
            " null_window");
}

TEST_P(MpiHosts, SumsMeetOnOneWord) {
  expect_ok("atomic", 3,
            "contiguous_and_derived bulk_and_small tickets swaps other_elements"
            " unsigned_elements",
            "abb");
}
TEST_P(MpiHosts, SumsOfTheOwnerMeet) { expect_ok("atomic", 2, "thread_and_origin order_of_calls"); }

TEST_P(MpiHosts, Windows) {
  expect_ok("windows", 2,
            "flavour_and_info delete_callback allocate_in_a_loop larger_than_arena one_rank");
}
TEST_P(MpiHosts, WindowsOfTwoAndTwo) {
  expect_ok("windows", 4, "units_and_sizes subcommunicator", "aabb");
}
TEST_P(MpiHosts, SharedQueryIsOfOneHost) {
  expect_ok("windows", 2, "shared_query");
  expect_ok("windows", 4, "shared_query", "aabb");
}

INSTANTIATE_TEST_SUITE_P(Flavours, MpiHosts, mpi_implementations(), flavour_name);

}  // namespace
}  // namespace photon::test
