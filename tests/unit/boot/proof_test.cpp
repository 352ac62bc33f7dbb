#include "boot/proof.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "memory_boot.hpp"
#include "transport/tcp/tcp_transport.hpp"

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

// Of any changed bit: tests/unit/system/hmac_proof_test.cpp.
TEST_F(ProofTest, holds_for_who_knows_the_secret_and_for_what_was_said) {
  const Claim claim{Role::dialer, hello_, nonce_};
  const Proof proof = prove(secret_, claim);
  EXPECT_TRUE(is_proof(secret_, claim, proof));
  EXPECT_FALSE(is_proof(Secret{}, claim, proof));
  EXPECT_FALSE(is_proof(secret_, {Role::dialer, {}, nonce_}, proof));
  EXPECT_FALSE(is_proof(secret_, {Role::dialer, hello_, Nonce{}}, proof));
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

TEST(NoProof, a_build_that_cannot_prove_says_so_at_once_and_takes_nothing_for_a_proof) {
  photon::test::MemoryJob job(1);
  const auto boot = job.boot(0);
  const auto opened = transport::tcp::open_tcp(base::Config{}, *boot);
  const auto can = can_prove();
  EXPECT_EQ(static_cast<bool>(opened), static_cast<bool>(can));
  if (can) GTEST_SKIP() << "this build has a crypto library";
  EXPECT_EQ(opened.error().status, PH_ERR_CONFIG);
  EXPECT_NE(opened.error().what.find("libssl-dev"), std::string::npos) << opened.error().what;
  EXPECT_FALSE(random_nonce());
  EXPECT_FALSE(is_proof(boot->secret(), {}, prove(boot->secret(), {})));
}

}  // namespace
}  // namespace photon::boot
