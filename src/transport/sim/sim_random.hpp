// Seeded random numbers that are the same with every compiler and library: splitmix64 (Steele, Lea,
// Flood: Fast splittable pseudorandom number generators, OOPSLA 2014). No std distributions: what
// they yield is not specified.
// Owner: whoever holds the object.
#pragma once

#include <cstdint>

namespace photon::transport::sim {

class Random {
 public:
  explicit constexpr Random(std::uint64_t seed = 0) noexcept : state_(seed) {}

  constexpr std::uint64_t next() noexcept {
    state_ += 0x9e3779b97f4a7c15;
    return mix(state_);
  }
  // 0..max; slightly uneven where max + 1 does not divide 2^64, which no test can notice.
  constexpr std::uint64_t up_to(std::uint64_t max) noexcept {
    return max == ~std::uint64_t{0} ? next() : next() % (max + 1);
  }
  // A stream of its own for each number, so that what one link draws never shifts another's.
  constexpr Random stream(std::uint64_t number) const noexcept {
    return Random(mix(state_ ^ mix(number + 1)));
  }

 private:
  static constexpr std::uint64_t mix(std::uint64_t z) noexcept {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
};

}  // namespace photon::transport::sim
