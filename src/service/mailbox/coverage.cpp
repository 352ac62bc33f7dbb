#include "service/mailbox/coverage.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace photon::service::mailbox {

void RangeSet::make_room(std::size_t count) {
  while (spare_.size() < count) spare_.emplace_hint(spare_.end(), next_spare_++, 0);
}

RangeSet::Ranges::const_iterator RangeSet::first_behind(std::uint64_t offset) const noexcept {
  auto found = ranges_.upper_bound(offset);
  if (found != ranges_.begin() && std::prev(found)->second > offset) --found;
  return found;
}

// Becomes one with all that it touches.
std::uint64_t RangeSet::add(std::uint64_t begin, std::uint64_t end) noexcept {
  auto next = ranges_.upper_bound(begin);
  if (next != ranges_.begin() && std::prev(next)->second >= begin) --next;
  std::uint64_t fresh = end - begin;
  std::uint64_t low = begin, high = end;
  Ranges::node_type node;
  while (next != ranges_.end() && next->first <= end) {
    fresh -= std::min(end, next->second) - std::max(begin, next->first);
    low = std::min(low, next->first);
    high = std::max(high, next->second);
    node = ranges_.extract(next++);
  }
  if (node.empty()) node = spare_.extract(spare_.begin());
  node.key() = low;
  node.mapped() = high;
  ranges_.insert(next, std::move(node));
  return fresh;
}

std::uint64_t Coverage::uncovered(std::uint64_t offset, std::uint64_t size_bytes) const noexcept {
  const std::uint64_t end = offset + size_bytes;
  std::uint64_t open = 0, at = offset;
  const auto cover = [&](std::uint64_t from, std::uint64_t to) {
    if (from > at) open += std::min(from, end) - at;
    at = std::max(at, to);
  };
  auto landed = landed_.first_behind(offset);
  auto coming = under_way_.begin();
  while (at < end) {
    const bool has_landed = landed != landed_.ranges().end() && landed->first < end;
    const bool has_coming = coming != under_way_.end() && coming->begin < end;
    if (!has_landed && !has_coming) return open + (end - at);
    if (has_landed && (!has_coming || landed->first < coming->begin)) {
      cover(landed->first, landed->second);
      ++landed;
    } else {
      if (coming->end > at) cover(coming->begin, coming->end);
      ++coming;
    }
  }
  return open;
}

std::uint64_t Coverage::admit(std::uint64_t offset, std::uint64_t size_bytes) {
  const Range range{offset, offset + size_bytes};
  landed_.make_room(under_way_.size() + 1);
  const std::uint64_t fresh = uncovered(offset, size_bytes);
  under_way_.insert(std::upper_bound(under_way_.begin(), under_way_.end(), range), range);
  return fresh;
}

void Coverage::forget(const Range& range) noexcept {
  under_way_.erase(std::lower_bound(under_way_.begin(), under_way_.end(), range));
}

std::uint64_t Coverage::landed(std::uint64_t offset, std::uint64_t size_bytes) noexcept {
  forget({offset, offset + size_bytes});
  return landed_.add(offset, offset + size_bytes);
}

std::uint64_t Coverage::failed(std::uint64_t offset, std::uint64_t size_bytes) noexcept {
  forget({offset, offset + size_bytes});
  return uncovered(offset, size_bytes);
}

void Coverage::settle() noexcept {
  landed_.give_back_room();
  under_way_ = {};
}

void Coverage::clear() noexcept {
  landed_.clear();
  settle();
}

}  // namespace photon::service::mailbox
