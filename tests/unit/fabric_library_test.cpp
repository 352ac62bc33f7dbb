// What loading libfabric does to a process.
#include <gtest/gtest.h>
#include <signal.h>

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

}  // namespace
}  // namespace photon::transport::ofi
