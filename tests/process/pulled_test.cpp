// Active messages whose source or target is killed, or whose payload is unmapped, while it is read
// (programs/pulled.cpp), and those whose target is killed while they are written
// (programs/span.cpp).
#include "command.hpp"

namespace photon::test {
namespace {

class AmDeath : public testing::TestWithParam<const char*> {
 protected:
  static void expect_good(const std::string& who) { expect_end("pulled " + who); }
  static void expect_end(const std::string& program) {
    const CommandResult result = run_command("timeout 40 " + std::string(PHOTON_BIN_DIR) + "/" +
                                             program + " " + GetParam() + " 2>&1");
    EXPECT_EQ(result.exit_status, 0) << result.output;
  }
};

TEST_P(AmDeath, between_header_and_payload_ends_each_landing_once) { expect_good("source"); }

TEST_P(AmDeath, of_the_target_gives_the_payloads_back) { expect_good("target"); }

TEST_P(AmDeath, of_the_memory_alone_is_the_end_of_its_landings) { expect_good("gone"); }

// In the ring; in private memory, where the ring has not so much room.
TEST_P(AmDeath, OpenSlotStaysWritable) {
  expect_end("span 2000");
  expect_end("span 8000 bulk_bytes=8192 bulk_chunk=1024");
}

std::string setting_text(const testing::TestParamInfo<const char*>& tested) {
  std::string name;
  for (const char* at = tested.param; *at != 0; ++at)
    name += std::isalnum(static_cast<unsigned char>(*at)) != 0 ? *at : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Transports, AmDeath,
                         testing::Values("transport=shm", "transport=shm shm_cma=off",
                                         "transport=tcp", "transport=mixed"),
                         setting_text);

}  // namespace
}  // namespace photon::test
