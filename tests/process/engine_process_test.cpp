// The engine between real processes: the stress test under photonrun, with and without copies by
// the kernel, in namespaces of their own, and with a rank that is killed.
#include "command.hpp"
#include "stress_job.hpp"

namespace photon::test {
namespace {

class EngineProcess : public testing::TestWithParam<StressJob> {};

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
                         testing::Values(StressJob{"of_2", "2", "8", {}},
                                         StressJob{"of_3", "3", "1024", {}},
                                         StressJob{"of_5", "5", "64", {}},
                                         StressJob{"of_8", "8", "8", {}},
                                         StressJob{"of_2_no_cma", "2", "8", kNoCma},
                                         StressJob{"of_5_no_cma", "5", "100", kNoCma},
                                         StressJob{"of_3_small", "3", "1024", kSmall}),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(EngineProcessEnd, a_killed_rank_ends_the_job_soon_and_leaves_nothing) {
  expect_a_kill_ends({"", "3", "8", {}});
}

}  // namespace
}  // namespace photon::test
