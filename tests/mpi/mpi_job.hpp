// A job of a program of tests/mpi/programs: which MPI starts it, with how many ranks, whether our
// library stands before MPI in them, and how it ended. Ranks alone are preloaded, not what starts
// them. Owner: one test.
//
// A job has one host, or two, which are network namespaces (TwoHosts): the MPI starts its ranks
// there by its own launcher for other hosts, with tools/at_host in the place of ssh.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "command.hpp"
#include "two_hosts.hpp"

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
  // The host of each rank, as "abab"; as it is given, and from its beginning again, if there are
  // more ranks. Empty: all are on this host.
  std::string sides{};
  std::string setting{};  // "NAME=VALUE" in the environment of each rank
  std::string pipe{};     // its path, for ranks of two hosts that may be killed (tools/until_gone)
};

// With it, memory that ranks of one host cannot map is served by the target's thread.
inline constexpr const char* kNoCopies = "PHOTON_SHM_CMA=off";

inline std::string mpi_library(const std::string& flavour) {
  return std::string(PHOTON_LIB_DIR) + "/libphoton_pmpi-" + flavour + ".so";
}

// Of tests/mpi/tools.
inline std::string mpi_tool(const std::string& name, const std::string& flavour) {
  return std::string(PHOTON_MPI_DIR) + "/lib" + name + "-" + flavour + ".so";
}

inline std::string mpi_script(const std::string& name) {
  return PHOTON_SOURCE_DIR "/tests/mpi/tools/" + name;
}

inline std::string mpi_program(const MpiJob& job) {
  return std::string(PHOTON_MPI_DIR) + "/" + job.program + "-" + job.flavour;
}

inline bool is_file(const std::string& path) { return ::access(path.c_str(), R_OK) == 0; }

// For all tests of this process.
inline const TwoHosts& two_hosts() {
  static const TwoHosts hosts;
  return hosts;
}

// Empty: all that the job needs is here; else what is missing.
inline std::string missing_for(const MpiJob& job) {
  if (!is_file(mpi_program(job))) return "no program of " + job.flavour + " was built here";
  if (job.is_preloaded && !is_file(mpi_library(job.flavour)))
    return "no " + mpi_library(job.flavour);
  if (!job.sides.empty() && !two_hosts().made()) return TwoHosts::unmade();
  return "";
}

// MPICH's launcher starts it: the MPI with the standard's ABI is MPICH's as well.
inline bool is_hydra(const std::string& flavour) { return flavour != "openmpi"; }

inline bool is_at_first(const MpiJob& job, int rank) {
  return job.sides[static_cast<std::size_t>(rank) % job.sides.size()] == 'a';
}

// How many hosts have ranks.
inline int hosts_count(const MpiJob& job) {
  if (job.sides.empty()) return 1;
  int at_first = 0;
  for (int rank = 0; rank < job.ranks; ++rank) at_first += is_at_first(job, rank) ? 1 : 0;
  return at_first > 0 && at_first < job.ranks ? 2 : 1;
}

// The address of the host of each rank.
inline std::string mpi_hosts(const MpiJob& job) {
  std::string list;
  for (int rank = 0; rank < job.ranks; ++rank) {
    if (rank > 0) list += ",";
    list += is_at_first(job, rank) ? "10.77.0.1" : "10.77.0.2";
  }
  return list;
}

// What starts the ranks, as the first words of the line.
inline std::string mpi_launcher(const MpiJob& job) {
  const std::string agent = mpi_script("at_host");
  if (is_hydra(job.flavour)) {
    // Its ranks spin; where others want the core they give it away.
    std::string line = job.flavour == "mpi5" ? PHOTON_MPIEXEC_MPI5 : "mpiexec.mpich";
    line += " -genv MPIR_CVAR_POLLS_BEFORE_YIELD 1";
    if (!job.sides.empty())
      line += " -launcher ssh -launcher-exec " + agent + " -hosts " + mpi_hosts(job);
    return line;
  }
  // It refuses root, and more ranks than cores, and would tie each rank to a core.
  std::string line =
      "env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun.openmpi --oversubscribe"
      " --bind-to none --mca mpi_yield_when_idle 1";
  // Open MPI 4.1 takes UCX for windows between hosts, and fails to make any, if nothing but a
  // network of its own kind is here.
  if (!job.sides.empty())
    line += " --mca plm_rsh_agent " + agent + " --map-by seq --host " + mpi_hosts(job) +
            " --mca oob_tcp_if_include v0 --mca btl_tcp_if_include v0 --mca pml ob1"
            " --mca btl self,vader,tcp --mca osc ^ucx";
  return line;
}

// Before a line that is to run on the first of both hosts. Its processes have numbers of their own,
// so that all end with the first of them, which is a shell: a number 1 must reap.
inline std::string at_first_host(const MpiJob& job) {
  return "PHOTON_TEST_NAMESPACES=" + two_hosts().name("a") + "," + two_hosts().name("b") +
         " unshare --pid --fork --kill-child=KILL --mount-proc sh -c '\"$@\"; exit $?' sh " +
         (job.pipe.empty() ? "" : mpi_script("until_gone") + " " + job.pipe + " ") +
         mpi_script("at_host") + " 10.77.0.1 ";
}

inline std::string mpi_command(const MpiJob& job) {
  const std::string libraries = job.libraries.empty() ? mpi_library(job.flavour) : job.libraries;
  const bool is_mpich = is_hydra(job.flavour);
  std::string line = (job.sides.empty() ? "" : at_first_host(job)) + mpi_launcher(job);
  const auto set = [&](const std::string& name, const std::string& value) {
    line += (is_mpich ? " -genv " : " -x ") + name + (is_mpich ? " " : "=") + value;
  };
  if (job.is_preloaded) set("LD_PRELOAD", libraries);
  set("PHOTON_TEST_HOSTS", std::to_string(hosts_count(job)));
  if (const std::size_t at = job.setting.find('='); at != std::string::npos)
    set(job.setting.substr(0, at), job.setting.substr(at + 1));
  if (!job.flags.empty()) line += " " + job.flags;
  if (!job.pipe.empty()) set("PHOTON_TEST_PIPE", job.pipe);
  line += " -n " + std::to_string(job.ranks) + " ";
  if (!job.pipe.empty()) line += mpi_script("to_pipe") + " ";
  line += mpi_program(job);
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
    expect_ok(MpiJob{GetParam(), program, ranks, cases});
  }
  static void expect_ok(const MpiJob& job) {
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
// One for each MPI: an ABI more has other handles, which other tests have been through.
inline auto mpi_implementations() { return testing::Values("mpich", "openmpi"); }

}  // namespace photon::test
