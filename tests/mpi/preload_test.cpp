// The preloaded library beside others: another MPI than its own, programs without MPI, tools of
// PMPI; and which thread it calls MPI on. Programs windows, matrix, progress, tool_chain, leaving,
// large_counts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

#include "mpi_job.hpp"

namespace photon::test {
namespace {

// The job's lines of that tool, one a rank, are all the same.
void expect_lines(const MpiJob& job, const std::string& line) {
  const CommandResult end = run_mpi(job);
  EXPECT_EQ(end.exit_status, 0) << mpi_command(job) << "\n" << end.output;
  EXPECT_EQ(count_of(end.output, line + "\n"), static_cast<std::size_t>(job.ranks)) << end.output;
}

class MpiPreload : public MpiTest {
 protected:
  static std::string ours() { return mpi_library(GetParam()); }
  static std::string tool(const std::string& name) { return mpi_tool(name, GetParam()); }
};

TEST_P(MpiPreload, WrongAbi) {
  const std::string cases = "delete_callback units_and_sizes subcommunicator one_rank";
  MpiJob job{GetParam(), "windows", 2, cases};
  job.is_preloaded = false;
  if (const std::string missing = missing_for(job); !missing.empty()) GTEST_SKIP() << missing;
  const CommandResult without = run_mpi(job, "2>/dev/null");
  ASSERT_EQ(without.exit_status, 0) << without.output;
  ASSERT_EQ(count_of(without.output, "ok "), 4U) << without.output;
  const std::vector<std::string> others = libraries_of_others(GetParam());
  if (others.empty()) GTEST_SKIP() << "no library for another ABI";
  job.is_preloaded = true;
  job.told = "plain";
  for (const std::string& other : others) {
    job.libraries = other;
    const CommandResult with = run_mpi(job, "2>/dev/null");
    EXPECT_EQ(with.exit_status, 0) << run_mpi(job).output;
    EXPECT_EQ(with.output, without.output);
    // One line a rank, and nothing else.
    const CommandResult words = run_mpi(job, "2>&1 >/dev/null");
    EXPECT_EQ(count_of(words.output, "photon: "), 2U) << words.output;
    EXPECT_EQ(count_of(words.output, "it stands aside\n"), 2U) << words.output;
  }
}

TEST_P(MpiPreload, ProgramsWithoutMpi) {
  if (!is_file(ours())) GTEST_SKIP() << "no " << ours();
  for (const char* bind : {"", "LD_BIND_NOW=1 "})
    for (const char* program :
         {"/bin/true", "/bin/sh -c \"echo $((6 * 7))\"", "bash -c \"ls -d / | cat\""}) {
      const CommandResult without = run_command(program);
      const std::string line = std::string(bind) + "LD_PRELOAD=" + ours() + " " + program;
      const CommandResult with = run_command(line + " 2>&1");
      EXPECT_EQ(without.exit_status, 0) << program;
      EXPECT_EQ(with.exit_status, 0) << line;
      EXPECT_EQ(with.output, without.output) << line;
    }
}

// As users put it: what starts the job is preloaded as well.
TEST_P(MpiPreload, BeforeMpiexec) {
  MpiJob job{GetParam(), "windows", 2, "delete_callback"};
  if (const std::string missing = missing_for(job); !missing.empty()) GTEST_SKIP() << missing;
  job.is_preloaded = false;
  job.told = "ours";
  for (const char* bind : {"", "LD_BIND_NOW=1 "}) {
    const CommandResult end = run_command(std::string(bind) + "LD_PRELOAD=" + ours() + " " +
                                          mpi_command(job) + " </dev/null 2>&1");
    EXPECT_EQ(end.exit_status, 0) << end.output;
    EXPECT_EQ(end.output, "ok delete_callback\n");
  }
}

// Behind ours a tool sees what is MPI's; before ours it sees all, and hides it from ours.
TEST_P(MpiPreload, OtherToolInTheChain) {
  MpiJob job{GetParam(), "tool_chain", 2, "two_windows"};
  if (const std::string missing = missing_for(job); !missing.empty()) GTEST_SKIP() << missing;
  job.libraries = ours() + ":" + tool("counting_tool");
  expect_lines(job, "tool: 1 inits, 1 creates, 3 puts");
  job.libraries = tool("counting_tool") + ":" + ours();
  job.told = "plain";
  expect_lines(job, "tool: 1 inits, 2 creates, 8 puts");
}

TEST_P(MpiPreload, OperationThatGoesPast) {
  MpiJob job{GetParam(), "tool_chain", 2, "refused_put"};
  if (const std::string missing = missing_for(job); !missing.empty()) GTEST_SKIP() << missing;
  job.libraries = tool("put_tool") + ":" + ours();
  expect_lines(job, "put_tool: 1 puts");
}

// Of an MPI whose standard is the fourth.
TEST_P(MpiPreload, LargeCountForms) {
  expect_ok("large_counts", 2, "window_forms operations too_many");
}
TEST_P(MpiPreload, LargeUnits) {
  if (GetParam() == "mpi5") GTEST_SKIP() << "MPICH 5.0.2 ends at a unit that no int holds";
  expect_ok("large_counts", 2, "large_units");
}

TEST_P(MpiPreload, WindowFreedInFinalize) { expect_ok("leaving", 2, "window_in_finalize"); }
TEST_P(MpiPreload, FinalizeByOtherName) { expect_ok("leaving", 2, "by_other_name"); }

// As MPI alone has it: the job ends, with that status.
TEST_P(MpiPreload, ExitWithoutFinalize) {
  const MpiJob job{GetParam(), "leaving", 2, "exit_of_one"};
  if (const std::string missing = missing_for(job); !missing.empty()) GTEST_SKIP() << missing;
  const CommandResult end = run_mpi(job);
  EXPECT_EQ(end.exit_status, 3) << end.output;
  EXPECT_EQ(count_of(end.output, "met by one"), 0U) << end.output;
}

INSTANTIATE_TEST_SUITE_P(Flavours, MpiPreload, mpi_flavours(), flavour_name);

class MpiThread : public MpiTest {
 protected:
  static MpiJob watched(const std::string& program, int ranks, const std::string& arguments) {
    MpiJob job{GetParam(), program, ranks, arguments};
    job.libraries = mpi_library(job.flavour) + ":" + mpi_tool("one_thread", job.flavour);
    return job;
  }
};

// The number that stands before the words, each time the least of them.
long least_before(const std::string& text, const std::string& words) {
  long least = -1;
  for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) {
    std::size_t begin = at;
    while (begin > 0 && std::isdigit(static_cast<unsigned char>(text[begin - 1])) != 0) --begin;
    const long value = std::stol(text.substr(begin, at - begin));
    least = least < 0 ? value : std::min(least, value);
  }
  return least;
}

// It has stood there: making one window takes tens of calls.
CommandResult expect_one_thread(const MpiJob& job) {
  const CommandResult end = run_mpi(job);
  EXPECT_EQ(end.exit_status, 0) << mpi_command(job) << "\n" << end.output;
  EXPECT_EQ(count_of(end.output, "one_thread: "), static_cast<std::size_t>(job.ranks));
  EXPECT_GT(least_before(end.output, " calls, "), 50) << end.output;
  return end;
}

TEST_P(MpiThread, SingleMakesNoMpiCallOnOurThread) {
  for (const MpiJob& job :
       {watched("matrix", 2, "fence lock all post"), watched("am", 3, "calls computing hops"),
        watched("progress", 3, "target_in_recv target_computes"),
        watched("progress", 2, "fence_serves_rendezvous lock_serves_rendezvous")}) {
    if (const std::string missing = missing_for(job); !missing.empty()) GTEST_SKIP() << missing;
    expect_one_thread(job);
  }
}

// There is a thread of ours, which serves: such a job without windows has fewer.
TEST_P(MpiThread, SingleMakesNoMpiCallOnTheThreadThatServes) {
  MpiJob across = watched("matrix", 2, "fence lock all post stack");
  across.sides = "ab";
  MpiJob served = watched("matrix", 2, "stack");
  served.setting = kNoCopies;
  if (const std::string missing = missing_for(across); !missing.empty()) GTEST_SKIP() << missing;
  for (const MpiJob& job : {across, served}) {
    const long with = least_before(expect_one_thread(job).output, " threads\n");
    MpiJob idle = job;
    idle.program = "leaving";
    idle.arguments = "no_window";
    const CommandResult end = run_mpi(idle);
    const long without = least_before(end.output, " threads\n");
    EXPECT_GT(without, 0) << end.output;
    EXPECT_GT(with, without) << mpi_command(job);
  }
}

// Or those above would say nothing.
TEST_P(MpiThread, SecondOneIsFound) {
  const MpiJob job = watched("tool_chain", 2, "second_thread");
  if (const std::string missing = missing_for(job); !missing.empty()) GTEST_SKIP() << missing;
  const CommandResult end = run_mpi(job);
  EXPECT_NE(end.exit_status, 0);
  EXPECT_NE(end.output.find("PMPI_Type_size comes from another thread"), std::string::npos)
      << end.output;
}

// Without windows, and with windows of one host.
TEST_P(MpiThread, NoThreadMore) {
  for (const auto& [program, arguments] :
       {std::pair("leaving", "no_window"), std::pair("tool_chain", "two_windows")}) {
    const MpiJob job = watched(program, 2, arguments);
    if (const std::string missing = missing_for(job); !missing.empty()) GTEST_SKIP() << missing;
    MpiJob plain = job;
    plain.told = "plain";
    plain.libraries = mpi_tool("one_thread", job.flavour);
    const std::string without = run_mpi(plain).output;
    const std::string with = run_mpi(job).output;
    const long threads = least_before(without, " threads\n");
    EXPECT_GT(threads, 0) << without;
    EXPECT_EQ(least_before(with, " threads\n"), threads) << with;
  }
}

INSTANTIATE_TEST_SUITE_P(Flavours, MpiThread, mpi_flavours(), flavour_name);

}  // namespace
}  // namespace photon::test
