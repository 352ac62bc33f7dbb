// Ranks that are killed or stopped while they have to do with a lock, preloaded: program kills. The
// job has to stand that: Hydra and Open MPI's mpirun are told so.
#include <gtest/gtest.h>

#include <string>

#include "mpi_job.hpp"

namespace photon::test {
namespace {

constexpr const char* kTaken = "had a lock of rank 0's window; the lock is taken from it";

class MpiLock : public MpiTest {
 protected:
  static MpiJob job_of(int ranks, const std::string& arguments) {
    MpiJob job{GetParam(), "kills", ranks, arguments};
    job.flags = is_hydra(job.flavour) ? "-disable-auto-cleanup" : "--enable-recovery";
    return job;
  }
  // Both survivors and rank 0 come to their ends. How the job ends is up to what started it.
  static std::string output_of(const MpiJob& job, const std::string& name) {
    const CommandResult end = run_mpi(job);
    for (const char* survivor : {"survivor 1: ", "survivor 2: "})
      EXPECT_EQ(count_of(end.output, survivor), 1U) << mpi_command(job) << "\n" << end.output;
    EXPECT_EQ(count_of(end.output, "ok " + name + "\n"), 1U) << mpi_command(job) << "\n"
                                                             << end.output;
    return end.output;
  }
  // So many warnings that a lock was taken.
  static void expect_survival(const MpiJob& job, const std::string& name, std::size_t taken) {
    if (const std::string missing = missing_for(job); !missing.empty()) GTEST_SKIP() << missing;
    const std::string output = output_of(job, name);
    EXPECT_EQ(count_of(output, kTaken), taken) << mpi_command(job) << "\n" << output;
  }
  // On each kind of memory.
  static void expect_survival(const std::string& name, std::size_t taken) {
    for (const char* memory : {" allocated", " malloc"})
      expect_survival(job_of(4, name + memory), name, taken);
  }
  static MpiJob across(const std::string& sides, MpiJob job) {
    job.sides = sides;
    job.pipe = testing::TempDir() + "photon_mpi_" + std::to_string(::getpid());
    return job;
  }
  static void expect_survival_at(const std::string& sides, const std::string& name,
                                 std::size_t taken) {
    expect_survival(across(sides, job_of(4, name + " allocated")), name, taken);
  }
  static void expect_survival_served(const std::string& name, std::size_t taken) {
    MpiJob job = job_of(4, name + " malloc");
    job.setting = kNoCopies;
    expect_survival(job, name, taken);
  }
};

TEST_P(MpiLock, KilledExclusive) { expect_survival("killed_exclusive", 1); }
TEST_P(MpiLock, KilledShared) { expect_survival("killed_shared", 1); }
TEST_P(MpiLock, KilledWaiting) {
  expect_survival("killed_behind_owner", 0);
  expect_survival("killed_behind_sharer", 1);  // its name stood on the lock while it waited
}
TEST_P(MpiLock, HolderNeverMet) { expect_survival("holder_never_met", 1); }
TEST_P(MpiLock, StoppedHolderIsWaitedFor) { expect_survival("stopped_holder", 0); }

// Four of seven ranks a job.
TEST_P(MpiLock, KilledAtRandomMoments) {
  if (const std::string missing = missing_for(job_of(7, "")); !missing.empty())
    GTEST_SKIP() << missing;
  for (int seed = 1; seed <= 5; ++seed) {
    const std::string memory = seed % 2 == 0 ? " malloc " : " allocated ";
    const MpiJob job = job_of(7, "random_moments" + memory + std::to_string(seed));
    // Each has at most the window's lock and that of its sums.
    EXPECT_LE(count_of(output_of(job, "random_moments"), kTaken), 8U);
  }
}

TEST_P(MpiLock, KilledBeforeFence) {
  const std::string name = "killed_before_fence";
  expect_survival(job_of(4, name + " allocated"), name, 0);
  expect_survival_served(name, 0);
}

// Rank 0 is the target, 1 and 2 survive, 3 is killed: at another host than the target, and then at
// the target's, where somebody of the other host asks for the lock.
constexpr const char* kKilledAcross = "aabb";
constexpr const char* kKilledBeside = "abba";

TEST_P(MpiLock, KilledExclusiveAcross) {
  expect_survival_at(kKilledAcross, "killed_exclusive", 1);
  expect_survival_at(kKilledBeside, "killed_exclusive", 1);
}
TEST_P(MpiLock, KilledSharedAcross) { expect_survival_at(kKilledBeside, "killed_shared", 1); }
TEST_P(MpiLock, KilledWaitingAcross) {
  // The target's thread may give it the lock before it hears of its end, and take it back then.
  const std::string name = "killed_behind_owner";
  const MpiJob job = across(kKilledAcross, job_of(4, name + " allocated"));
  if (const std::string missing = missing_for(job); !missing.empty()) GTEST_SKIP() << missing;
  EXPECT_LE(count_of(output_of(job, name), kTaken), 1U);
  expect_survival_at(kKilledAcross, "killed_behind_sharer", 1);
}
TEST_P(MpiLock, HolderNeverMetAcross) {
  expect_survival_at(kKilledAcross, "holder_never_met", 1);
  expect_survival_at(kKilledBeside, "holder_never_met", 1);
}
TEST_P(MpiLock, KilledBeforeFenceAcross) {
  expect_survival_at(kKilledAcross, "killed_before_fence", 0);
}
TEST_P(MpiLock, StoppedHolderAcrossIsWaitedFor) {
  expect_survival_at(kKilledAcross, "stopped_holder", 0);
}
TEST_P(MpiLock, KilledAtRandomMomentsAcross) {
  const MpiJob job = across("aabbaab", job_of(7, "random_moments allocated 6"));
  if (const std::string missing = missing_for(job); !missing.empty()) GTEST_SKIP() << missing;
  EXPECT_LE(count_of(output_of(job, "random_moments"), kTaken), 8U);
}

// Memory of one host that the target's thread serves; its locks are taken as ever.
TEST_P(MpiLock, KilledInServedMemory) {
  expect_survival_served("killed_exclusive", 1);
  expect_survival_served("killed_shared", 1);
  expect_survival_served("killed_behind_owner", 0);
  MpiJob job = job_of(5, "random_moments malloc 7");
  job.setting = kNoCopies;
  if (const std::string missing = missing_for(job); !missing.empty()) GTEST_SKIP() << missing;
  EXPECT_LE(count_of(output_of(job, "random_moments"), kTaken), 4U);
}

INSTANTIATE_TEST_SUITE_P(Flavours, MpiLock, mpi_implementations(), flavour_name);

}  // namespace
}  // namespace photon::test
