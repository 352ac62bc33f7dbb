// A job of a program of tests/mpi/programs: which MPI starts it, with how many ranks, whether our
// library stands before MPI in them, and how it ended. Ranks alone are preloaded, not what starts
// them. Owner: one test.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "command.hpp"

namespace photon::test {

struct MpiJob {
  std::string flavour;  // mpich, openmpi, mpi5
  std::string program;  // its file without ".c"
  int ranks = 2;
  std::string arguments;     // behind "ours" or "plain"
  bool is_preloaded = true;  // else MPI's own windows
  std::string told{};        // ours, plain: whose windows it is to expect; none: as is preloaded
  std::string libraries{};   // to preload, as LD_PRELOAD has them; none: ours
  std::string flags{};       // of what starts the job
};

inline std::string mpi_library(const std::string& flavour) {
  return std::string(PHOTON_LIB_DIR) + "/libphoton_pmpi-" + flavour + ".so";
}

// Of tests/mpi/tools.
inline std::string mpi_tool(const std::string& name, const std::string& flavour) {
  return std::string(PHOTON_MPI_DIR) + "/lib" + name + "-" + flavour + ".so";
}

inline std::string mpi_program(const MpiJob& job) {
  return std::string(PHOTON_MPI_DIR) + "/" + job.program + "-" + job.flavour;
}

inline bool is_file(const std::string& path) { return ::access(path.c_str(), R_OK) == 0; }

// Empty: all that the job needs is here; else what is missing.
inline std::string missing_for(const MpiJob& job) {
  if (!is_file(mpi_program(job))) return "no program of " + job.flavour + " was built here";
  if (job.is_preloaded && !is_file(mpi_library(job.flavour)))
    return "no " + mpi_library(job.flavour);
  return "";
}

// MPICH's launcher starts it: the MPI with the standard's ABI is MPICH's as well.
inline bool is_hydra(const std::string& flavour) { return flavour != "openmpi"; }

inline std::string mpi_command(const MpiJob& job) {
  const std::string libraries = job.libraries.empty() ? mpi_library(job.flavour) : job.libraries;
  std::string line;
  if (is_hydra(job.flavour)) {
    // Its ranks spin; where others want the core they give it away.
    line = job.flavour == "mpi5" ? PHOTON_MPIEXEC_MPI5 : "mpiexec.mpich";
    line += " -genv MPIR_CVAR_POLLS_BEFORE_YIELD 1";
    if (job.is_preloaded) line += " -genv LD_PRELOAD " + libraries;
  } else {
    // It refuses root, and more ranks than cores, and would tie each rank to a core.
    line =
        "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun.openmpi --oversubscribe"
        " --bind-to none --mca mpi_yield_when_idle 1";
    if (job.is_preloaded) line += " -x LD_PRELOAD=" + libraries;
  }
  if (!job.flags.empty()) line += " " + job.flags;
  line += " -n " + std::to_string(job.ranks) + " " + mpi_program(job);
  const std::string told = job.is_preloaded ? "ours" : "plain";
  return line + " " + (job.told.empty() ? told : job.told) + " " + job.arguments;
}

// How often the words stand in it.
inline std::size_t count_of(const std::string& text, const std::string& words) {
  std::size_t count = 0;
  for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1))
    ++count;
  return count;
}

// At most a minute.
inline CommandResult run_mpi(const MpiJob& job, const std::string& redirections = "2>&1") {
  return run_command(mpi_command(job) + " </dev/null " + redirections);
}

// The parameter: the flavour.
class MpiTest : public testing::TestWithParam<std::string> {
 protected:
  // The program's cases, preloaded, each with "ok".
  static void expect_ok(const std::string& program, int ranks, const std::string& cases) {
    expect_job_ok({GetParam(), program, ranks, cases});
  }
  static void expect_job_ok(const MpiJob& job) {
    if (const std::string missing = missing_for(job); !missing.empty()) GTEST_SKIP() << missing;
    const CommandResult end = run_mpi(job);
    EXPECT_EQ(end.exit_status, 0) << mpi_command(job) << "\n" << end.output;
    std::string words = job.arguments + " ";
    for (std::size_t at = words.find(' '); at != std::string::npos; at = words.find(' ')) {
      const std::string line = "ok " + words.substr(0, at) + "\n";
      EXPECT_NE(end.output.find(line), std::string::npos) << line << end.output;
      words.erase(0, at + 1);
    }
  }
};

inline std::string flavour_name(const testing::TestParamInfo<std::string>& one) {
  return one.param;
}

inline const std::vector<std::string>& all_flavours() {
  static const std::vector<std::string> all{"mpich", "openmpi", "mpi5"};
  return all;
}

// Our libraries that were built for other ABIs.
inline std::vector<std::string> libraries_of_others(const std::string& flavour) {
  std::vector<std::string> libraries;
  for (const std::string& other : all_flavours())
    if (other != flavour && is_file(mpi_library(other))) libraries.push_back(mpi_library(other));
  return libraries;
}

inline auto mpi_flavours() { return testing::ValuesIn(all_flavours()); }

}  // namespace photon::test
