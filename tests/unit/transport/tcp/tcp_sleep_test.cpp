// What ends a sleep; the rest of it stands in the conformance suite.
#include <atomic>
#include <cstdlib>
#include <memory>
#include <thread>

#include "tcp_ranks.hpp"
#include "wire/record.hpp"

namespace photon::transport::tcp::test {
namespace {

constexpr std::int64_t kTenMinutesUs = 600'000'000;

TEST(TcpSleep, a_stranger_at_the_port_ends_no_sleep_for_long_and_is_dealt_with) {
  TcpRanks ranks(2);
  Stranger stranger(ranks[0].tcp().address());
  const char nonsense[64] = "nonsense";
  stranger.say(nonsense);
  while (!stranger.is_closed()) {
    ranks[0].transport->arm();
    ranks[0].transport->poll(ranks[0].news);
    ranks[0].transport->sleep(100'000);
    ranks[0].transport->disarm();
    ranks[0].transport->poll(ranks[0].news);
  }
  EXPECT_EQ(ranks[0].tcp().refused(Refusal::garbage), 1u);
}

// A sender whose peer does not read sleeps until there is room.
TEST(TcpSleep, room_in_a_full_socket_ends_it) {
  TcpRanks ranks(2);
  ASSERT_TRUE(ranks.join(0, 1));
  std::vector<std::byte> source(32 << 20, std::byte{1}), to(32 << 20);
  ASSERT_TRUE(ranks[0].transport->post(fragment_to_rank_1(ranks, source, to)));
  std::atomic<bool> is_over = false;
  std::thread reader([&] {
    while (!is_over) ranks[1].transport->poll(ranks[1].news);
  });
  unsigned sleeps = 0;
  while (ranks[0].news.done.empty()) {
    ranks[0].transport->arm();
    ranks[0].transport->poll(ranks[0].news);
    if (ranks[0].news.done.empty()) {
      ranks[0].transport->sleep(kTenMinutesUs);
      ++sleeps;
    }
    ranks[0].transport->disarm();
    ranks[0].transport->poll(ranks[0].news);
  }
  is_over = true;
  reader.join();
  EXPECT_EQ(to, source);
  EXPECT_GT(sleeps, 0u);
}

struct Freed {
  void operator()(std::byte* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<std::byte, Freed>;  // zeroed; untouched pages cost nothing

// One thread is about to sleep, another one polls, and reads much that is no news yet: the rest of
// it has to wake the first.
TEST(TcpSleep, what_another_thread_has_begun_to_read_ends_it) {
  constexpr std::size_t kBytes = 64 << 20;
  // They outlive the ranks, which go in the middle of a fragment.
  const Memory source(static_cast<std::byte*>(std::calloc(kBytes, 1)));
  const Memory to(static_cast<std::byte*>(std::calloc(kBytes, 1)));
  TcpRanks ranks(2);
  ASSERT_TRUE(ranks.join(0, 1));
  ranks[1].transport->regions()[5].publish(
      5, {reinterpret_cast<std::uintptr_t>(to.get()), kBytes, PH_ACCESS_ALL});
  PostedFragment fragment;
  fragment.rank = 1;
  fragment.address = reinterpret_cast<std::uintptr_t>(to.get());
  fragment.key = 5;
  fragment.size_bytes = kBytes;
  fragment.source = source.get();
  // How much of a fragment goes at once is the kernel's affair: when one is over, the next follows.
  const auto keep_sending = [&] {
    if (ranks[0].news.done.count(fragment.token) == 0) return;
    ++fragment.token;
    ASSERT_TRUE(ranks[0].transport->post(fragment));
  };
  ranks[1].transport->arm();
  fragment.token = 1;
  ASSERT_TRUE(ranks[0].transport->post(fragment));
  for (int i = 0; i < 24; ++i) {
    ranks.turn();
    keep_sending();
  }
  for (int i = 0; i < 24; ++i) {  // more than a socket can wait for its look
    ranks[0].transport->poll(ranks[0].news);
    keep_sending();
  }
  ranks[1].transport->sleep(kTenMinutesUs);
  ranks[1].transport->disarm();
}

// Sockets that bring much leave the epoll set, and are back in it before their rank sleeps.
TEST(TcpSleep, sockets_that_every_poll_has_read_end_it_as_well) {
  constexpr Rank kPeers = 4;  // more than are read at every poll
  constexpr int kOften = 40;
  TcpRanks ranks(kPeers + 1);
  std::uint64_t to = 0;
  ranks[0].transport->regions()[5].publish(
      5, {reinterpret_cast<std::uintptr_t>(&to), sizeof to, PH_ACCESS_ALL});
  const auto write = [&](Rank from, std::uint64_t value) {
    PostedFragment fragment;
    fragment.address = reinterpret_cast<std::uintptr_t>(&to);
    fragment.key = 5;
    fragment.size_bytes = sizeof value;
    fragment.source = reinterpret_cast<const std::byte*>(&value);
    fragment.token = value;
    EXPECT_TRUE(ranks[from].transport->post(fragment));
    while (ranks[from].news.done.count(value) == 0) ranks[from].transport->poll(ranks[from].news);
    EXPECT_EQ(ranks[from].news.done.at(value), PH_OK);
  };
  for (Rank peer = 1; peer <= kPeers; ++peer) ASSERT_TRUE(ranks.join(0, peer));
  std::atomic<bool> is_awake = true, is_over = false;
  std::thread writers([&] {
    std::uint64_t value = 0;
    for (int round = 0; round < 3; ++round)
      for (Rank peer = 1; peer <= kPeers; ++peer)
        for (int i = 0; i < kOften; ++i) {
          // The last of each peer's comes while rank 0 sleeps.
          is_awake = i + 1 < kOften;
          write(peer, ++value);
        }
    is_over = true;
    ranks[0].transport->wake();
  });
  while (!is_over) {
    if (is_awake) {
      ranks[0].transport->poll(ranks[0].news);
      continue;
    }
    ranks[0].transport->arm();
    ranks[0].transport->poll(ranks[0].news);
    if (!is_over) ranks[0].transport->sleep(kTenMinutesUs);
    ranks[0].transport->disarm();
    ranks[0].transport->poll(ranks[0].news);
  }
  writers.join();
  EXPECT_EQ(to, std::uint64_t{3} * kPeers * kOften);
}

}  // namespace
}  // namespace photon::transport::tcp::test
