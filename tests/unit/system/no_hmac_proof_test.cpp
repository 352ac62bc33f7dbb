// A build without a crypto library.
#include <gtest/gtest.h>

#include "system/hmac_proof.hpp"

namespace photon::system {
namespace {

TEST(NoHmacProof, nothing_is_proved_and_nothing_is_taken_for_a_proof) {
  if (can_prove()) GTEST_SKIP() << "this build has a crypto library";
  EXPECT_FALSE(prove({}, {}));
  EXPECT_FALSE(is_same(Proof{}, Proof{}));
}

}  // namespace
}  // namespace photon::system
