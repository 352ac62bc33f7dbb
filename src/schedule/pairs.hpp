// Places for algorithms that need a power of two: the largest one that is not above the team's
// size. As many of the first members as are too many form pairs, and each pair has one place; its
// second member is spare. Members that have neighbouring places are neighbours in the team. Owner:
// none; a plain value. Threads: any.
#pragma once

#include <cstdint>

#include "schedule/pieces.hpp"

namespace photon::schedule {

struct PairedPlaces {
  explicit PairedPlaces(const Call& call) noexcept : PairedPlaces(call, call.rank) {}
  PairedPlaces(const Call& call, std::uint32_t member) noexcept
      : rounds(floor_log2(call.size)),
        pairs(call.size - (1U << rounds)),
        in_pair(member < 2 * pairs),
        is_spare(in_pair && member % 2 == 1),
        place(in_pair ? member / 2 : member - pairs) {}

  std::uint32_t member_at(std::uint32_t of_place) const noexcept {
    return of_place < pairs ? 2 * of_place : of_place + pairs;
  }
  std::uint32_t partner(std::uint32_t round) const noexcept {
    return member_at(place ^ (1U << round));
  }

  std::uint32_t rounds;  // there are 2^rounds places
  std::uint32_t pairs;   // members 0 to 2 * pairs - 1 form pairs
  bool in_pair;
  bool is_spare;
  std::uint32_t place;  // the place of this member, or of its pair
};

}  // namespace photon::schedule
