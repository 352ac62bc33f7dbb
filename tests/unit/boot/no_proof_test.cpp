// A build without a crypto library.
#include <gtest/gtest.h>

#include "boot/proof.hpp"
#include "memory_boot.hpp"
#include "transport/tcp/tcp_transport.hpp"

namespace photon::boot {
namespace {

TEST(NoProof, a_build_that_cannot_prove_says_so_at_once_and_takes_nothing_for_a_proof) {
  photon::test::MemoryJob job(1);
  const auto boot = job.boot(0);
  const auto opened = transport::tcp::open_tcp(base::Config{}, *boot);
  const auto can = can_prove();
  EXPECT_EQ(static_cast<bool>(opened), static_cast<bool>(can));
  if (can) GTEST_SKIP() << "this build has a crypto library";
  EXPECT_EQ(opened.error().status, PH_ERR_CONFIG);
  EXPECT_NE(opened.error().what.find("libssl-dev"), std::string::npos) << opened.error().what;
  EXPECT_FALSE(is_proof(boot->secret(), {}, prove(boot->secret(), {})));
}

}  // namespace
}  // namespace photon::boot
