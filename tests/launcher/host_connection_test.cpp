#include "host_connection.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>

namespace photonrun {
namespace {

using Clock = std::chrono::steady_clock;

TEST(HostConnection, all_that_are_closed_share_one_patience) {
  constexpr auto kPatience = std::chrono::milliseconds(300);
  std::vector<Fd> others;
  std::vector<std::unique_ptr<HostConnection>> connections;
  std::vector<HostConnection*> all;
  for (int i = 0; i < 8; ++i) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    others.emplace_back(ends[1]);  // never closes the connection
    connections.push_back(std::make_unique<HostConnection>(Fd(ends[0]), "silent"));
    connections.back()->queue(plain_frame(FrameKind::over, {}, 7));
    all.push_back(connections.back().get());
  }
  const auto before = Clock::now();
  HostConnection::close_all(all, kPatience);
  EXPECT_LT(Clock::now() - before, 4 * kPatience);
  for (const Fd& other : others) {  // each was told, and that nothing more comes
    FrameReader reader;
    std::array<std::byte, 256> bytes{};
    ssize_t size = 0;
    while ((size = ::recv(other.get(), bytes.data(), bytes.size(), 0)) > 0) {
      reader.add(std::span(bytes).first(static_cast<std::size_t>(size)));
    }
    EXPECT_EQ(size, 0);
    const auto frame = reader.next();
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->head.value, 7);
  }
  for (const HostConnection* const one : all) EXPECT_TRUE(one->is_lost());
}

}  // namespace
}  // namespace photonrun
