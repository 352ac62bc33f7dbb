// A set of 32-bit numbers that only grows; neighbours are held as one range, so that numbers given
// out one after the other cost nothing.
// Invariant: ranges are disjoint, and no two of them touch. Owner: whoever holds it; one thread.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>

namespace photon::boot {

class NumberSet {
 public:
  bool contains(std::uint32_t number) const {
    const auto after = ranges_.upper_bound(number);
    return after != ranges_.begin() && number < std::prev(after)->second;
  }
  void add(std::uint32_t number) {
    if (contains(number)) return;
    std::uint64_t end = std::uint64_t{number} + 1;
    const auto after = ranges_.upper_bound(number);
    if (after != ranges_.end() && after->first == end) end = after->second;
    if (after != ranges_.begin() && std::prev(after)->second == number)
      std::prev(after)->second = end;
    else
      ranges_.emplace(number, end);
    if (after != ranges_.end() && after->first == std::uint64_t{number} + 1) ranges_.erase(after);
  }
  std::size_t ranges_count() const { return ranges_.size(); }

 private:
  std::map<std::uint64_t, std::uint64_t> ranges_;  // begin, end
};

}  // namespace photon::boot
