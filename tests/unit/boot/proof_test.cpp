#include "boot/proof.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace photon::boot {
namespace {

class ProofTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!can_prove()) GTEST_SKIP() << "this library was built without OpenSSL";
  }

  Secret secret_{std::byte{7}};
  std::vector<std::byte> hello_{std::byte{1}, std::byte{2}};
  Nonce nonce_{std::byte{3}};
};

TEST_F(ProofTest, holds_for_who_knows_the_secret) {
  const Claim claim{Role::dialer, hello_, nonce_};
  EXPECT_TRUE(is_proof(secret_, claim, prove(secret_, claim)));
}

TEST_F(ProofTest, is_none_with_any_bit_changed_anywhere) {
  const Claim claim{Role::dialer, hello_, nonce_};
  const Proof proof = prove(secret_, claim);
  for (std::size_t i = 0; i < proof.size(); ++i) {
    Proof other = proof;
    other[i] ^= std::byte{1};
    EXPECT_FALSE(is_proof(secret_, claim, other)) << i;
  }
  Secret other_secret = secret_;
  other_secret[31] = std::byte{1};
  EXPECT_FALSE(is_proof(other_secret, claim, proof));
  std::vector<std::byte> other_hello = hello_;
  other_hello[1] = std::byte{9};
  EXPECT_FALSE(is_proof(secret_, {Role::dialer, other_hello, nonce_}, proof));
  Nonce other_nonce = nonce_;
  other_nonce[20] = std::byte{1};
  EXPECT_FALSE(is_proof(secret_, {Role::dialer, hello_, other_nonce}, proof));
}

// Else who is asked for a proof could send back the one that he was given.
TEST_F(ProofTest, of_one_side_is_none_of_the_other) {
  const Proof proof = prove(secret_, {Role::acceptor, hello_, nonce_});
  EXPECT_FALSE(is_proof(secret_, {Role::dialer, hello_, nonce_}, proof));
}

TEST_F(ProofTest, of_zeros_proves_nothing) {
  EXPECT_FALSE(is_proof(secret_, {Role::dialer, hello_, nonce_}, Proof{}));
}

TEST_F(ProofTest, random_bytes_differ) {
  const auto one = random_nonce(), other = random_nonce();
  ASSERT_TRUE(one && other);
  EXPECT_NE(*one, *other);
}

}  // namespace
}  // namespace photon::boot
