// Epochs of one-sided MPI, preloaded: programs matrix, pscw, locks, progress and threads.
#include <gtest/gtest.h>

#include "mpi_job.hpp"

namespace photon::test {
namespace {

class MpiMatrix : public MpiTest {};

TEST_P(MpiMatrix, Fences) { expect_ok("matrix", 2, "fence"); }
TEST_P(MpiMatrix, Posts) { expect_ok("matrix", 2, "post"); }
TEST_P(MpiMatrix, Locks) { expect_ok("matrix", 2, "lock"); }
TEST_P(MpiMatrix, LockAlls) { expect_ok("matrix", 2, "all"); }
TEST_P(MpiMatrix, OnTheStack) { expect_ok("matrix", 3, "stack"); }
TEST_P(MpiMatrix, FourRanks) { expect_ok("matrix", 4, "stack"); }

INSTANTIATE_TEST_SUITE_P(Flavours, MpiMatrix, mpi_flavours(), flavour_name);

class MpiPscw : public MpiTest {};

TEST_P(MpiPscw, NothingBeforePost) { expect_ok("pscw", 2, "nothing_before_post"); }
TEST_P(MpiPscw, NothingBeforePostOfThree) { expect_ok("pscw", 3, "nothing_before_post"); }
TEST_P(MpiPscw, GroupsInRounds) { expect_ok("pscw", 4, "groups_in_rounds"); }
TEST_P(MpiPscw, OriginsAndTargets) { expect_ok("pscw", 3, "origins_and_targets"); }
TEST_P(MpiPscw, MixedEpochs) { expect_ok("pscw", 2, "mixed_epochs"); }

INSTANTIATE_TEST_SUITE_P(Flavours, MpiPscw, mpi_flavours(), flavour_name);

class MpiLocks : public MpiTest {};

TEST_P(MpiLocks, Exclude) {
  expect_ok("locks", 2, "exclusive shared_and_exclusive all_and_exclusive two_windows");
}
TEST_P(MpiLocks, Share) { expect_ok("locks", 3, "shared_together null_target"); }
TEST_P(MpiLocks, NoCheck) { expect_ok("locks", 2, "no_check"); }
TEST_P(MpiLocks, SeveralTargets) { expect_ok("locks", 3, "several_targets"); }
TEST_P(MpiLocks, FourRanksFinish) { expect_ok("locks", 4, "everyone_finishes exclusive"); }

INSTANTIATE_TEST_SUITE_P(Flavours, MpiLocks, mpi_flavours(), flavour_name);

class MpiProgress : public MpiTest {};

TEST_P(MpiProgress, FenceServesRendezvousOfMpi) {
  expect_ok("progress", 2, "fence_serves_rendezvous");
}
TEST_P(MpiProgress, LockServesRendezvousOfMpi) {
  expect_ok("progress", 2, "lock_serves_rendezvous");
}
TEST_P(MpiProgress, PostAndStartServeRendezvousOfMpi) {
  expect_ok("progress", 2, "wait_serves_rendezvous start_serves_rendezvous");
}
TEST_P(MpiProgress, TargetInRecvIsServed) { expect_ok("progress", 3, "target_in_recv"); }
TEST_P(MpiProgress, TargetThatComputesIsServed) { expect_ok("progress", 2, "target_computes"); }

INSTANTIATE_TEST_SUITE_P(Flavours, MpiProgress, mpi_flavours(), flavour_name);

class MpiThreads : public MpiTest {};

TEST_P(MpiThreads, OneWindow) { expect_ok("threads", 2, "one_window"); }
TEST_P(MpiThreads, DifferentTargets) { expect_ok("threads", 2, "different_targets"); }
TEST_P(MpiThreads, SeveralWindows) { expect_ok("threads", 2, "several_windows"); }

INSTANTIATE_TEST_SUITE_P(Flavours, MpiThreads, mpi_flavours(), flavour_name);

}  // namespace
}  // namespace photon::test
