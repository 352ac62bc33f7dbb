#include "boot/net_address.hpp"

#include <gtest/gtest.h>

namespace photon::boot {
namespace {

TEST(NetAddress, of_both_families_survives_the_way_to_the_socket_calls_and_back) {
  for (const char* text : {"127.0.0.1", "10.1.2.3", "::1", "2001:db8::7"}) {
    auto address = choose_address(text, true);
    ASSERT_TRUE(address) << text;
    address->port = 4242;
    const SocketAddress socket = socket_address(*address);
    ASSERT_GT(socket.size_bytes, 0u);
    const Address back = from_socket(*socket.get());
    EXPECT_EQ(back.text(), address->text());
    EXPECT_NE(back.text().find(text), std::string::npos) << back.text();
    EXPECT_NE(back.text().find(":4242"), std::string::npos);
  }
}

TEST(NetAddress, of_no_family_is_none_that_a_socket_takes) {
  Address address;
  address.family = 5;
  EXPECT_EQ(socket_address(address).size_bytes, 0u);
  sockaddr other{};
  other.sa_family = AF_UNIX;
  EXPECT_EQ(from_socket(other).family, 0);
}

TEST(NetAddress, auto_on_one_host_is_its_loopback) {
  const auto address = choose_address("auto", true);
  ASSERT_TRUE(address);
  EXPECT_TRUE(address->is_loopback()) << address->text();
  EXPECT_EQ(address->port, 0);
}

TEST(NetAddress, the_name_of_an_interface_is_taken) {
  const auto address = choose_address("lo", false);
  if (!address) GTEST_SKIP() << "no interface is called lo here";
  EXPECT_TRUE(address->is_loopback()) << address->text();
}

TEST(NetAddress, auto_among_hosts_is_never_the_loopback) {
  const auto address = choose_address("auto", false);
  if (!address) GTEST_SKIP() << "this machine has no other interface: " << address.error().what;
  EXPECT_FALSE(address->is_loopback()) << address->text();
}

TEST(NetAddress, one_that_stands_for_all_of_a_host_is_none_to_listen_at) {
  for (const char* any : {"0.0.0.0", "::"}) {
    const auto address = choose_address(any, false);
    ASSERT_FALSE(address) << any;
    EXPECT_EQ(address.error().status, PH_ERR_CONFIG);
    EXPECT_NE(address.error().what.find(any), std::string::npos) << address.error().what;
  }
}

TEST(NetAddress, a_name_that_is_none_is_refused_with_what_there_is) {
  const auto address = choose_address("no-such-0", true);
  ASSERT_FALSE(address);
  EXPECT_EQ(address.error().status, PH_ERR_CONFIG);
  EXPECT_NE(address.error().what.find("no-such-0"), std::string::npos) << address.error().what;
  EXPECT_NE(address.error().what.find("tcp_interface"), std::string::npos);
  EXPECT_NE(address.error().what.find("is another"), std::string::npos) << address.error().what;
}

}  // namespace
}  // namespace photon::boot
