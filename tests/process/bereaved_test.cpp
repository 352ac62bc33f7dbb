// Teams whose members are killed, or stand still, as the others see them (programs/bereaved.cpp).
#include "command.hpp"

namespace photon::test {
namespace {

class Bereaved : public testing::TestWithParam<const char*> {
 protected:
  static void expect_good(const std::string& how) {
    const CommandResult result = run_command("timeout 25 " + std::string(PHOTON_BIN_DIR) +
                                             "/bereaved " + how + " " + GetParam() + " 2>&1");
    EXPECT_EQ(result.exit_status, 0) << result.output;
  }
};

TEST_P(Bereaved, the_survivors_of_kills_agree_and_go_on_with_a_team_of_their_own) {
  expect_good("kill");
}

TEST_P(Bereaved, a_stopped_member_is_waited_for) { expect_good("stop"); }

std::string bereaved_name(const testing::TestParamInfo<const char*>& tested) {
  std::string name;
  for (const char* at = tested.param; *at != 0; ++at)
    name += std::isalnum(static_cast<unsigned char>(*at)) != 0 ? *at : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Transports, Bereaved,
                         testing::Values("transport=shm", "transport=shm shm_cma=off",
                                         "transport=tcp", "transport=mixed"),
                         bereaved_name);

}  // namespace
}  // namespace photon::test
