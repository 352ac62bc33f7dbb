#include "host_handshake.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "address.hpp"

namespace photonrun {
namespace {

TEST(HostHandshake, other_versions_and_numbers_of_ranks_that_cannot_be_are_objected_to) {
  Hello hello;
  hello.ranks = 1;
  EXPECT_EQ(objection(hello), "");
  hello.ranks = 0;
  EXPECT_NE(objection(hello), "");
  hello.ranks = kMaxRanks + 1;
  EXPECT_NE(objection(hello), "");
  hello.version = 9;
  EXPECT_NE(objection(hello).find("versions 9"), std::string::npos);
  hello.magic = 1;
  EXPECT_EQ(objection(hello), "is no photonrun");
}

TEST(HostHandshake, a_host_name_is_printable_and_ends) {
  Hello hello;
  EXPECT_EQ(host_of(hello), "?");
  std::ranges::fill(hello.host, 'a');
  EXPECT_EQ(host_of(hello).size(), hello.host.size());
  hello.host[0] = '\x1b';
  hello.host[1] = '\0';
  EXPECT_EQ(host_of(hello), "?");
}

TEST(HostHandshake, a_proof_is_of_one_key_one_role_and_one_connection) {
  if (!photon::system::can_prove()) GTEST_SKIP() << "this photonrun was built without OpenSSL";
  const std::string hello = "hello";
  const auto said = std::as_bytes(std::span(hello));
  const Nonce nonce = random_nonce();
  const Proof proof = prove("key", {Role::leaf, said, nonce});
  EXPECT_TRUE(is_proof("key", {Role::leaf, said, nonce}, proof));
  EXPECT_FALSE(is_proof("kez", {Role::leaf, said, nonce}, proof));
  EXPECT_FALSE(is_proof("key", {Role::root, said, nonce}, proof));
  EXPECT_FALSE(is_proof("key", {Role::leaf, said.first(4), nonce}, proof));
  EXPECT_FALSE(is_proof("key", {Role::leaf, said, random_nonce()}, proof));
}

TEST(HostHandshake, a_mask_hides_and_shows) {
  if (!photon::system::can_prove()) GTEST_SKIP() << "this photonrun was built without OpenSSL";
  std::array<std::uint8_t, PH_LAUNCH_SECRET_BYTES> secret{1, 2, 3};
  const auto before = secret;
  const Proof mask = prove("key", {Role::mask, {}, random_nonce()});
  apply_mask(mask, secret);
  EXPECT_NE(secret, before);
  apply_mask(mask, secret);
  EXPECT_EQ(secret, before);
}

TEST(HostPort, names_addresses_and_brackets) {
  EXPECT_EQ(parse_host_port("node1:7000").host, "node1");
  EXPECT_EQ(parse_host_port("10.0.0.1:7000").port, "7000");
  EXPECT_EQ(parse_host_port("[::1]:7000").host, "::1");
  EXPECT_EQ(parse_host_port("[::1]:7000").text(), "[::1]:7000");
  EXPECT_EQ(parse_host_port(":7000").host, "");
  for (const char* const wrong : {"", "node1", "node1:", "::1:7000", "[::1]", "node1:70000",
                                  "node1:7x", "[]:7000", "a]:7000"}) {
    EXPECT_NE(objection(std::string_view(wrong)), "") << wrong;
    EXPECT_THROW(parse_host_port(wrong), std::runtime_error) << wrong;
  }
}

}  // namespace
}  // namespace photonrun
