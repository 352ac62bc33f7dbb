#include "address.hpp"

#include <gtest/gtest.h>
#include <netdb.h>
#include <sys/socket.h>

namespace photonrun {
namespace {

TEST(Address, is_a_host_and_a_port_with_brackets_round_an_address_of_ipv6) {
  for (const char* const text : {"10.0.0.1:7000", "node1:0", "[::1]:65535", ":7000"}) {
    EXPECT_EQ(objection(text), "") << text;
    EXPECT_EQ(parse_host_port(text).text(), text);
  }
  EXPECT_EQ(parse_host_port("[::1]:7000").host, "::1");
  EXPECT_EQ(parse_host_port(":7000").host, "");
}

TEST(Address, is_refused_in_words_that_show_how_it_is_written) {
  for (const char* const text : {"", "node1", "node1:", "node1:port", "node1:65536", "node1:123456",
                                 "::1:7000", "[::1]", "[]:1", "node1:-1"}) {
    EXPECT_NE(objection(text).find("[::1]:7000"), std::string::npos) << text;
    EXPECT_THROW((void)parse_host_port(text), std::runtime_error) << text;
  }
}

TEST(Address, of_digits_is_found_without_asking_anybody_and_not_twice) {
  const Found found = resolve({"127.0.0.1", "7000"}, AI_NUMERICHOST);
  ASSERT_EQ(found.error, 0);
  ASSERT_EQ(found.targets.size(), 1u);
  EXPECT_EQ(host_of(found.targets[0]), "127.0.0.1");
  EXPECT_TRUE(is_loopback(found.targets[0]));
  const Found away = resolve({"192.0.2.1", "7000"}, AI_NUMERICHOST);
  ASSERT_EQ(away.targets.size(), 1u);
  EXPECT_FALSE(is_loopback(away.targets[0]));
  const Found six = resolve({"::1", "7000"}, AI_NUMERICHOST);
  ASSERT_EQ(six.targets.size(), 1u);
  EXPECT_TRUE(is_loopback(six.targets[0]));
}

TEST(Address, that_is_a_name_is_none_of_digits) {
  const Found found = resolve({"node1.example", "7000"}, AI_NUMERICHOST);
  EXPECT_EQ(found.error, EAI_NONAME);
  EXPECT_TRUE(found.targets.empty());
  const std::string said = unknown_host({"node1.example", "7000"}, found.error).what();
  EXPECT_EQ(said.rfind("node1.example:7000: ", 0), 0u) << said;
}

TEST(Address, of_port_0_is_listened_at_where_a_port_is_free) {
  const HostPort place{"127.0.0.1", "0"};
  const Listeners made = listen_at(place, resolve(place, AI_NUMERICHOST).targets);
  ASSERT_EQ(made.sockets.size(), 1u);
  EXPECT_TRUE(made.refusals.empty());
  const std::string own = own_address(made.sockets[0].get());
  EXPECT_EQ(own.rfind("127.0.0.1:", 0), 0u) << own;
  EXPECT_NE(own, "127.0.0.1:0");
  EXPECT_EQ(own_host(made.sockets[0].get()), "127.0.0.1");

  const HostPort taken = parse_host_port(own);
  EXPECT_THROW((void)listen_at(taken, resolve(taken, AI_NUMERICHOST).targets), std::runtime_error);
}

TEST(Address, of_another_host_is_not_listened_at) {
  const HostPort place{"192.0.2.1", "0"};  // of documentation: nobody has it
  EXPECT_THROW((void)listen_at(place, resolve(place, AI_NUMERICHOST).targets), std::runtime_error);
}

TEST(Address, towards_a_place_is_that_of_the_way_there) {
  EXPECT_EQ(address_towards(resolve({"127.0.0.1", "9"}, AI_NUMERICHOST).targets), "127.0.0.1");
  EXPECT_EQ(address_towards({}), "");
}

}  // namespace
}  // namespace photonrun
