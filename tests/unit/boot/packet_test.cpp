#include "boot/packet.hpp"

#include <array>
#include <cerrno>
#include <vector>

#include "boot_ranks.hpp"

namespace photon::test {
namespace {

// What arrives how: tests/unit/system/unix_packet_test.cpp.
TEST(Packet, errors_name_the_call_and_its_other_end) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
  const base::UniqueFd one(ends[0]);
  const base::UniqueFd other(ends[1]);
  const std::vector<int> bad{-1};
  const auto sent = boot::send_packet(one.get(), {.header = as_bytes("x"), .fds = bad});
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().native_errno, EBADF);
  EXPECT_EQ(sent.error().what, "sendmsg to another rank or the launcher: Bad file descriptor");
  std::array<std::byte, 8> buffer;
  const auto arrival = boot::receive_packet(-1, buffer);
  ASSERT_FALSE(arrival);
  EXPECT_EQ(arrival.error().what, "recvmsg from another rank or the launcher: Bad file descriptor");
  EXPECT_FALSE(boot::duplicate(bad));
  const std::vector<int> many(system::kMostFds + 1, one.get());
  const auto refused = boot::send_packet(one.get(), {.header = as_bytes("x"), .fds = many});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().status, PH_ERR_ARGUMENT);
}

TEST(Packet, nothing_there_a_full_socket_and_an_end_that_closed_are_no_errors) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
  base::UniqueFd one(ends[0]);
  const base::UniqueFd other(ends[1]);
  std::array<std::byte, 8> buffer;
  EXPECT_FALSE(*boot::receive_packet(other.get(), buffer));
  boot::Sent last = boot::Sent::taken;
  for (int i = 0; i < 100000 && last == boot::Sent::taken; ++i)
    last = *boot::send_packet(other.get(), {.header = as_bytes("x")});
  EXPECT_EQ(last, boot::Sent::full);
  one.reset();
  EXPECT_EQ((*boot::receive_packet(other.get(), buffer))->size_bytes, 0u);
  EXPECT_EQ(*boot::send_packet(other.get(), {.header = as_bytes("x")}), boot::Sent::gone);
}

}  // namespace
}  // namespace photon::test
