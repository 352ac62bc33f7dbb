#include "boot/keepalive.hpp"

#include <gtest/gtest.h>
#include <netinet/tcp.h>

#include "boot/net_address.hpp"

namespace photon::boot {
namespace {

// Two ends of a connection by the loopback.
struct Wire {
  Wire() {
    auto listener = listen_at(*choose_address("127.0.0.1", true));
    const SocketAddress at = socket_address(listener->address);
    one.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(one.get(), at.get(), at.size_bytes), 0);
    other.reset(::accept(listener->socket.get(), nullptr, nullptr));
  }
  base::UniqueFd one, other;
};

int option(int socket, int level, int name) {
  int value = -1;
  socklen_t bytes = sizeof value;
  EXPECT_EQ(::getsockopt(socket, level, name, &value, &bytes), 0);
  return value;
}

TEST(KeepaliveOfSockets, an_idle_connection_is_probed_so_that_its_end_is_told_in_time) {
  const Wire wire;
  for (const int silence_s : {1, 6, 30, 3600}) {
    tune_connection(wire.one.get(), static_cast<std::uint64_t>(silence_s));
    EXPECT_EQ(option(wire.one.get(), SOL_SOCKET, SO_KEEPALIVE), 1);
    const int idle = option(wire.one.get(), IPPROTO_TCP, TCP_KEEPIDLE);
    const int interval = option(wire.one.get(), IPPROTO_TCP, TCP_KEEPINTVL);
    const int probes = option(wire.one.get(), IPPROTO_TCP, TCP_KEEPCNT);
    EXPECT_GE(idle, 1);
    EXPECT_LE(idle + interval * probes, std::max(silence_s, probes + 1));
  }
}

TEST(KeepaliveOfSockets, who_answers_owes_nothing) {
  const Wire wire;
  EXPECT_TRUE(is_all_confirmed(wire.one.get()));
  ASSERT_EQ(::send(wire.one.get(), "x", 1, 0), 1);
  while (!is_all_confirmed(wire.one.get())) {
  }
  EXPECT_EQ(owed_ns(wire.one.get(), 0, 1'000'000'000), 0);
}

TEST(KeepaliveOfSockets, of_no_socket_nothing_is_owed) {
  EXPECT_TRUE(is_all_confirmed(-1));
  EXPECT_EQ(owed_ns(-1, 0, 1), 0);
}

}  // namespace
}  // namespace photon::boot
