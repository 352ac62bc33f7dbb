#include "engine/parts/range_index.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace photon::engine {

namespace {

using Range = RangeIndex::Range;

constexpr unsigned kKindBits = 32;
constexpr unsigned kBits = kKindBits + 2 * 64;

// The highest bit in which two ranges differ: those of begin and end in turns, then the kind's.
unsigned differing_bit(const Range& one, const Range& other) noexcept {
  const std::uint64_t begins = one.begin ^ other.begin;
  const std::uint64_t ends = one.end ^ other.end;
  if ((begins | ends) == 0) return static_cast<unsigned>(std::bit_width(one.kind ^ other.kind)) - 1;
  // Which of the two has the higher one, begin first.
  const auto of_begin = static_cast<unsigned>(std::bit_width(begins));
  const auto of_end = static_cast<unsigned>(std::bit_width(ends));
  return kKindBits + (of_begin >= of_end ? 2 * of_begin - 1 : 2 * of_end - 2);
}

unsigned side(const Range& range, unsigned bit) noexcept {
  if (bit < kKindBits) return range.kind >> bit & 1;
  const unsigned place = bit - kKindBits;
  return static_cast<unsigned>((place % 2 == 1 ? range.begin : range.end) >> place / 2 & 1);
}

}  // namespace

// The nodes above a place, from the root on.
struct RangeIndex::Path {
  std::array<Place, kBits> nodes;
  std::array<unsigned, kBits> sides;
  std::size_t count = 0;
};

RangeIndex::Box RangeIndex::joined(const Box& one, const Box& other) noexcept {
  const bool is_other_less =
      other.least_bytes < one.least_bytes ||
      (other.least_bytes == one.least_bytes && other.least_number < one.least_number);
  return {std::min(one.least_begin, other.least_begin),
          std::max(one.most_begin, other.most_begin),
          std::min(one.least_end, other.least_end),
          std::max(one.most_end, other.most_end),
          is_other_less ? other.least_bytes : one.least_bytes,
          is_other_less ? other.least_number : one.least_number};
}

RangeIndex::Box RangeIndex::box_around(std::uint32_t number, const Range& range) noexcept {
  return {range.begin, range.begin, range.end, range.end, range.end - range.begin, number};
}

RangeIndex::Box RangeIndex::box_below(Place place) const noexcept {
  if (is_leaf(place)) return box_around(place & ~kLeaf, range_at(place));
  return joined(nodes_[place].boxes[0], nodes_[place].boxes[1]);
}

// A leaf that agrees with the range in every bit that the nodes above it look at.
RangeIndex::Place RangeIndex::nearest(const Range& range) const noexcept {
  Place place = root_;
  while (!is_leaf(place)) place = nodes_[place].below[side(range, nodes_[place].bit)];
  return place;
}

RangeIndex::Place RangeIndex::take_node() {
  if (spare_ == kNone) {
    nodes_.emplace_back();
    return static_cast<Place>(nodes_.size() - 1);
  }
  const Place node = spare_;
  spare_ = nodes_[node].below[0];
  return node;
}

void RangeIndex::insert(std::uint32_t number, const Range& range) {
  if (ranges_.size() <= number) ranges_.resize(std::size_t{number} + 1);
  const Place leaf = number | kLeaf;
  if (root_ == kNone) {
    ranges_[number] = range;
    root_ = leaf;
    count_ = 1;
    return;
  }
  const Place made = take_node();  // the last thing that may fail
  ranges_[number] = range;
  const unsigned bit = differing_bit(range, range_at(nearest(range)));
  const Box box = box_around(number, range);
  Place* place = &root_;
  while (!is_leaf(*place) && nodes_[*place].bit > bit) {
    Node& node = nodes_[*place];
    const unsigned to = side(range, node.bit);
    node.boxes[to] = joined(node.boxes[to], box);
    place = &node.below[to];
  }
  const unsigned mine = side(range, bit);
  Node& node = nodes_[made];
  node.bit = bit;
  node.below[mine] = leaf;
  node.boxes[mine] = box;
  node.below[1 - mine] = *place;
  node.boxes[1 - mine] = box_below(*place);
  *place = made;
  ++count_;
}

void RangeIndex::remove(std::uint32_t number) noexcept {
  const Place leaf = number | kLeaf;
  const Range& range = ranges_[number];
  Path path;
  for (Place place = root_; place != leaf;) {
    const unsigned to = side(range, nodes_[place].bit);
    path.nodes[path.count] = place;
    path.sides[path.count++] = to;
    place = nodes_[place].below[to];
  }
  --count_;
  if (path.count == 0) {
    root_ = kNone;
    return;
  }
  const Place freed = path.nodes[--path.count];
  const unsigned other = 1 - path.sides[path.count];
  const Place sibling = nodes_[freed].below[other];
  Box box = nodes_[freed].boxes[other];
  nodes_[freed].below[0] = spare_;
  spare_ = freed;
  if (path.count == 0) root_ = sibling;
  for (std::size_t above = path.count; above > 0; --above) {
    Node& node = nodes_[path.nodes[above - 1]];
    const unsigned to = path.sides[above - 1];
    if (above == path.count) node.below[to] = sibling;
    if (box == node.boxes[to]) return;  // nor does what stands above
    node.boxes[to] = box;
    box = joined(node.boxes[0], node.boxes[1]);
  }
}

std::uint32_t RangeIndex::find_same(const Range& range) const noexcept {
  if (root_ == kNone) return kNone;
  const Place leaf = nearest(range);
  return range_at(leaf) == range ? leaf & ~kLeaf : kNone;
}

std::uint32_t RangeIndex::find(std::uint64_t begin, std::uint64_t end) const noexcept {
  if (root_ == kNone) return kNone;
  if (is_leaf(root_)) {
    const Range& only = range_at(root_);
    return only.begin <= begin && only.end >= end ? root_ & ~kLeaf : kNone;
  }
  Best best;
  search(nodes_[root_], {begin, end, 0}, best);
  return best.number;
}

void RangeIndex::search(const Node& node, const Range& inner, Best& best) const noexcept {
  ++touched_;
  // The narrower ranges first: they begin late and end early.
  const unsigned first = node.bit % 2 == 1 ? 1 : 0;
  for (const unsigned to : {first, 1 - first}) {
    const Box& box = node.boxes[to];
    if (box.least_begin > inner.begin || box.most_end < inner.end) continue;
    // What holds it and lies in the box is at least so large.
    const std::uint64_t least =
        std::max(box.least_bytes,
                 std::max(inner.end, box.least_end) - std::min(inner.begin, box.most_begin));
    if (least > best.bytes) continue;
    if (box.most_begin > inner.begin || box.least_end < inner.end)
      search(nodes_[node.below[to]], inner, best);  // the border cuts it, so it is no leaf
    else if (least < best.bytes || box.least_number < best.number)
      best = {box.least_bytes, box.least_number};
  }
}

}  // namespace photon::engine
