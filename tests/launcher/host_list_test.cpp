#include "host_list.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "host_handshake.hpp"

namespace photonrun {
namespace {

std::string refusal_of(std::string_view text) {
  try {
    (void)parse_host_list(text);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return {};
}

TEST(HostList, names_users_addresses_and_slots) {
  const auto hosts = parse_host_list("node1,me@node2.net:4,10.0.0.3:2,[fe80::1%eth0]:3,me@[::1]");
  ASSERT_EQ(hosts.size(), 5u);
  EXPECT_EQ(hosts[0].name, "node1");
  EXPECT_EQ(hosts[0].slots, 1u);
  EXPECT_EQ(hosts[1].name, "me@node2.net");
  EXPECT_EQ(hosts[1].host(), "node2.net");
  EXPECT_EQ(hosts[1].slots, 4u);
  EXPECT_EQ(hosts[2].slots, 2u);
  EXPECT_EQ(hosts[3].name, "fe80::1%eth0");
  EXPECT_EQ(hosts[3].slots, 3u);
  EXPECT_EQ(hosts[4].name, "me@::1");
  EXPECT_EQ(hosts[4].host(), "::1");
  EXPECT_EQ(slots_of(hosts), 11u);
}

TEST(HostList, what_is_none_is_refused_in_words) {
  EXPECT_NE(refusal_of("").find("a host is missing"), std::string::npos);
  EXPECT_NE(refusal_of("a,,b").find("a host is missing"), std::string::npos);
  EXPECT_NE(refusal_of("a,").find("a host is missing"), std::string::npos);
  for (const char* const text : {"a:0", "a:x", "a:", "a:-1", "a:99999", "a:1000000", "[::1]:0"}) {
    EXPECT_NE(refusal_of(text).find("how many ranks"), std::string::npos) << text;
  }
  EXPECT_NE(refusal_of("a,b:2,a:3").find("a stands there twice"), std::string::npos);
  EXPECT_NE(refusal_of("::1").find("in brackets"), std::string::npos);
  EXPECT_NE(refusal_of("[::1]4"), "");
  EXPECT_NE(refusal_of("[::1"), "");
  EXPECT_NE(refusal_of("a:9000,b:9000").find("slots"), std::string::npos);
}

// What ssh would take for an option, or a shell for a command.
TEST(HostList, no_host_begins_with_a_dash_or_holds_what_a_shell_expands) {
  for (const char* const text : {"-oProxyCommand=x", "a b", "a;b", "$(a)", "a`b`", "@a", "a@"}) {
    EXPECT_NE(refusal_of(text), "") << text;
  }
}

TEST(HostList, slots_are_filled_in_order_and_then_again) {
  const auto hosts = parse_host_list("a,b:4");
  EXPECT_EQ(spread(hosts, 1), (std::vector<unsigned>{1, 0}));
  EXPECT_EQ(spread(hosts, 3), (std::vector<unsigned>{1, 2}));
  EXPECT_EQ(spread(hosts, 5), (std::vector<unsigned>{1, 4}));
  EXPECT_EQ(spread(hosts, 8), (std::vector<unsigned>{2, 6}));
}

TEST(HostList, this_host_needs_no_ssh) {
  EXPECT_TRUE(parse_host_list("localhost").front().is_here());
  EXPECT_FALSE(parse_host_list("127.0.0.1").front().is_here());
  EXPECT_FALSE(parse_host_list("me@localhost").front().is_here());
}

}  // namespace
}  // namespace photonrun
