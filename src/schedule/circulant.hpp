// Which block of a broadcast a place receives in a round, on a circulant graph: every place sends
// to the one a distance behind it, and distances halve the team, rounded up. In each turn of
// rounds() rounds a place receives one block of the newest ones and others of the turn before,
// none twice, and hands on what it has. Computed in so many steps as there are rounds in a turn.
// Owner: none; a plain value. Threads: any.
// Source: J. L. Traff, Optimal Broadcast Schedules in Logarithmic Time with Applications to
// Broadcast, All-Broadcast, Reduction and All-Reduction, 2024.
#pragma once

#include <array>
#include <cstdint>

namespace photon::schedule {

class Circulant {
 public:
  explicit Circulant(std::uint32_t size) noexcept;  // two places or more

  std::uint32_t rounds() const noexcept { return rounds_; }
  std::uint32_t distance(std::uint32_t round) const noexcept {
    return static_cast<std::uint32_t>(skips_[round]);
  }
  // The block that place > 0 receives in that round of the first turn: less than 0 is one of an
  // earlier turn, which in the first turn there was not. Each turn adds rounds().
  std::int64_t received(std::uint32_t place, std::uint32_t round) const noexcept;

 private:
  static constexpr std::uint32_t kMostRounds = 32;
  struct Search;

  std::uint32_t first_block(std::uint32_t place) const noexcept;

  std::uint32_t rounds_;
  std::array<std::int64_t, kMostRounds + 1> skips_;
};

}  // namespace photon::schedule
