// Jobs of 2 to 8 ranks, one of which is killed at a random moment of mixed traffic
// (programs/reaped.cpp). PHOTON_STRESS_DEATHS says how many jobs there are; PHOTON_STRESS_SEED is
// that of the first.
#include <cstdlib>
#include <random>

#include "launched.hpp"

namespace photon::test {
namespace {

std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// The victim's signal is no failure here.
const char* const kReapForgiving = "\"$0\" \"$@\"; end=$?; [ $end -eq 137 ] && exit 0; exit $end";

TEST(Reaped, ranks_that_are_killed_in_the_middle_of_anything_disturb_nobody_else) {
  const std::uint64_t first = number_of("PHOTON_STRESS_SEED", std::random_device{}());
  const std::uint64_t deaths = number_of("PHOTON_STRESS_DEATHS", 14);
  for (std::uint64_t seed = first; seed < first + deaths; ++seed) {
    const std::string ranks = std::to_string(2 + seed % 7);
    const std::string cma = std::string("PHOTON_SHM_CMA=") + (seed % 3 == 0 ? "off" : "auto");
    Launched job({"-n", ranks, "--timeout", "40", "--env", cma, "sh", "-c", kReapForgiving,
                  std::string(PHOTON_BIN_DIR) + "/reaped", std::to_string(seed)});
    ASSERT_EQ(job.wait(), 0) << "PHOTON_STRESS_SEED=" << seed << " with " << ranks << " ranks, "
                             << cma << "\n"
                             << job.out << job.err;
    job.expect_nothing_left();
  }
}

}  // namespace
}  // namespace photon::test
