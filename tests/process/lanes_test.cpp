// Processes whose threads have lanes of their own (programs/lanes.cpp, programs/mixed.cpp).
// PHOTON_STRESS_OPERATIONS: of the mixed ones, in each of their jobs.
#include <cstdlib>

#include "launched.hpp"
#include "rounds.hpp"

namespace photon::test {
namespace {

const std::string kLanes = std::string(PHOTON_BIN_DIR) + "/lanes";

TEST(LanesOfProcesses, four_threads_a_rank_put_get_and_change_words_on_lanes_of_their_own) {
  for (const char* size : {"2", "3"}) {
    Launched job({"-n", size, "--timeout", "60", kLanes, "work"});
    EXPECT_EQ(job.wait(), 0) << job.out << job.err;
    EXPECT_EQ(job.err, "");
  }
}

TEST(LanesOfProcesses,
     mixed_operations_of_four_threads_a_rank_arrive_in_order_in_memory_that_stays) {
  const char* asked = std::getenv("PHOTON_STRESS_OPERATIONS");
  const std::string operations = asked == nullptr ? std::to_string(rounds(800'000, 80'000)) : asked;
  for (const char* cma : {"PHOTON_SHM_CMA=auto", "PHOTON_SHM_CMA=off"}) {
    for (const char* size : {"2", "3"}) {
      // Rings that have gone round once before growth is judged: what they touch first is none.
      Launched job({"-n", size, "--timeout", "550", "--env", cma, "--env",
                    "PHOTON_BULK_BYTES=262144", std::string(PHOTON_BIN_DIR) + "/mixed",
                    operations});
      EXPECT_EQ(job.wait(), 0) << job.out << job.err;
      EXPECT_EQ(job.err, "");
    }
  }
}

TEST(LanesOfProcesses, a_lane_that_its_peers_never_open_keeps_nobody_waiting) {
  Launched job({"-n", "4", "--timeout", "25", kLanes, "one_side"});
  EXPECT_EQ(job.wait(), 0) << job.out << job.err;
  EXPECT_EQ(job.err, "");
}

TEST(LanesOfProcesses, the_death_of_a_rank_is_told_on_every_lane) {
  // That a signal ended a rank is no failure of the job here.
  const char* forgiving = "\"$0\" \"$@\"; end=$?; [ $end -ge 128 ] && exit 0; exit $end";
  Launched job({"-n", "3", "--timeout", "30", "sh", "-c", forgiving, kLanes, "die"});
  EXPECT_EQ(job.wait(), 0) << job.out << job.err;
  std::size_t over = 0;
  for (std::size_t at = 0; (at = job.out.find("over", at)) != std::string::npos; ++at) ++over;
  EXPECT_EQ(over, 2u) << job.out << job.err;
  EXPECT_EQ(job.err.find("wrong"), std::string::npos) << job.err;
}

}  // namespace
}  // namespace photon::test
