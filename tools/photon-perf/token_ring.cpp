#include "token_ring.hpp"

#include "clock.hpp"

namespace photon::perf {
namespace {

// Index 0 starts a lap with `give`, the others answer; `await(n)` returns when token n is here.
// Tokens are numbered by hop: hop n arrives at member n % count.
template <class Await, class Give>
Outcome run_laps(Team& team, std::uint64_t laps, Await await, Give give) {
  const auto count = team.count();
  const auto laps_a_batch = (kBatch + count - 1) / count;
  Outcome outcome;
  team.barrier();
  auto start_ns = now_ns();
  for (std::uint64_t lap = 0; lap < laps; ++lap) {
    const auto first_hop = lap * count;
    if (team.index() != 0) {
      await(first_hop + team.index());
      give(first_hop + team.index() + 1);
      continue;
    }
    give(first_hop + 1);
    await(first_hop + count);
    if ((lap + 1) % laps_a_batch != 0 && lap + 1 != laps) continue;
    const auto now = now_ns();
    const auto laps_done = lap % laps_a_batch + 1;
    outcome.batches_ns.push_back(static_cast<double>(now - start_ns) /
                                 static_cast<double>(laps_done * count));
    start_ns = now;
  }
  team.barrier();
  return outcome;
}

}  // namespace

Outcome pass_token(const Job& job, Team& team, std::uint64_t laps, Waiting waiting) {
  Inbox inbox(job);
  const auto await = [&](std::uint64_t hop) {
    if (waiting == Waiting::asleep) {
      const ph_query query{PH_ANY_RANK, PH_REMOTE, nullptr};
      constexpr std::int64_t kLookUp_us = 1'000'000;  // whether a peer is dead
      auto status = ph_wait(job.context(), query, kLookUp_us);
      for (; status == PH_TIMEOUT; status = ph_wait(job.context(), query, kLookUp_us))
        job.check_peers();
      job.check(status, "waiting for the token");
    }
    if (inbox.await_remote() != hop) throw Failure("a wrong token arrived");
  };
  const auto give = [&](std::uint64_t hop) {
    const auto next = (team.index() + 1) % team.count();
    inbox.post([&] { return ph_notify(job.context(), next, hop); }, "passing the token");
  };
  return run_laps(team, laps, await, give);
}

Outcome yield_token(Team& team, std::uint64_t laps) {
  auto& token = team.area().token.line.flag;
  if (team.index() == 0) token.store_release(0);
  const auto await = [&](std::uint64_t hop) {
    while (token.load_acquire() != hop) sched_yield();
  };
  const auto give = [&](std::uint64_t hop) { token.store_release(hop); };
  return run_laps(team, laps, await, give);
}

}  // namespace photon::perf
