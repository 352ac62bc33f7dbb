// Simulated time and the durations that a rate gives. Time is integer picoseconds, so that sums are
// exact and two machines agree. Invariant: durations of flits are at least one picosecond.
#pragma once

#include <cstdint>

namespace photon::netsim {

using Time = std::uint64_t;  // picoseconds since the run began
inline constexpr Time kNever = ~Time{0};
// No run goes on after it, and no single duration is as long, so that no sum of both overflows.
inline constexpr Time kEndOfTime = (Time{1} << 63) - 1;  // 106 days
inline constexpr Time kPicosecondsPerNs = 1000;

// To the nearest whole picosecond, halves up. `ps` is at least 0 and below 2^64.
constexpr Time rounded_ps(double ps) {
  const auto whole = static_cast<Time>(ps);
  return ps - static_cast<double>(whole) >= 0.5 ? whole + 1 : whole;
}
constexpr Time time_of_ns(double ns) { return rounded_ps(ns * 1000.0); }

// What rounding to whole picoseconds made of a rate: `error` is its relative change.
struct FlitTime {
  Time ps = 1;
  double error = 0;
};

// The time of one flit at `GBps` (10^9 bytes a second), rounded to 1 ps, but at least 1 ps.
constexpr FlitTime flit_time(std::uint32_t flit_bytes, double GBps) {
  const double exact = flit_bytes * 1000.0 / GBps;
  const Time rounded = rounded_ps(exact);
  const Time ps = rounded == 0 ? 1 : rounded;
  const double change = (static_cast<double>(ps) - exact) / exact;
  return {ps, change < 0 ? -change : change};
}

// Sizes are whole flits, rounded up; even an empty packet is one flit.
constexpr std::uint64_t flits_of(std::uint64_t bytes, std::uint32_t flit_bytes) {
  const std::uint64_t flits = (bytes + flit_bytes - 1) / flit_bytes;
  return flits == 0 ? 1 : flits;
}

static_assert(rounded_ps(0.5) == 1 && rounded_ps(1.5) == 2 && rounded_ps(0.49999999999999994) == 0);
static_assert(flit_time(16, 12.5).ps == 1280 && flit_time(16, 18.75).ps == 853);
static_assert(flits_of(19200, 16) == 1200 && flits_of(1, 16) == 1 && flits_of(0, 16) == 1);

}  // namespace photon::netsim
