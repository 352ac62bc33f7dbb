// What loading libfabric does to a process.
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <string>

#include "transport/ofi/fabric.hpp"

namespace photon::transport::ofi {
namespace {

TEST(FabricLibrary, leaves_the_applications_signal_handlers_as_they_were) {
  if (!has_fabric()) GTEST_SKIP() << "this build has no libfabric";
  struct sigaction before[32], after[32];
  for (int number = 1; number < 32; ++number) ::sigaction(number, nullptr, &before[number]);
  static_cast<void>(open_fabric({.provider = "auto",
                                 .domain = "auto",
                                 .is_one_host = true,
                                 .peers_count = 1,
                                 .sends_count = 1,
                                 .receives_count = 1}));
  for (int number = 1; number < 32; ++number) {
    ::sigaction(number, nullptr, &after[number]);
    EXPECT_EQ(before[number].sa_handler, after[number].sa_handler) << "signal " << number;
  }
}

// ofi_rxm sizes its queues by it, for 256 ranks if nobody says more.
TEST(FabricLibrary, is_told_of_a_large_job_unless_the_user_has_done_so) {
  if (!has_fabric()) GTEST_SKIP() << "this build has no libfabric";
  const auto universe = [](std::size_t peers_count) -> std::string {
    static_cast<void>(open_fabric({.provider = "no-such-provider",
                                   .domain = "auto",
                                   .peers_count = peers_count,
                                   .sends_count = 1,
                                   .receives_count = 1}));
    const char* said = ::getenv("FI_UNIVERSE_SIZE");
    return said == nullptr ? "" : said;
  };
  ::unsetenv("FI_UNIVERSE_SIZE");
  EXPECT_EQ(universe(255), "");
  EXPECT_EQ(universe(256), "257");
  ::setenv("FI_UNIVERSE_SIZE", "5000", 1);
  EXPECT_EQ(universe(256), "5000");
  ::unsetenv("FI_UNIVERSE_SIZE");
}

}  // namespace
}  // namespace photon::transport::ofi
