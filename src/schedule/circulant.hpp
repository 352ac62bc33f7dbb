// Says which block of a broadcast a place receives in a round, on a circulant graph. In each round
// every place sends to the place that is distance(round) behind it; the distances come from halving
// the size of the team again and again, rounded up. A turn has rounds() rounds. In each turn a
// place receives one of the newest blocks and some of the turn before, none twice, and hands on
// what it has. A call takes about as many steps as there are rounds in a turn. Owner: none; a plain
// value. Threads: any. Source: J. L. Traff, Optimal Broadcast Schedules in Logarithmic Time with
// Applications to Broadcast, All-Broadcast, Reduction and All-Reduction, 2024.
#pragma once

#include <array>
#include <cstdint>

namespace photon::schedule {

class Circulant {
 public:
  explicit Circulant(std::uint32_t size) noexcept;  // for two places or more

  std::uint32_t rounds() const noexcept { return rounds_; }
  std::uint32_t distance(std::uint32_t round) const noexcept {
    return static_cast<std::uint32_t>(skips_[round]);
  }
  // The block that a place other than 0 receives in that round of the first turn. In each later
  // turn the number is larger by rounds(). A number below 0 means a block of the turn before; in
  // the first turn nothing is received then.
  std::int64_t received(std::uint32_t place, std::uint32_t round) const noexcept;

 private:
  static constexpr std::uint32_t kMostRounds = 32;
  struct Search;

  std::uint32_t first_block(std::uint32_t place) const noexcept;

  std::uint32_t rounds_;
  std::array<std::int64_t, kMostRounds + 1> skips_;
};

}  // namespace photon::schedule
