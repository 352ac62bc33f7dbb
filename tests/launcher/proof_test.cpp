#include "proof.hpp"

#include <gtest/gtest.h>

#include <array>
#include <stdexcept>
#include <string>

namespace photonrun {
namespace {

constexpr const char* kSharedKey = "0123456789abcdef";

class LauncherProof : public testing::Test {
 protected:
  void SetUp() override {
    if (!photon::system::can_prove()) GTEST_SKIP() << "this photonrun was built without OpenSSL";
  }
};

struct Said {
  std::array<std::byte, 8> hello{};
  Nonce root = random_nonce();

  Claim claim(Role role) const { return {.role = role, .hello = hello, .root = root}; }
};

TEST_F(LauncherProof, is_one_to_who_has_the_key_and_heard_the_same) {
  const Said said;
  const Proof proof = prove(kSharedKey, said.claim(Role::leaf));
  EXPECT_TRUE(is_proof(kSharedKey, said.claim(Role::leaf), proof));
  EXPECT_FALSE(is_proof("another key of 16", said.claim(Role::leaf), proof));
}

// Else a stranger could send back what the root says.
TEST_F(LauncherProof, of_one_side_is_none_of_the_other) {
  const Said said;
  const Proof proof = prove(kSharedKey, said.claim(Role::leaf));
  for (const Role other : {Role::root, Role::mask})
    EXPECT_FALSE(is_proof(kSharedKey, said.claim(other), proof));
}

TEST_F(LauncherProof, of_an_earlier_conversation_is_none) {
  const Said said;
  Said later = said;
  const Proof proof = prove(kSharedKey, said.claim(Role::leaf));
  later.root = random_nonce();
  EXPECT_FALSE(is_proof(kSharedKey, later.claim(Role::leaf), proof));
  Said changed = said;
  changed.hello[7] = std::byte{1};
  EXPECT_FALSE(is_proof(kSharedKey, changed.claim(Role::leaf), proof));
  Proof torn = proof;
  torn.back() ^= decltype(torn)::value_type{1};
  EXPECT_FALSE(is_proof(kSharedKey, said.claim(Role::leaf), torn));
}

TEST(NoLauncherProof, a_build_that_cannot_prove_says_so_before_it_needs_to) {
  if (photon::system::can_prove()) {
    EXPECT_NO_THROW(require_proofs());
    GTEST_SKIP() << "this build has a crypto library";
  }
  try {
    require_proofs();
    FAIL() << "it can prove nothing";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(),
                 "this photonrun was built without OpenSSL's libcrypto (libssl-dev), so that hosts "
                 "cannot prove to each other who they are; --root, --join and -H need it");
  }
  EXPECT_THROW(static_cast<void>(random_nonce()), std::runtime_error);
  EXPECT_THROW(static_cast<void>(prove(kSharedKey, {})), std::runtime_error);
  EXPECT_THROW(static_cast<void>(is_proof(kSharedKey, {}, Proof{})), std::runtime_error);
}

}  // namespace
}  // namespace photonrun
