// One clock for every figure: CLOCK_MONOTONIC is the same in all processes of a host, so times
// taken by different ranks may be subtracted.
// Owner: none.
#pragma once

#include <time.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>

namespace photon::perf {

inline std::uint64_t now_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(now.tv_nsec);
}

// What one pair of readings adds to the interval between them, on average, for the clock may move
// in steps as long as that. The longest were interrupted and do not count.
inline double clock_cost_ns() noexcept {
  constexpr std::size_t kPairs = 1000;
  constexpr std::size_t kCounted = kPairs - kPairs / 20;
  std::array<std::uint64_t, kPairs> costs_ns{};
  for (auto& cost_ns : costs_ns) {
    const auto start_ns = now_ns();
    cost_ns = now_ns() - start_ns;
  }
  std::sort(costs_ns.begin(), costs_ns.end());
  const auto sum_ns =
      std::accumulate(costs_ns.begin(), costs_ns.begin() + kCounted, std::uint64_t{0});
  return static_cast<double>(sum_ns) / kCounted;
}

inline void sleep_ns(std::uint64_t duration_ns) noexcept {
  timespec left{};
  left.tv_sec = static_cast<time_t>(duration_ns / 1'000'000'000U);
  left.tv_nsec = static_cast<long>(duration_ns % 1'000'000'000U);
  while (nanosleep(&left, &left) != 0) {
  }
}

}  // namespace photon::perf
