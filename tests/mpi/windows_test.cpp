// Windows of one-sided MPI, preloaded, and what is wrong with calls: programs windows and errors.
#include <gtest/gtest.h>

#include "mpi_job.hpp"

namespace photon::test {
namespace {

class MpiWin : public MpiTest {};

TEST_P(MpiWin, FlavourAndInfo) { expect_ok("windows", 2, "flavour_and_info"); }
TEST_P(MpiWin, SharedQuery) { expect_ok("windows", 2, "shared_query"); }
TEST_P(MpiWin, UserDeleteCallbackSeesWindow) { expect_ok("windows", 2, "delete_callback"); }
TEST_P(MpiWin, DifferentUnitsAndSizes) { expect_ok("windows", 3, "units_and_sizes"); }
TEST_P(MpiWin, SubcommunicatorRanks) { expect_ok("windows", 4, "subcommunicator"); }
TEST_P(MpiWin, AllocateInALoop) { expect_ok("windows", 2, "allocate_in_a_loop"); }
TEST_P(MpiWin, LargerThanDefaultArena) { expect_ok("windows", 2, "larger_than_arena"); }
TEST_P(MpiWin, OneRank) { expect_ok("windows", 1, "one_rank"); }
TEST_P(MpiWin, OneRankBesideOthers) { expect_ok("windows", 2, "one_rank"); }

INSTANTIATE_TEST_SUITE_P(Flavours, MpiWin, mpi_flavours(), flavour_name);

class MpiErrors : public MpiTest {};

TEST_P(MpiErrors, OutOfRange) { expect_ok("errors", 2, "out_of_range"); }
TEST_P(MpiErrors, OutsideEpochs) { expect_ok("errors", 2, "outside_epochs"); }
TEST_P(MpiErrors, WrongLocks) { expect_ok("errors", 2, "wrong_locks"); }
TEST_P(MpiErrors, WrongPosts) { expect_ok("errors", 2, "wrong_posts"); }
TEST_P(MpiErrors, WrongOps) { expect_ok("errors", 2, "wrong_ops"); }
TEST_P(MpiErrors, WrongAsserts) { expect_ok("errors", 2, "wrong_asserts"); }
TEST_P(MpiErrors, NullWindow) { expect_ok("errors", 2, "null_window"); }

INSTANTIATE_TEST_SUITE_P(Flavours, MpiErrors, mpi_flavours(), flavour_name);

}  // namespace
}  // namespace photon::test
