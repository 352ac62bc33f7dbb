#include "boot/packet.hpp"

#include <fcntl.h>

#include <atomic>
#include <chrono>

#include "boot_ranks.hpp"

namespace photon::test {
namespace {

struct Ends {
  base::UniqueFd a;
  base::UniqueFd b;
};

Ends make_ends(int type) {
  int fds[2];
  EXPECT_EQ(::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, fds), 0);
  return {base::UniqueFd(fds[0]), base::UniqueFd(fds[1])};
}

TEST(Packet, header_body_and_descriptors_arrive_as_one) {
  const Ends ends = make_ends(SOCK_SEQPACKET);
  const Ends sent = make_ends(SOCK_STREAM);
  const std::array<int, 1> fds{sent.a.get()};
  const auto result = boot::send_packet(
      ends.a.get(), {.header = as_bytes("head"), .body = as_bytes("body"), .fds = fds});
  ASSERT_EQ(*result, boot::Sent::taken);
  std::array<std::byte, 64> buffer;
  auto arrival = boot::receive_packet(ends.b.get(), buffer);
  ASSERT_TRUE(arrival && *arrival);
  EXPECT_EQ(as_text(std::span(buffer).first((*arrival)->size_bytes)), "headbody");
  ASSERT_EQ((*arrival)->fds.size(), 1u);
  const int received = (*arrival)->fds[0].get();
  EXPECT_EQ(::fcntl(received, F_GETFD), FD_CLOEXEC);
  ASSERT_EQ(::write(received, "x", 1), 1);
  char text = 0;
  ASSERT_EQ(::read(sent.b.get(), &text, 1), 1);
  EXPECT_EQ(text, 'x');
}

TEST(Packet, nothing_there_is_no_error_and_a_closed_end_reads_as_size_0) {
  Ends ends = make_ends(SOCK_SEQPACKET);
  std::array<std::byte, 8> buffer;
  EXPECT_FALSE(*boot::receive_packet(ends.b.get(), buffer));
  ends.a.reset();
  EXPECT_EQ((*boot::receive_packet(ends.b.get(), buffer))->size_bytes, 0u);
  EXPECT_EQ(*boot::send_packet(ends.b.get(), {.header = as_bytes("x")}), boot::Sent::gone);
}

TEST(Packet, what_was_sent_before_closing_arrives_although_the_sender_left_packets_unread) {
  Ends ends = make_ends(SOCK_SEQPACKET);
  ASSERT_TRUE(boot::send_packet(ends.b.get(), {.header = as_bytes("unread")}));
  ASSERT_TRUE(boot::send_packet(ends.a.get(), {.header = as_bytes("last")}));
  ends.a.reset();  // now the system says ECONNRESET, once, before the last packet
  std::array<std::byte, 8> buffer;
  EXPECT_EQ((*boot::receive_packet(ends.b.get(), buffer))->size_bytes, 4u);
  EXPECT_EQ((*boot::receive_packet(ends.b.get(), buffer))->size_bytes, 0u);
}

// The kernel looks into the queue and then whether the other end is closed: a packet that comes in
// between must not be taken for the end. Some of the rounds hit that moment.
TEST(Packet, what_is_sent_and_closed_behind_while_somebody_looks_arrives) {
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
      EXPECT_EQ(*boot::send_packet(ends.a.get(), {.header = as_bytes("last")}), boot::Sent::taken);
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
      const auto arrival = boot::receive_packet(ends.b.get(), buffer);
      if (!arrival || !*arrival) {
        if (++looks % 64 == 0) std::this_thread::yield();
        continue;
      }
      is_over = (*arrival)->size_bytes == 0;
      packets += is_over ? 0 : 1;
    }
    lost += packets == 1 ? 0 : 1;
    while (sent < round) std::this_thread::yield();
  }
  given = kRounds;
  sender.join();
  EXPECT_EQ(lost, 0);
}

TEST(Packet, one_that_does_not_fit_is_marked_truncated) {
  const Ends ends = make_ends(SOCK_SEQPACKET);
  ASSERT_TRUE(boot::send_packet(ends.a.get(), {.header = as_bytes("123456789")}));
  std::array<std::byte, 8> buffer;
  EXPECT_TRUE((*boot::receive_packet(ends.b.get(), buffer))->truncated);
}

TEST(Packet, a_full_socket_refuses_without_blocking) {
  const Ends ends = make_ends(SOCK_SEQPACKET);
  boot::Sent last = boot::Sent::taken;
  for (int i = 0; i < 100000 && last == boot::Sent::taken; ++i) {
    last = *boot::send_packet(ends.a.get(), {.header = as_bytes("x")});
  }
  EXPECT_EQ(last, boot::Sent::full);
}

TEST(Packet, a_bad_descriptor_is_an_error) {
  const Ends ends = make_ends(SOCK_SEQPACKET);
  const std::array<int, 1> fds{-1};
  EXPECT_EQ(
      boot::send_packet(ends.a.get(), {.header = as_bytes("x"), .fds = fds}).error().native_errno,
      EBADF);
  EXPECT_FALSE(boot::duplicate(fds));
}

}  // namespace
}  // namespace photon::test
