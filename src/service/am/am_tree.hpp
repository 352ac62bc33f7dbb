// The tree of all ranks along which a quiesce asks (docs/active-messages.md, "Quiescence").
//
// A neighbour has a place: a child that of its order, 0 to 3; the parent place kParent.
// Owner: none; plain values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "service/message.hpp"

namespace photon::service::am {

struct AmTree {
  static constexpr std::uint32_t kBranches = 4;
  static constexpr std::size_t kParent = kBranches;
  static constexpr std::size_t kPlaces = kBranches + 1;

  Rank me = 0;
  std::uint32_t ranks_count = 1;

  constexpr bool is_root() const noexcept { return me == 0; }
  constexpr std::uint32_t children_count() const noexcept {
    const std::uint64_t first = std::uint64_t{me} * kBranches + 1;
    return first >= ranks_count ? 0
                                : static_cast<std::uint32_t>(
                                      std::min<std::uint64_t>(kBranches, ranks_count - first));
  }
  constexpr bool has(std::size_t place) const noexcept {
    return place == kParent ? !is_root() : place < children_count();
  }
  // Of a place that it has.
  constexpr Rank at(std::size_t place) const noexcept {
    return place == kParent ? (me - 1) / kBranches
                            : me * kBranches + 1 + static_cast<std::uint32_t>(place);
  }
  // Empty: that rank is no neighbour.
  constexpr std::optional<std::size_t> place_of(Rank rank) const noexcept {
    for (std::size_t place = 0; place < kPlaces; ++place)
      if (has(place) && at(place) == rank) return place;
    return std::nullopt;
  }
};

}  // namespace photon::service::am
