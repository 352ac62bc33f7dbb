// Active messages whose source or target is killed, or whose payload is unmapped, while it is read
// (programs/pulled.cpp).
#include "command.hpp"

namespace photon::test {
namespace {

class AmDeath : public testing::TestWithParam<const char*> {
 protected:
  static void expect_good(const std::string& who) {
    const CommandResult result = run_command("timeout 40 " + std::string(PHOTON_BIN_DIR) +
                                             "/pulled " + who + " " + GetParam() + " 2>&1");
    EXPECT_EQ(result.exit_status, 0) << result.output;
  }
};

TEST_P(AmDeath, between_header_and_payload_ends_each_landing_once) { expect_good("source"); }

TEST_P(AmDeath, of_the_target_gives_the_payloads_back) { expect_good("target"); }

TEST_P(AmDeath, of_the_memory_alone_is_the_end_of_its_landings) { expect_good("gone"); }

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
