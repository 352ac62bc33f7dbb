#include "system/hmac_proof.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace photon::system {
namespace {

using Secret = std::array<std::byte, 32>;

class HmacProof : public testing::Test {
 protected:
  void SetUp() override {
    if (!can_prove()) GTEST_SKIP() << "this library was built without OpenSSL";
  }

  static bool is_proof(const Secret& secret, const Claim& claim, const Proof& proof) {
    const auto wanted = prove(secret, claim);
    return wanted && is_same(*wanted, proof);
  }

  Secret secret_{std::byte{7}};
  std::vector<std::byte> hello_{std::byte{1}, std::byte{2}};
  Nonce nonce_{std::byte{3}};
};

TEST_F(HmacProof, is_none_with_any_bit_changed_anywhere) {
  const Claim claim{'D', hello_, nonce_};
  const auto made = prove(secret_, claim);
  ASSERT_TRUE(made);
  EXPECT_TRUE(is_proof(secret_, claim, *made));
  for (std::size_t i = 0; i < made->size(); ++i) {
    Proof other = *made;
    other[i] ^= std::byte{1};
    EXPECT_FALSE(is_proof(secret_, claim, other)) << i;
  }
  Secret other_secret = secret_;
  other_secret[31] = std::byte{1};
  EXPECT_FALSE(is_proof(other_secret, claim, *made));
  std::vector<std::byte> other_hello = hello_;
  other_hello[1] = std::byte{9};
  EXPECT_FALSE(is_proof(secret_, {'D', other_hello, nonce_}, *made));
  Nonce other_nonce = nonce_;
  other_nonce[20] = std::byte{1};
  EXPECT_FALSE(is_proof(secret_, {'D', hello_, other_nonce}, *made));
  EXPECT_FALSE(is_proof(secret_, {'A', hello_, nonce_}, *made));
  EXPECT_FALSE(is_proof(secret_, claim, Proof{}));
}

// Hosts of one job may have different builds.
TEST_F(HmacProof, is_made_of_role_hello_and_random_bytes_in_this_order) {
  const std::string_view hello = "hello";
  const auto made = prove(secret_, {'A', std::as_bytes(std::span(hello)), nonce_});
  ASSERT_TRUE(made);
  std::string text;
  for (const std::byte one : *made) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", std::to_integer<unsigned>(one));
    text += digits;
  }
  EXPECT_EQ(text, "eb4da64123df2ba2625527297a956e26e748d55b7dbe5956bfed40ab6b4b95e2");
}

}  // namespace
}  // namespace photon::system
