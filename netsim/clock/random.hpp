// A stream of random numbers of its own for every (seed, owner), so that no draw depends on what
// other routers or ranks do, nor on the number of threads. The generator is splitmix64.
#pragma once

#include <cstdint>

namespace photon::netsim {

class Random {
 public:
  Random() = default;
  Random(std::uint64_t seed, std::uint64_t owner) : state_(mix(seed + 1) ^ mix(~owner)) {}

  std::uint64_t next() { return mix(state_ += 0x9e3779b97f4a7c15U); }
  // One of 0 .. count - 1; count is at least 1.
  std::uint32_t below(std::uint32_t count) {
    return static_cast<std::uint32_t>(((next() >> 32) * count) >> 32);
  }

 private:
  static constexpr std::uint64_t mix(std::uint64_t value) {
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
    return value ^ (value >> 31);
  }

  std::uint64_t state_ = 0;
};

}  // namespace photon::netsim
