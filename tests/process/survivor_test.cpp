// Ranks that are killed, that abort or leave without a word, and one that is stopped, as the others
// see them: on one host, under the launcher and with callbacks (programs/survivor.cpp).
#include <tuple>

#include "command.hpp"
#include "launched.hpp"

namespace photon::test {
namespace {

const std::string kSurvivor = std::string(PHOTON_BIN_DIR) + "/survivor";

// A rank that a signal ended is no failure of the job here: the wrapper says that it went well.
const char* const kForgiving = "\"$0\" \"$@\"; end=$?; [ $end -ge 128 ] && exit 0; exit $end";

struct Start {
  const char* name;
  bool launched;
  const char* cma;  // the setting shm_cma
};

void PrintTo(const Start& start, std::ostream* out) { *out << start.name; }

void expect_kept(const std::string& how, const std::string& waiting, const Start& start) {
  const std::string cma = std::string("PHOTON_SHM_CMA=") + start.cma;
  if (!start.launched) {
    const CommandResult result =
        run_command(cma + " timeout 25 " + kSurvivor + " " + how + " " + waiting + " forked 2>&1");
    EXPECT_EQ(result.exit_status, 0) << result.output;
    return;
  }
  Launched job({"-n", "3", "--timeout", "25", "--env", cma, "sh", "-c", kForgiving, kSurvivor, how,
                waiting, "launched"});
  EXPECT_EQ(job.wait(), 0) << job.out << job.err;
  job.expect_nothing_left();
}

class Survivor : public testing::TestWithParam<std::tuple<const char*, const char*, Start>> {};

TEST_P(Survivor,
       a_dead_rank_is_noticed_within_a_second_its_requests_fail_and_its_memory_is_given_back) {
  const auto& [how, waiting, start] = GetParam();
  expect_kept(how, waiting, start);
}

constexpr Start kStarts[] = {{"launched", true, "auto"},
                             {"launched_no_cma", true, "off"},
                             {"forked", false, "auto"},
                             {"forked_no_cma", false, "off"}};

std::string name_of(const testing::TestParamInfo<Survivor::ParamType>& tested) {
  const auto& [how, waiting, start] = tested.param;
  return std::string(how) + "_" + waiting + "_" + start.name;
}

INSTANTIATE_TEST_SUITE_P(Ends, Survivor,
                         testing::Combine(testing::Values("kill", "abort", "exit"),
                                          testing::Values("probe", "wait", "flush"),
                                          testing::ValuesIn(kStarts)),
                         name_of);

class SurvivorOfStopped : public testing::TestWithParam<Start> {};

TEST_P(SurvivorOfStopped, a_stopped_rank_is_slow_and_everything_completes_when_it_goes_on) {
  expect_kept("stop", "probe", GetParam());
}

INSTANTIATE_TEST_SUITE_P(Starts, SurvivorOfStopped, testing::ValuesIn(kStarts),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace photon::test
