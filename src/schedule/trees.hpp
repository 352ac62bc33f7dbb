// A tree over the places 0 to size - 1, with place 0 at the top. Places are seen as numbers of
// digits of `bits` bits: the parent of a place has 0 instead of the lowest digit that is not 0.
// Invariants: the subtree of a place is a run of places that begins with the place. Children are
// numbered upwards, and the subtree of each begins where that of the child before ends.
// Owner: none; a plain value. Threads: any.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace photon::schedule {

class Tree {
 public:
  Tree(std::uint32_t size, std::uint32_t place, std::uint32_t bits) noexcept
      : size_(size), place_(place), bits_(bits) {}

  std::uint32_t children() const noexcept {
    const std::uint32_t behind = size_ - 1 - place_;
    if (behind == 0) return 0;
    const std::uint32_t level = (static_cast<std::uint32_t>(std::bit_width(behind)) - 1) / bits_;
    const std::uint32_t fit = level * digits() + (behind >> (level * bits_));
    return place_ == 0 ? fit : std::min(fit, lowest_level() * digits());
  }
  // Child number i, from 0 to children() - 1.
  std::uint32_t child(std::uint32_t i) const noexcept {
    return place_ + ((i % digits() + 1) << (i / digits() * bits_));
  }
  // Not to be called for the top.
  std::uint32_t parent() const noexcept { return place_ & ~(digits() << (lowest_level() * bits_)); }
  // How many places the subtree has, this one included.
  std::uint32_t run() const noexcept {
    const std::uint32_t behind = size_ - place_;
    if (place_ == 0) return behind;
    const std::uint64_t full = std::uint64_t{1} << (lowest_level() * bits_);
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(behind, full));
  }
  std::uint32_t place() const noexcept { return place_; }

 private:
  std::uint32_t digits() const noexcept { return (1U << bits_) - 1; }
  std::uint32_t lowest_level() const noexcept {
    return static_cast<std::uint32_t>(std::countr_zero(place_)) / bits_;
  }

  std::uint32_t size_;
  std::uint32_t place_;
  std::uint32_t bits_;
};

}  // namespace photon::schedule
