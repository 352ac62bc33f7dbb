// A build without libfabric.
#include <gtest/gtest.h>

#include "boot/proof.hpp"
#include "memory_boot.hpp"
#include "transport/ofi/ofi_transport.hpp"

namespace photon::transport::ofi {
namespace {

TEST(NoFabric, a_build_without_libfabric_says_so_when_the_transport_is_asked_for) {
  if (has_fabric()) GTEST_SKIP() << "this build has libfabric";
  photon::test::MemoryJob job(1);
  const auto boot = job.boot(0);
  const auto opened = open_ofi(base::Config{}, *boot);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().status, PH_ERR_CONFIG);
  EXPECT_NE(opened.error().what.find("libfabric-dev"), std::string::npos) << opened.error().what;
}

}  // namespace
}  // namespace photon::transport::ofi
