#include "proof.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace photonrun {
namespace {

constexpr const char* kSharedKey = "0123456789abcdef";

struct Said {
  std::array<std::byte, 8> hello{};
  Nonce root = random_nonce();

  Claim claim(Role role) const { return {.role = role, .hello = hello, .root = root}; }
};

TEST(Proof, is_one_to_who_has_the_key_and_heard_the_same) {
  const Said said;
  const Proof proof = prove(kSharedKey, said.claim(Role::leaf));
  EXPECT_TRUE(is_proof(kSharedKey, said.claim(Role::leaf), proof));
  EXPECT_FALSE(is_proof("another key of 16", said.claim(Role::leaf), proof));
}

// Else a stranger could send back what the root says.
TEST(Proof, of_one_side_is_none_of_the_other) {
  const Said said;
  const Proof proof = prove(kSharedKey, said.claim(Role::leaf));
  for (const Role other : {Role::root, Role::mask})
    EXPECT_FALSE(is_proof(kSharedKey, said.claim(other), proof));
}

TEST(Proof, of_an_earlier_conversation_is_none) {
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

}  // namespace
}  // namespace photonrun
