// The progress thread between processes, without copies by the kernel: who is served by a rank that
// computes (programs/computing.cpp), and what the thread costs a rank that does nothing.
#include "command.hpp"
#include "launched.hpp"

namespace photon::test {
namespace {

const std::string kComputing = std::string(PHOTON_BIN_DIR) + "/computing";

std::string think(const std::string& how, const std::string& thread) {
  Launched job({"-n", "2", "--timeout", "60", "--env", "PHOTON_SHM_CMA=off", "--env",
                "PHOTON_PROGRESS_THREAD=" + thread, kComputing, how});
  EXPECT_EQ(job.wait(), 0) << job.out << job.err;
  EXPECT_EQ(job.err, "");
  job.expect_nothing_left();
  return job.out;
}

TEST(ProgressThreadProcess, a_rank_that_computes_is_read_written_and_flushed) {
  EXPECT_NE(think("served", "on").find("get of 4096 bytes"), std::string::npos);
}

TEST(ProgressThreadProcess, without_the_thread_it_is_not_before_it_calls_again) {
  think("alone", "off");
}

TEST(ProgressThreadProcess, it_costs_an_idle_rank_no_half_percent_of_a_core) {
  EXPECT_NE(think("idle", "on").find("idle:"), std::string::npos);
}

}  // namespace
}  // namespace photon::test
