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

// ofi_rxm sizes its queues by it, for 256 ranks if nobody says more. Who has told libfabric needs
// no advice; and the environment is left as it is.
TEST(FabricLibrary, advises_a_large_job_unless_the_environment_tells_of_it) {
  if (!has_fabric()) GTEST_SKIP() << "this build has no libfabric";
  const auto advice = [](std::size_t peers_count) -> std::string {
    const auto opened = open_fabric({.provider = "tcp;ofi_rxm",
                                     .domain = "auto",
                                     .is_one_host = true,
                                     .peers_count = peers_count,
                                     .sends_count = 1,
                                     .receives_count = 1});
    if (!opened) return opened.error().what;
    const char* said = (*opened)->traits().advice;
    return said == nullptr ? "" : said;
  };
  ::unsetenv("FI_UNIVERSE_SIZE");
  const std::string small = advice(255);
  if (small.starts_with("transport ofi")) GTEST_SKIP() << "no such provider here: " << small;
  EXPECT_EQ(small, "");
  EXPECT_NE(advice(256).find("FI_UNIVERSE_SIZE"), std::string::npos);
  EXPECT_EQ(::getenv("FI_UNIVERSE_SIZE"), nullptr);
  ::setenv("FI_UNIVERSE_SIZE", "5000", 1);
  EXPECT_EQ(advice(256), "");
  ::unsetenv("FI_UNIVERSE_SIZE");
}

}  // namespace
}  // namespace photon::transport::ofi
