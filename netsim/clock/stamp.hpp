// A time in 32 bits, for what travels with each packet: 28 bits of nanoseconds, and 4 bits that say
// by how many powers of four they were divided.
// Invariant: below 2^28 ns (268 ms) it is exact, later it is early by less than 1/2^26 of the time.
#pragma once

#include <bit>
#include <cstdint>

#include "netsim/clock/time.hpp"

namespace photon::netsim {

inline constexpr unsigned kStampBits = 28;

constexpr std::uint32_t stamp_of(Time time) {
  const std::uint64_t ns = time / kPicosecondsPerNs;
  const auto width = static_cast<unsigned>(std::bit_width(ns));
  const unsigned fours = width > kStampBits ? (width - kStampBits + 1) / 2 : 0;
  return static_cast<std::uint32_t>(std::uint64_t{fours} << kStampBits | ns >> 2 * fours);
}

constexpr std::uint64_t ns_of_stamp(std::uint32_t stamp) {
  constexpr std::uint32_t kMask = (std::uint32_t{1} << kStampBits) - 1;
  return std::uint64_t{stamp & kMask} << 2 * (stamp >> kStampBits);
}

static_assert(ns_of_stamp(stamp_of(268'435'455'999)) == 268'435'455);
static_assert(ns_of_stamp(stamp_of(268'435'459'000)) == 268'435'456);
static_assert(ns_of_stamp(stamp_of(kEndOfTime)) <= kEndOfTime / kPicosecondsPerNs);
static_assert(ns_of_stamp(stamp_of(kEndOfTime)) >= kEndOfTime / kPicosecondsPerNs / 64 * 63);

}  // namespace photon::netsim
