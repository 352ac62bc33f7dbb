#include "packet.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace photonrun {
namespace {

// As tests/unit/boot/packet_test.cpp has it of the ranks' end: the kernel looks into the queue and
// then whether the other end is closed, and a packet that comes in between must not be taken for
// the end.
TEST(LauncherPacket, what_is_sent_and_closed_behind_while_somebody_looks_arrives) {
  // Fewer rounds where others compute, and each yield costs a time slice; but so many at least.
  constexpr int kRounds = 20000, kLeast = 100;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  std::atomic<int> given{-1};  // rounds whose ends are there; kRounds: no more come
  std::atomic<int> sent{-1};
  Fd ranks;
  Fd ours;
  std::thread sender([&] {
    for (int round = 0; round < kRounds; ++round) {
      while (given < round) std::this_thread::yield();
      if (given == kRounds) return;
      EXPECT_EQ(write_packet(ranks.get(), make_packet({.type = PH_LAUNCH_LEAVE})), Io::done);
      ::shutdown(ranks.get(), SHUT_RDWR);
      sent = round;
    }
  });
  int lost = 0;
  unsigned looks = 0;
  const auto goes_on = [&](int round) {
    return round < kRounds && (round < kLeast || std::chrono::steady_clock::now() < until);
  };
  for (int round = 0; goes_on(round); ++round) {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    ranks.reset(ends[0]);
    ours.reset(ends[1]);
    given = round;
    int packets = 0;
    for (Io got = Io::again; got != Io::closed;) {
      Packet packet;
      got = read_packet(ours.get(), packet);
      if (got == Io::again && ++looks % 64 == 0) std::this_thread::yield();
      packets += got == Io::done ? 1 : 0;
    }
    lost += packets == 1 ? 0 : 1;
    while (sent < round) std::this_thread::yield();
  }
  given = kRounds;
  sender.join();
  EXPECT_EQ(lost, 0);
}

}  // namespace
}  // namespace photonrun
