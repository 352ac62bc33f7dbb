// Ranges of memory, nested and overlapping at will, and the smallest one around a given range.
//
// A range is the point (begin, end) of a plane, and a range contains [a, e) if its point lies in
// the quadrant begin <= a, end >= e. The points are the leaves of a trie that looks at one bit a
// node, the highest in which any two points below it differ, bits of begin and end in turns: a
// compressed quadtree (Samet 2006, 1.4), kept as a crit-bit tree. A node knows the boxes around the
// points on both its sides and the least range there, so a search goes down only where the
// quadrant's border cuts a box that may hold something smaller than what was found, and touches
// nothing else: in a large tree each node touched is a cache miss.
//
// Cost: insert, remove and find_same walk down once or twice; a walk is about the logarithm of the
// count long and never more than 160. The nodes that find() touches are not many more: one that the
// border cuts and that may hold less than the answer reaches from the border to the answer's
// diagonal, so it is at least as wide as the two are apart there, and along a border there are but
// a few disjoint nodes of each of the 64 widths for which that is so. Hence some hundreds in the
// worst case, once the answer is known, however many ranges there are; the tests count them.
//
// Invariant: the shape depends on what is in it, not on what came when; the answer depends on no
// order of addresses but that of sizes: of ranges of one size the lowest number is found.
// Owner: who makes it. Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace photon::engine {

class RangeIndex {
 public:
  static constexpr std::uint32_t kNone = 0xffffffffu;

  // Ranges with the same ends are told apart by their kind.
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint32_t kind = 0;
    bool operator==(const Range&) const = default;
  };

  // `number` is the caller's, names the range from now on, and is in no other use; no equal range
  // is in. Numbers should be small: memory is taken for all up to the largest.
  void insert(std::uint32_t number, const Range& range);
  void remove(std::uint32_t number) noexcept;
  // The number of this very range, or kNone.
  std::uint32_t find_same(const Range& range) const noexcept;
  // The smallest range that contains [begin, end), the lowest number of several; or kNone.
  std::uint32_t find(std::uint64_t begin, std::uint64_t end) const noexcept;

  std::size_t count() const noexcept { return count_; }
  // Nodes that find() has touched so far, for tests of its cost.
  std::uint64_t touched() const noexcept { return touched_; }

 private:
  // Of a place in the tree: a node, or with kLeaf set the range of that number.
  using Place = std::uint32_t;
  static constexpr Place kLeaf = 0x80000000u;

  // Around some points.
  struct Box {
    std::uint64_t least_begin = 0;
    std::uint64_t most_begin = 0;
    std::uint64_t least_end = 0;
    std::uint64_t most_end = 0;
    std::uint64_t least_bytes = 0;
    std::uint32_t least_number = kNone;  // of those with least_bytes
    bool operator==(const Box&) const = default;
  };
  struct alignas(64) Node {
    Box boxes[2];
    Place below[2] = {kNone, kNone};
    unsigned bit = 0;
  };
  struct Best {
    std::uint64_t bytes = ~std::uint64_t{0};
    std::uint32_t number = kNone;
  };
  struct Path;

  static bool is_leaf(Place place) noexcept { return (place & kLeaf) != 0; }
  const Range& range_at(Place leaf) const noexcept { return ranges_[leaf & ~kLeaf]; }
  static Box joined(const Box& one, const Box& other) noexcept;
  static Box box_around(std::uint32_t number, const Range& range) noexcept;
  Box box_below(Place place) const noexcept;
  Place take_node();
  Place nearest(const Range& range) const noexcept;
  void search(const Node& node, const Range& inner, Best& best) const noexcept;

  Place root_ = kNone;
  std::size_t count_ = 0;
  std::vector<Range> ranges_;  // by number
  std::vector<Node> nodes_;
  Place spare_ = kNone;  // nodes not in use, linked by below[0]
  mutable std::uint64_t touched_ = 0;
};

}  // namespace photon::engine
