// Windows of one host whose memory no other process reaches, preloaded: the kernel's copies are
// switched off, so memory that cannot be mapped (malloc, static) is served by its owner's thread
// while allocated windows are mapped as ever. The programs are those of the other suites.
#include <gtest/gtest.h>

#include "mpi_job.hpp"

namespace photon::test {
namespace {

class MpiServed : public MpiTest {
 protected:
  static void expect_ok(const std::string& program, int ranks, const std::string& cases) {
    MpiJob job{GetParam(), program, ranks, cases};
    job.setting = kNoCopies;
    MpiTest::expect_ok(job);
  }
};

TEST_P(MpiServed, Epochs) { expect_ok("matrix", 3, "stack"); }
TEST_P(MpiServed, Locks) {
  expect_ok("locks", 2, "exclusive shared_and_exclusive all_and_exclusive two_windows no_check");
}
TEST_P(MpiServed, Types) {
  expect_ok("types", 2,
            "freed_right_after bottom_absolute negative_lower_bound pair_holes zero_size"
            " nested_contiguous");
}
TEST_P(MpiServed, SumsMeetOnOneWord) {
  expect_ok("atomic", 3,
            "contiguous_and_derived bulk_and_small tickets swaps other_elements"
            " unsigned_elements");
}
TEST_P(MpiServed, SumsOfTheOwnerMeet) {
  expect_ok("atomic", 2, "thread_and_origin order_of_calls");
}
TEST_P(MpiServed, TargetThatComputes) { expect_ok("progress", 2, "target_computes"); }
// Each kind of memory is ours, or the tests above would be of MPI's own windows.
TEST_P(MpiServed, WindowsAreOurs) { expect_ok("windows", 2, "flavour_and_info"); }

INSTANTIATE_TEST_SUITE_P(Flavours, MpiServed, mpi_implementations(), flavour_name);

}  // namespace
}  // namespace photon::test
