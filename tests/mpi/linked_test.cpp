// The names MPIX_* of programs that are linked with libphoton_mpi and not preloaded: the programs
// of tests/mpi/programs with these names (tests/mpi/linked/names.h), one_job, and the example.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "mpi_job.hpp"

namespace photon::test {
namespace {

class MpiLinked : public MpiTest {
 protected:
  static MpiJob linked(const std::string& program, int ranks, const std::string& cases) {
    MpiJob job{GetParam(), "linked/" + program, ranks, cases};
    job.is_preloaded = false;
    job.told = "ours";
    return job;
  }
};

TEST_P(MpiLinked, Matrix) { expect_ok(linked("matrix", 2, "fence post lock all")); }
TEST_P(MpiLinked, Windows) {
  expect_ok(linked("windows", 2, "flavour_and_info shared_query delete_callback"));
  expect_ok(linked("windows", 3, "units_and_sizes"));
}
TEST_P(MpiLinked, Errors) { expect_ok(linked("errors", 2, "out_of_range outside_epochs")); }
TEST_P(MpiLinked, Atomics) { expect_ok(linked("atomic", 3, "tickets swaps other_elements")); }
TEST_P(MpiLinked, Threads) { expect_ok(linked("threads", 2, "one_window")); }
TEST_P(MpiLinked, ActiveMessages) { expect_ok(linked("am", 2, "calls hops communicators")); }
TEST_P(MpiLinked, LargeCountForms) {
  expect_ok(linked("large_counts", 2, "window_forms operations too_many"));
}

TEST_P(MpiLinked, BothNamesInOneProgram) {
  MpiJob job = linked("one_job", 2, "one_job passes_on memory init_again");
  job.told = "plain";
  expect_ok(job);
}
// The preloaded library serves both names, so there is one job.
TEST_P(MpiLinked, PreloadedAsWell) {
  MpiJob job = linked("one_job", 2, "one_job passes_on memory init_again");
  job.is_preloaded = true;
  expect_ok(job);
}
// One for another MPI, before it, passes all names on.
TEST_P(MpiLinked, BehindAnotherAbi) {
  MpiJob job = linked("one_job", 2, "one_job passes_on memory init_again");
  job.is_preloaded = true;
  job.told = "plain";
  const std::vector<std::string> others = libraries_of_others(GetParam());
  if (others.empty()) GTEST_SKIP() << "no library for another ABI";
  for (const std::string& other : others) {
    job.libraries = other;
    expect_ok(job);
  }
}

TEST_P(MpiLinked, TicketsOfTheExample) {
  MpiJob job = linked("mpi_tickets", 3, "");
  if (const std::string missing = missing_for(job); !missing.empty()) GTEST_SKIP() << missing;
  const CommandResult end = run_mpi(job);
  EXPECT_EQ(end.exit_status, 0) << end.output;
  EXPECT_NE(end.output.find("2 ranks drew 2000 tickets"), std::string::npos) << end.output;
  EXPECT_EQ(end.output.find("MPI's own"), std::string::npos) << end.output;
}

TEST_P(MpiLinked, SearchOfTheExample) {
  MpiJob job = linked("mpi_bfs", 3, "");
  if (const std::string missing = missing_for(job); !missing.empty()) GTEST_SKIP() << missing;
  const CommandResult end = run_mpi(job);
  EXPECT_EQ(end.exit_status, 0) << end.output;
  EXPECT_NE(end.output.find("the tree is right"), std::string::npos) << end.output;
}

INSTANTIATE_TEST_SUITE_P(Flavours, MpiLinked, mpi_flavours(), flavour_name);

}  // namespace
}  // namespace photon::test
