// The steps by which one member receives a range of every other member and folds them with its own.
// It receives a few at a time, and folds them in team order (or in the order of distance),
// whichever comes first. Invariants: `result` is `own` (in place), or does not overlap it. The sum
// of the members before this one is never written over the own input before the two are folded.
// Owner: none; a plain value. Threads: any.
#pragma once

#include <algorithm>
#include <cstdint>

#include "schedule/pieces.hpp"

namespace photon::schedule {

struct MemberFolds {
  static constexpr std::uint32_t kMostEach =
      3;  // a phase has 3 receives, 3 folds, and the own fold

  std::uint32_t others;  // how many members' ranges come
  std::uint32_t own_at;  // how many of them are folded before the own input
  Range own;
  Range result;
  std::uint64_t slots_at = 0;      // where in `temp` the slots begin
  std::uint32_t each = kMostEach;  // receives in a phase

  std::uint64_t phases() const noexcept { return divide_up(others, each); }

  bool is_in_place() const noexcept {
    return own.space == result.space && own.first == result.first;
  }
  // In place, the sum of what comes before the own input is made in the first slot.
  bool sums_apart() const noexcept { return is_in_place() && own_at > 0; }
  Range slot(std::uint32_t index) const noexcept {
    return {Space::temp, slots_at + index * own.count, own.count};
  }
  Range sum_before(std::uint32_t i) const noexcept {
    return sums_apart() && i < own_at ? slot(0) : result;
  }
  // Whether range i begins the sum. The first one does, unless the own input stands there already.
  bool begins_sum(std::uint32_t i) const noexcept {
    return i == 0 && (!is_in_place() || sums_apart());
  }
  Range place_of(std::uint32_t i) const noexcept {
    return begins_sum(i) ? sum_before(0) : slot(sums_apart() + i % each);
  }
  std::uint64_t temp() const noexcept {
    const std::uint32_t rotating = others == 1 && begins_sum(0) ? 0 : std::min(each, others);
    return (sums_apart() + rotating) * own.count;
  }

  // Adds the folds of ranges first to end - 1 to a phase that has their receives already.
  void fold(std::uint32_t first, std::uint32_t end, Phase& phase) const noexcept {
    for (std::uint32_t i = first; i < end; ++i) {
      if (i == own_at && own_at > 0) fold_own(phase);
      if (!begins_sum(i)) phase.add(fold_behind(place_of(i), sum_before(i)));
      if (i == 0 && own_at == 0 && !is_in_place()) phase.add(fold_before(own, result));
    }
    if (end == others && own_at == others) fold_own(phase);
  }
  void fold_own(Phase& phase) const noexcept {
    phase.add(sums_apart() ? fold_before(slot(0), result) : fold_behind(own, result));
  }
};

}  // namespace photon::schedule
