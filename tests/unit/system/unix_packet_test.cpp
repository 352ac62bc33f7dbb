#include "system/unix_packet.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "send_descriptors.hpp"

namespace photon::system {
namespace {

std::span<const std::byte> as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

struct Ends {
  UniqueFd a;
  UniqueFd b;
};

Ends make_ends(int type) {
  int fds[2];
  EXPECT_EQ(::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, fds), 0);
  return {UniqueFd(fds[0]), UniqueFd(fds[1])};
}

TEST(UnixPacket, header_body_and_descriptors_arrive_as_one) {
  const Ends ends = make_ends(SOCK_SEQPACKET);
  const Ends sent = make_ends(SOCK_STREAM);
  const std::array<int, 1> fds{sent.a.get()};
  const auto result =
      try_send(ends.a.get(), {.header = as_bytes("head"), .body = as_bytes("body"), .fds = fds});
  ASSERT_EQ(result, Sent::taken);
  std::array<std::byte, 64> buffer;
  auto arrival = try_receive(ends.b.get(), buffer);
  ASSERT_TRUE(arrival);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(buffer.data()), arrival->size_bytes),
            "headbody");
  ASSERT_EQ(arrival->fds.size(), 1u);
  const int received = arrival->fds[0].get();
  EXPECT_EQ(::fcntl(received, F_GETFD), FD_CLOEXEC);
  ASSERT_EQ(::write(received, "x", 1), 1);
  char text = 0;
  ASSERT_EQ(::read(sent.b.get(), &text, 1), 1);
  EXPECT_EQ(text, 'x');
}

TEST(UnixPacket, nothing_there_is_no_error_and_a_closed_end_reads_as_size_0) {
  Ends ends = make_ends(SOCK_SEQPACKET);
  std::array<std::byte, 8> buffer;
  EXPECT_FALSE(try_receive(ends.b.get(), buffer));
  EXPECT_EQ(errno, EAGAIN);
  ends.a.reset();
  EXPECT_EQ(try_receive(ends.b.get(), buffer)->size_bytes, 0u);
  EXPECT_EQ(try_send(ends.b.get(), {.header = as_bytes("x")}), Sent::gone);
}

TEST(UnixPacket, what_was_sent_before_closing_arrives_although_the_sender_left_packets_unread) {
  Ends ends = make_ends(SOCK_SEQPACKET);
  ASSERT_EQ(try_send(ends.b.get(), {.header = as_bytes("unread")}), Sent::taken);
  ASSERT_EQ(try_send(ends.a.get(), {.header = as_bytes("last")}), Sent::taken);
  ends.a.reset();  // now the system says ECONNRESET, once, before the last packet
  std::array<std::byte, 8> buffer;
  EXPECT_EQ(try_receive(ends.b.get(), buffer)->size_bytes, 4u);
  EXPECT_EQ(try_receive(ends.b.get(), buffer)->size_bytes, 0u);
}

// The kernel looks into the queue and then whether the other end is closed: a packet that comes in
// between must not be taken for the end. Some of the rounds hit that moment.
TEST(UnixPacket, what_is_sent_and_closed_behind_while_somebody_looks_arrives) {
  // Fewer rounds where others compute, and each yield costs a time slice; but so many at least.
  constexpr int kRounds = 20000, kLeast = 100;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  std::atomic<int> given{-1};  // rounds whose ends are there; kRounds: no more come
  std::atomic<int> sent{-1};
  Ends ends;
  std::thread sender([&] {
    for (int round = 0; round < kRounds; ++round) {
      while (given < round) std::this_thread::yield();
      if (given == kRounds) return;
      EXPECT_EQ(try_send(ends.a.get(), {.header = as_bytes("last")}), Sent::taken);
      ::shutdown(ends.a.get(), SHUT_RDWR);
      sent = round;
    }
  });
  int lost = 0;
  unsigned looks = 0;
  std::array<std::byte, 8> buffer;
  const auto goes_on = [&](int round) {
    return round < kRounds && (round < kLeast || std::chrono::steady_clock::now() < until);
  };
  for (int round = 0; goes_on(round); ++round) {
    ends = make_ends(SOCK_SEQPACKET);
    given = round;
    int packets = 0;
    for (bool is_over = false; !is_over;) {
      const auto arrival = try_receive(ends.b.get(), buffer);
      if (!arrival) {
        if (++looks % 64 == 0) std::this_thread::yield();
        continue;
      }
      is_over = arrival->size_bytes == 0;
      packets += is_over ? 0 : 1;
    }
    lost += packets == 1 ? 0 : 1;
    while (sent < round) std::this_thread::yield();
  }
  given = kRounds;
  sender.join();
  EXPECT_EQ(lost, 0);
}

TEST(UnixPacket, one_that_does_not_fit_is_marked_truncated) {
  const Ends ends = make_ends(SOCK_SEQPACKET);
  ASSERT_EQ(try_send(ends.a.get(), {.header = as_bytes("123456789")}), Sent::taken);
  std::array<std::byte, 8> buffer;
  EXPECT_TRUE(try_receive(ends.b.get(), buffer)->truncated);
}

// None of them is lost, so this process may have them: it is the sender that is wrong.
TEST(UnixPacket, one_with_more_descriptors_than_any_of_ours_is_marked_truncated) {
  const Ends ends = make_ends(SOCK_SEQPACKET);
  std::array<std::byte, 8> buffer;
  for (const std::size_t count : {kMostFds, kMostFds + 1, 2 * kMostFds}) {
    ASSERT_TRUE(test::send_descriptors(ends.a.get(), as_bytes("x"), ends.a.get(), count));
    const auto arrival = try_receive(ends.b.get(), buffer);
    ASSERT_TRUE(arrival);
    EXPECT_EQ(arrival->truncated, count > kMostFds) << count;
    EXPECT_FALSE(arrival->lost_descriptors) << count;
    EXPECT_EQ(arrival->fds.size(), count);
  }
  ASSERT_TRUE(test::send_descriptors(ends.a.get(), as_bytes("x"), ends.a.get(), 2 * kMostFds + 1));
  const auto arrival = try_receive(ends.b.get(), buffer);
  ASSERT_TRUE(arrival);
  EXPECT_TRUE(arrival->truncated && arrival->lost_descriptors);
}

TEST(UnixPacket, a_full_socket_refuses_without_blocking) {
  const Ends ends = make_ends(SOCK_SEQPACKET);
  Sent last = Sent::taken;
  for (int i = 0; i < 100000 && last == Sent::taken; ++i) {
    last = try_send(ends.a.get(), {.header = as_bytes("x")});
  }
  EXPECT_EQ(last, Sent::full);
}

TEST(UnixPacket, a_bad_descriptor_and_too_many_of_them_are_failures) {
  const Ends ends = make_ends(SOCK_SEQPACKET);
  const std::vector<int> bad{-1};
  EXPECT_EQ(try_send(ends.a.get(), {.header = as_bytes("x"), .fds = bad}), Sent::failed);
  EXPECT_EQ(errno, EBADF);
  const std::vector<int> many(kMostFds + 1, ends.a.get());
  EXPECT_EQ(try_send(ends.a.get(), {.header = as_bytes("x"), .fds = many}), Sent::failed);
  EXPECT_EQ(errno, EINVAL);
}

TEST(UnixPacket, what_is_no_socket_fails_for_good) {
  std::array<std::byte, 8> buffer;
  EXPECT_FALSE(try_receive(-1, buffer));
  EXPECT_EQ(errno, EBADF);
  EXPECT_FALSE(will_pass(EBADF));
  EXPECT_TRUE(will_pass(EAGAIN) && will_pass(ETOOMANYREFS));
}

TEST(UnixPacket, its_sender_is_told_where_that_is_asked_for) {
  const Ends ends = make_ends(SOCK_SEQPACKET);
  const int on = 1;
  ASSERT_EQ(::setsockopt(ends.b.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on), 0);
  ASSERT_EQ(try_send(ends.a.get(), {.header = as_bytes("x")}), Sent::taken);
  std::array<std::byte, 8> buffer;
  const auto arrival = try_receive(ends.b.get(), buffer);
  ASSERT_TRUE(arrival && arrival->sender);
  EXPECT_EQ(arrival->sender->pid, ::getpid());
}

}  // namespace
}  // namespace photon::system
