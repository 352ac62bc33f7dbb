// The mixed transport between real processes of one host, whose tcp side has nobody to meet.
#include "command.hpp"
#include "stress_job.hpp"

namespace photon::test {
namespace {

class MixedProcess : public testing::TestWithParam<StressJob> {};

TEST_P(MixedProcess, random_traffic_arrives_whole_in_order_and_once) {
  expect_stress_passes(GetParam());
}

StressJob mixed_job(const char* name, const char* ranks_count, const char* max_id_bytes) {
  return {name, ranks_count, max_id_bytes, {"--env", "PHOTON_TRANSPORT=mixed"}};
}

INSTANTIATE_TEST_SUITE_P(Jobs, MixedProcess,
                         testing::Values(mixed_job("of_2", "2", "8"), mixed_job("of_4", "4", "64")),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(MixedProcessEnd, a_killed_rank_ends_the_job_soon_and_leaves_nothing) {
  expect_a_kill_ends(mixed_job("", "3", "8"));
}

TEST(MixedProcessEnd, a_peer_of_this_host_is_reached_by_shared_memory) {
  const std::string bin = PHOTON_BIN_DIR;
  Launched perf({"-n", "2", "--env", "PHOTON_TRANSPORT=mixed", bin + "/photon-perf", "put-latency",
                 "--sizes", "8", "--iterations", "100"});
  EXPECT_EQ(perf.wait(), 0) << perf.err;
  EXPECT_EQ(perf.out.find("raw socket"), std::string::npos) << "measured as a network";
}

}  // namespace
}  // namespace photon::test
