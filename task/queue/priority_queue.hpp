// Messages by priority: of equal ones FIFO goes behind all, and LIFO before all.
//
// A heap with four branches. Its root stands at place 3, so the children of place i are 4 (i - 2)
// and the three behind it: two cache lines, at a multiple of 128 bytes. Places behind the last
// entry hold one that is behind all others, so no step looks for the end.
// An entry has the first 96 bits, so that messages are looked at for longer vectors alone.
// Invariant: no entry comes before its parent. Of equals `turn` decides: FIFO counts up from 0 and
// LIFO down.
// Owner: one PE, or the queue of a process under its mutex.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "task/pool/layout.hpp"
#include "task/queue/priority.hpp"

namespace photon::task {

class PriorityQueue {
 public:
  enum class Place : std::uint8_t { fifo, lifo };

  bool empty() const noexcept { return size_ == 0; }
  std::uint64_t size() const noexcept { return size_; }
  // Throws bad_alloc: nothing was done.
  void push(Message& message, const Priority& priority, Place place);
  // The first one; there is one.
  Message& pop() noexcept;
  // Its priority.
  Priority first() const noexcept { return priority_at(at(kRoot)); }

 private:
  static constexpr std::uint64_t kRoot = 3;
  static constexpr std::uint32_t kNoBits = std::numeric_limits<std::uint32_t>::max();

  struct Entry {
    std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
    std::int64_t turn = std::numeric_limits<std::int64_t>::max();
    Message* message = nullptr;
    std::uint32_t third_word = std::numeric_limits<std::uint32_t>::max();
    std::uint32_t bits = kNoBits;  // no message: behind all
  };
  static_assert(sizeof(Entry) == 32);
  struct alignas(4 * sizeof(Entry)) Four {
    Entry entries[4];
  };

  static std::uint64_t parent_of(std::uint64_t place) noexcept { return place / 4 + 2; }
  static std::uint64_t children_of(std::uint64_t place) noexcept { return 4 * (place - 2); }
  static Priority priority_at(const Entry& entry) noexcept {
    return {entry.first, entry.bits, chunk_of(*entry.message).priority};
  }
  // Does `one` come before `other`?
  static bool is_before(const Entry& one, const Entry& other) noexcept {
    if (one.first != other.first) [[likely]]
      return one.first < other.first;
    if (one.third_word != other.third_word) [[likely]]
      return one.third_word < other.third_word;
    return is_before_beyond(one, other);
  }
  static bool is_before_beyond(const Entry& one, const Entry& other) noexcept;

  Entry& at(std::uint64_t place) noexcept { return fours_[place / 4].entries[place % 4]; }
  const Entry& at(std::uint64_t place) const noexcept {
    return fours_[place / 4].entries[place % 4];
  }
  std::uint64_t first_child(std::uint64_t place) const noexcept;
  void rise(std::uint64_t place, const Entry& entry) noexcept;

  std::vector<Four> fours_;
  std::uint64_t size_ = 0;
  std::int64_t fifo_turn_ = 0;
  std::int64_t lifo_turn_ = 0;
};

}  // namespace photon::task
