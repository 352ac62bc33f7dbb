// Which bytes of a buffer its messages cover, where bytes count once or may not overlap.
//
//   range: admit() --> under way -- landed() --> landed, merged with those that it touches
//                                -- failed() --> forgotten
//
// Invariant: landed() and failed() need no memory: what they need is there since admit().
// Owner: a Layout. Memory: bounded by the number of messages of one buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace photon::service::mailbox {

// Disjoint ranges in order, of which none touches another.
class RangeSet {
 public:
  using Ranges = std::map<std::uint64_t, std::uint64_t>;  // begin, end

  // So many calls of add() need no memory. Throws bad_alloc.
  void make_room(std::size_t count);
  // Not empty. How many bytes are new.
  std::uint64_t add(std::uint64_t begin, std::uint64_t end) noexcept;
  // The first range that ends behind that.
  Ranges::const_iterator first_behind(std::uint64_t offset) const noexcept;
  const Ranges& ranges() const noexcept { return ranges_; }
  void clear() noexcept { ranges_.clear(); }
  void give_back_room() noexcept { spare_.clear(); }

 private:
  Ranges ranges_;
  Ranges spare_;  // nodes for ranges that come, by numbers
  std::uint64_t next_spare_ = 0;
};

class Coverage {
 public:
  // Bytes of that range that are covered by nothing.
  std::uint64_t uncovered(std::uint64_t offset, std::uint64_t size_bytes) const noexcept;
  // A message is on its way there; how many bytes are new. Throws bad_alloc: nothing has changed.
  std::uint64_t admit(std::uint64_t offset, std::uint64_t size_bytes);
  // It has landed; how many bytes are new among those that have.
  std::uint64_t landed(std::uint64_t offset, std::uint64_t size_bytes) noexcept;
  // It will not land; how many bytes are covered by nothing now.
  std::uint64_t failed(std::uint64_t offset, std::uint64_t size_bytes) noexcept;
  const RangeSet::Ranges& ranges() const noexcept { return landed_.ranges(); }
  // Nothing more comes.
  void settle() noexcept;
  void clear() noexcept;

 private:
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    auto operator<=>(const Range&) const = default;
  };
  void forget(const Range& range) noexcept;

  RangeSet landed_;
  std::vector<Range> under_way_;  // in order
};

}  // namespace photon::service::mailbox
