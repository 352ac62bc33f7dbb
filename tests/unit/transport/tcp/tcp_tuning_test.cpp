// What connections within a host are told, and that no others are.
#include "transport/tcp/tcp_tuning.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/unique_fd.hpp"
#include "tcp_ranks.hpp"

namespace photon::transport::tcp::test {
namespace {

std::string control_of(int socket) {
  char name[16] = {};
  socklen_t size_bytes = sizeof name;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name, &size_bytes) != 0) return "?";
  return name;
}

bool set_control(int socket, const std::string& name) {
  return ::setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name.data(),
                      static_cast<socklen_t>(name.size())) == 0;
}

// Another one than Reno's that this process may choose.
std::optional<std::string> other_control(int socket) {
  std::ifstream allowed("/proc/sys/net/ipv4/tcp_allowed_congestion_control");
  for (std::string name; allowed >> name;)
    if (name != "reno" && set_control(socket, name)) return name;
  return std::nullopt;
}

boot::Address address_of(const std::string& text) {
  boot::Address made;
  sockaddr_in6 six{};
  sockaddr_in four{};
  if (::inet_pton(AF_INET, text.c_str(), &four.sin_addr) == 1) {
    four.sin_family = AF_INET;
    made = boot::from_socket(reinterpret_cast<const sockaddr&>(four));
  } else if (::inet_pton(AF_INET6, text.c_str(), &six.sin6_addr) == 1) {
    six.sin6_family = AF_INET6;
    made = boot::from_socket(reinterpret_cast<const sockaddr&>(six));
  }
  return made;
}

bool is_within(const std::string& own, const std::string& other) {
  return is_within_host(address_of(own), address_of(other));
}

TEST(TcpTuning, one_address_at_both_ends_or_loopback_is_within_the_host) {
  EXPECT_TRUE(is_within("10.1.2.3", "10.1.2.3"));
  EXPECT_TRUE(is_within("127.0.0.1", "127.0.0.2"));
  EXPECT_TRUE(is_within("fd00::1", "fd00::1"));
  EXPECT_TRUE(is_within("::1", "::1"));
}

TEST(TcpTuning, two_addresses_may_be_two_hosts) {
  EXPECT_FALSE(is_within("10.1.2.3", "10.1.2.4"));
  EXPECT_FALSE(is_within("10.1.2.3", "127.0.0.1"));
  EXPECT_FALSE(is_within("fd00::1", "fd00::2"));
  EXPECT_FALSE(is_within("nowhere", "nowhere"));
}

// A connection on the loopback, of which nobody takes the other end.
class Dialed {
 public:
  Dialed() : listener_(boot::listen_at(address_of("127.0.0.1"))) {
    if (!listener_) throw std::runtime_error(listener_.error().what);
    const boot::SocketAddress at = boot::socket_address(listener_->address);
    socket_.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (::connect(socket_.get(), at.get(), at.size_bytes) != 0)
      throw std::runtime_error("cannot connect to the loopback");
  }
  int socket() const { return socket_.get(); }

 private:
  base::Result<boot::Listener> listener_;
  base::UniqueFd socket_;
};

TEST(TcpTuning, a_connection_within_the_host_is_paced_by_no_estimate) {
  const Dialed dialed;
  if (!other_control(dialed.socket())) GTEST_SKIP() << "the kernel allows no other than reno";
  tune_within_host(dialed.socket());
  EXPECT_EQ(control_of(dialed.socket()), "reno");
}

TEST(TcpTuning, a_socket_without_two_ends_stays_as_it_is) {
  const base::UniqueFd alone(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto other = other_control(alone.get());
  if (!other) GTEST_SKIP() << "the kernel allows no other than reno";
  tune_within_host(alone.get());
  EXPECT_EQ(control_of(alone.get()), *other);
}

// Established connections of this process.
std::vector<int> connections() {
  std::vector<int> found;
  for (int fd = 0; fd < 1024; ++fd) {
    tcp_info info{};
    socklen_t size_bytes = sizeof info;
    if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size_bytes) == 0 &&
        info.tcpi_state == TCP_ESTABLISHED)
      found.push_back(fd);
  }
  return found;
}

TEST(TcpTuning, both_ends_of_two_ranks_connection_are_tuned) {
  base::Config config = tcp_config();
  config.tcp_interface = base::word("127.0.0.1");
  TcpRanks ranks(2, config);
  ASSERT_TRUE(ranks.join(0, 1));
  const auto found = connections();
  ASSERT_EQ(found.size(), 2u);
  for (const int socket : found) EXPECT_EQ(control_of(socket), "reno");
}

}  // namespace
}  // namespace photon::transport::tcp::test
