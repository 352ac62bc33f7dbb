// The engine between real processes: the stress test under photonrun, with and without copies by
// the kernel, in namespaces of their own, and with a rank that is killed.
#include "command.hpp"
#include "launched.hpp"

namespace photon::test {
namespace {

const std::string kProgram = std::string(PHOTON_BIN_DIR) + "/engine_stress";

struct Job {
  const char* name;
  std::string ranks_count;
  std::string max_id_bytes;
  std::vector<std::string> options;
};

void PrintTo(const Job& job, std::ostream* out) { *out << job.name; }

class EngineProcess : public testing::TestWithParam<Job> {};

// Before the program: e.g. the command that gives it namespaces of its own.
void expect_stress_passes(const Job& job, const std::vector<std::string>& wrapper) {
  std::vector<std::string> arguments = {"-n", job.ranks_count};
  arguments.insert(arguments.end(), job.options.begin(), job.options.end());
  arguments.insert(arguments.end(), wrapper.begin(), wrapper.end());
  const std::string seed = std::to_string(::getpid());
  arguments.insert(arguments.end(), {kProgram, "1", seed, job.max_id_bytes});
  Launched run(arguments);
  EXPECT_EQ(run.wait(), 0) << "seed " << seed << ": " << run.err;
  EXPECT_EQ(run.err, "");
  std::size_t verified = 0;
  for (std::size_t at = 0; (at = run.out.find("verified ", at)) != std::string::npos; ++at) {
    ++verified;
    EXPECT_NE(run.out.find("verified 0 ", at), at) << "a rank got no message";
  }
  EXPECT_EQ(std::to_string(verified), job.ranks_count) << run.out;
  run.expect_nothing_left();
}

TEST_P(EngineProcess, random_traffic_between_processes_arrives_whole_in_order_and_once) {
  expect_stress_passes(GetParam(), {});
}

TEST_P(EngineProcess, the_same_in_pid_ipc_and_network_namespaces_of_their_own) {
  const std::vector<std::string> unshare = {"unshare",      "--pid", "--fork",
                                            "--kill-child", "--ipc", "--net"};
  if (run_command("unshare --pid --fork --kill-child --ipc --net true 2>&1").exit_status != 0)
    GTEST_SKIP() << "this machine does not let us make namespaces";
  expect_stress_passes(GetParam(), unshare);
}

const std::vector<std::string> kNoCma = {"--env", "PHOTON_SHM_CMA=off"};
const std::vector<std::string> kSmall = {
    "--env", "PHOTON_LEDGER_SLOTS=2",  "--env", "PHOTON_RING_LINES=64",
    "--env", "PHOTON_BULK_BYTES=8192", "--env", "PHOTON_BULK_CHUNK=1024"};

INSTANTIATE_TEST_SUITE_P(Jobs, EngineProcess,
                         testing::Values(Job{"of_2", "2", "8", {}}, Job{"of_3", "3", "1024", {}},
                                         Job{"of_5", "5", "64", {}}, Job{"of_8", "8", "8", {}},
                                         Job{"of_2_no_cma", "2", "8", kNoCma},
                                         Job{"of_5_no_cma", "5", "100", kNoCma},
                                         Job{"of_3_small", "3", "1024", kSmall}),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(EngineProcessEnd, a_killed_rank_ends_the_job_soon_and_leaves_nothing) {
  Launched run({"-n", "3", "--label", kProgram, "25", "7", "8"});
  run.await_lines(3);  // all are in the middle of it
  const std::size_t line = run.out.find("[1] running ");
  ASSERT_NE(line, std::string::npos) << run.out;
  ::kill(std::stoi(run.out.substr(line + 12)), SIGKILL);
  EXPECT_GT(run.wait(), 0) << run.err;  // long before its 25 seconds are over
  EXPECT_NE(run.err.find("rank 1"), std::string::npos) << run.err;
  run.expect_nothing_left();
}

}  // namespace
}  // namespace photon::test
