// A power of two of places for a team of any size: of the first members two at a time act as one,
// the second of which is spare. A run of places is a run of members.
// Owner: none; a plain value. Threads: any.
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

  std::uint32_t rounds;
  std::uint32_t pairs;
  bool in_pair;
  bool is_spare;
  std::uint32_t place;  // of a spare member that of its pair
};

}  // namespace photon::schedule
