// Active messages that handlers send on, between processes, quiesced and counted
// (programs/hopping.cpp); `make soak` runs a million of each rank to each other one.
#include "launched.hpp"
#include "rounds.hpp"

namespace photon::test {
namespace {

class AmHops : public testing::TestWithParam<const char*> {};

TEST_P(AmHops, of_four_ranks_that_flood_each_other_are_all_handled_when_the_quiesce_ends) {
  const std::string count = std::to_string(rounds(50'000, 5'000));
  Launched job({"-n", "4", "--timeout", "100", "--env",
                std::string("PHOTON_TRANSPORT=") + GetParam(),
                std::string(PHOTON_BIN_DIR) + "/hopping", count});
  job.allow(std::chrono::seconds(80));
  EXPECT_EQ(job.wait(), 0) << job.out << job.err;
  EXPECT_TRUE(says(job.out, "messages in")) << job.out;
  job.expect_nothing_left();
}

INSTANTIATE_TEST_SUITE_P(Transports, AmHops, testing::Values("shm", "tcp", "mixed"),
                         [](const auto& tested) { return std::string(tested.param); });

}  // namespace
}  // namespace photon::test
