// One clock for every figure: CLOCK_MONOTONIC is the same in all processes of a host, so times
// taken by different ranks may be subtracted.
// Owner: none.
#pragma once

#include <time.h>

#include <algorithm>
#include <cstdint>

namespace photon::perf {

inline std::uint64_t now_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(now.tv_nsec);
}

// What one pair of readings adds to the interval between them. The smallest of many: a larger one
// was an interrupt.
inline std::uint64_t clock_cost_ns() noexcept {
  std::uint64_t cost_ns = UINT64_MAX;
  for (int i = 0; i < 1000; ++i) {
    const auto start_ns = now_ns();
    cost_ns = std::min(cost_ns, now_ns() - start_ns);
  }
  return cost_ns;
}

inline void sleep_ns(std::uint64_t duration_ns) noexcept {
  timespec left{};
  left.tv_sec = static_cast<time_t>(duration_ns / 1'000'000'000U);
  left.tv_nsec = static_cast<long>(duration_ns % 1'000'000'000U);
  while (nanosleep(&left, &left) != 0) {
  }
}

}  // namespace photon::perf
