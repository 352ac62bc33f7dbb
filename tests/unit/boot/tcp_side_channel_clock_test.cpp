// Deadlines, which a sleeper over the Watch is woken for.
#include "tcp_side_channel_ranks.hpp"

namespace photon::boot::test {
namespace {

using Clock = std::chrono::steady_clock;
using TcpSideChannelClock = TcpSideChannelTest;

void sleep_over(TcpSideChannelRanks& ranks, Rank rank) {
  pollfd entry{.fd = ranks.fd(rank), .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&entry, 1, 15'000), 1) << "the clock did not ring";
  ranks.turn(rank);
}

TEST_F(TcpSideChannelClock, who_says_nothing_in_time_is_refused_and_wakes_the_sleeper) {
  TcpSideChannelRanks ranks(2, {.pending_ns = 100'000'000});
  const Caller silent(ranks[0].address());
  const auto begin = Clock::now();
  while (ranks[0].refused_count() == 0 && !HasFailure()) sleep_over(ranks, 0);
  EXPECT_GE(Clock::now() - begin, std::chrono::milliseconds(100));
  EXPECT_TRUE(silent.is_closed());
  ranks.join(0, 1);
}

TEST_F(TcpSideChannelClock, the_next_attempt_wakes_the_sleeper) {
  auto listener = listen_at(*choose_address("127.0.0.1", true));
  TcpSideChannelRanks ranks(2, {.places = {{1, listener->address}}});
  ASSERT_TRUE(*ranks.send(0, 1, "hello"));
  for (int times = 0; times < 3; ++times) {
    base::UniqueFd one;
    while (!one && !HasFailure()) {
      one.reset(::accept(listener->socket.get(), nullptr, nullptr));
      if (!one) sleep_over(ranks, 0);
    }
  }
}

TEST_F(TcpSideChannelClock, a_job_that_has_said_all_is_not_woken) {
  TcpSideChannelRanks ranks(2, {.round_ns = kRoundNs});
  ranks.join(0, 1);
  EXPECT_NE(ranks.time().next_ns(), 0) << "it looks for confirmations";
  // Until these looks have found all confirmed, which is the kernel's affair.
  ASSERT_TRUE(ranks.eventually([&] {
    for (const Rank rank : {0u, 1u}) ranks.turn(rank);  // a timer that has just rung is set anew
    return ranks.time().next_ns() == 0;
  }));
  ranks.time().move_ns(60'000'000'000);
  for (const Rank rank : {0u, 1u}) {
    pollfd entry{.fd = ranks.fd(rank), .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&entry, 1, 0), 0) << rank;
  }
}

}  // namespace
}  // namespace photon::boot::test
