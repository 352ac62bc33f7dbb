#include "team.hpp"

#include <algorithm>

#include "clock.hpp"

namespace photon::perf {

// The generation this member waits for. The last to arrive opens it.
std::uint64_t Team::arrive() noexcept {
  auto& generation = meeting().generation.line.flag;
  auto& arrived = meeting().arrived.line.flag;
  const auto wanted = generation.load_acquire() + 1;
  if (arrived.add(1) + 1 == count_) {
    arrived.store_release(0);
    generation.store_release(wanted);
  }
  return wanted;
}

void Team::barrier() noexcept {
  const auto wanted = arrive();
  const auto& generation = meeting().generation.line.flag;
  for (int turn = 0; generation.load_acquire() != wanted; ++turn) {
    if (turn < 1000) {
      relax_processor();
    } else {
      sched_yield();
    }
  }
}

void Team::barrier_asleep() noexcept {
  const auto wanted = arrive();
  constexpr std::uint64_t kLongest_ns = 10'000'000;  // many sleepers must not disturb the others
  std::uint64_t nap_ns = 50'000;
  while (meeting().generation.line.flag.load_acquire() != wanted) {
    sleep_ns(nap_ns);
    nap_ns = std::min(nap_ns * 2, kLongest_ns);
  }
}

std::uint64_t Team::agree(std::uint64_t mine) noexcept {
  auto& agreed = meeting().agreed.line.flag;
  if (index_ == 0) agreed.store_release(mine);
  barrier();
  const auto value = agreed.load_acquire();
  barrier();
  return value;
}

}  // namespace photon::perf
