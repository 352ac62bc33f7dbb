// Where ids queue when their ring's ledger is full: in the sender's memory, for the receiver to
// fetch by itself (docs/flow-control.md, "The overflow"). One producer, one consumer.
//
//   entry: a header word, then the id's words
//   free -> written (producer) -> published -[overflow]-> read -> taken -[overflow-room]-> free
//
//   producer: drained -- append --> marked entry, jump record --> filled -- all taken --> drained
//   consumer: away -- jump record --> reading -- leave(): nothing is left --> away
//
// Dekker's pattern: the producer publishes an entry, then looks at what is taken; the consumer says
// what it has taken, then looks once more at what is published. Both fence, so one of them sees the
// other: the consumer reads on, or the producer sends another jump. Both may happen; then the jump
// finds nothing.
//
// Ids that went through the ring between two entries must not be overtaken. The producer uses the
// ring only after it saw that all is taken, and marks the entry that follows; a marked entry is
// read only when its own jump, which stands behind those ids in the ring, was met.
//
// Invariants: freed <= tail <= freed + capacity; head <= published. Owner: the memory belongs to
// the transport; each half to one rank's engine (lane lock).
#pragma once

#include <algorithm>
#include <cstdint>

#include "sync/policy.hpp"

namespace photon::sync {

template <class Policy>
struct alignas(64) OverflowWord {
  typename Policy::template Atomic<std::uint64_t> value;

  // Whether it has moved, for who carries news of that; what it stands for is not to be read by it.
  std::uint64_t glance() const noexcept { return value.load(std::memory_order_relaxed); }
};

// Null: there is none.
template <class Policy>
struct OverflowMemory {
  OverflowWord<Policy>* published = nullptr;  // the producer writes
  OverflowWord<Policy>* taken = nullptr;      // the consumer writes
  typename Policy::template Cell<std::uint64_t>* words = nullptr;
};

inline constexpr std::uint64_t kOverflowMark = std::uint64_t{1} << 63;

template <class Policy>
class OverflowProducer {
 public:
  OverflowProducer() = default;
  // `capacity`: words, a power of two.
  OverflowProducer(const OverflowMemory<Policy>& memory, std::uint64_t capacity) noexcept
      : memory_(memory), capacity_(capacity) {}

  bool is_open() const noexcept { return memory_.words != nullptr; }
  // As known from the last refresh().
  bool is_drained() const noexcept { return freed_ == tail_; }
  bool has_room(std::uint64_t words_count) const noexcept {
    return tail_ + words_count - freed_ <= capacity_;
  }
  std::uint64_t used() const noexcept { return tail_ - freed_; }
  std::uint64_t tail() const noexcept { return tail_; }
  // How many words came free.
  std::uint64_t refresh() noexcept {
    const auto taken = memory_.taken->value.load(std::memory_order_acquire);  // [overflow-room]
    if (taken < freed_ || taken > tail_) return 0;  // garbage: keep what we know
    const std::uint64_t came = taken - freed_;
    freed_ = taken;
    return came;
  }

  // The i-th word behind the header of the entry being written.
  void set(std::uint64_t i, std::uint64_t word) noexcept {
    memory_.words[(tail_ + 1 + i) & (capacity_ - 1)].set(word);
  }
  struct Entry {
    std::uint64_t header = 0;  // the top bit clear
    std::uint64_t words_count = 0;
    bool ring_moved = true;  // something was published in the ring since the last jump
  };
  // The entry becomes visible. True: a jump to `position`, where it stands, is due. Refresh before,
  // so that what is known to be drained is marked. Where the ring stands as the last jump left it
  // no id can be overtaken, and that jump, if it was not met, is enough: there may be no room for
  // more.
  bool publish(const Entry& entry, std::uint64_t& position) noexcept {
    const auto [header, words_count, ring_moved] = entry;
    const bool marked = is_drained() && ring_moved;
    memory_.words[tail_ & (capacity_ - 1)].set(marked ? header | kOverflowMark : header);
    position = tail_;
    tail_ += words_count;
    memory_.published->value.store(tail_, std::memory_order_release);  // [overflow]
    if (marked) return true;
    Policy::full_fence();  // pairs with the consumer's in leave() [left]
    return memory_.taken->value.load(std::memory_order_relaxed) == position;
  }

 private:
  OverflowMemory<Policy> memory_;
  std::uint64_t capacity_ = 0;
  std::uint64_t tail_ = 0;   // words written
  std::uint64_t freed_ = 0;  // words known to be taken
};

template <class Policy>
class OverflowConsumer {
 public:
  enum class State { none, entry, garbage };

  OverflowConsumer() = default;
  OverflowConsumer(const OverflowMemory<Policy>& memory, std::uint64_t capacity) noexcept
      : memory_(memory), capacity_(capacity) {}

  bool is_open() const noexcept { return memory_.words != nullptr; }
  // The jump record to that position was met.
  void jump(std::uint64_t position) noexcept {
    jumped_ = std::max(jumped_, position + 1);
    reading_ = true;
  }
  // A jump was met, and the end was not since.
  bool is_reading() const noexcept { return reading_; }

  // The next entry that may be read.
  State peek() noexcept {
    const auto published = memory_.published->value.load(std::memory_order_acquire);  // [overflow]
    there_ = published - head_;
    if (there_ == 0) return State::none;
    if (there_ > capacity_) return State::garbage;
    const std::uint64_t word = memory_.words[head_ & (capacity_ - 1)].get();
    if ((word & kOverflowMark) != 0 && jumped_ <= head_) return State::none;
    header_ = word & ~kOverflowMark;
    return State::entry;
  }
  std::uint64_t header() const noexcept { return header_; }
  // After State::entry: words published from its header on; it may have no more.
  std::uint64_t there() const noexcept { return there_; }
  std::uint64_t word(std::uint64_t i) const noexcept {
    return memory_.words[(head_ + 1 + i) & (capacity_ - 1)].get();
  }
  void pop(std::uint64_t words_count) noexcept { head_ += words_count; }
  std::uint64_t owed() const noexcept { return head_ - given_; }
  // Everything read is taken.
  void give_back() noexcept {
    given_ = head_;
    memory_.taken->value.store(head_, std::memory_order_release);  // [overflow-room]
  }

  // Nothing more was found. False: there is more, and no jump will tell of it.
  bool leave() noexcept {
    give_back();
    Policy::full_fence();  // pairs with the producer's in publish() [left]
    reading_ = peek() != State::none;
    return !reading_;
  }

 private:
  OverflowMemory<Policy> memory_;
  std::uint64_t capacity_ = 0;
  std::uint64_t head_ = 0;    // words read
  std::uint64_t given_ = 0;   // words given back
  std::uint64_t jumped_ = 0;  // one more than the last position that a jump told of
  std::uint64_t there_ = 0;
  std::uint64_t header_ = 0;
  bool reading_ = false;
};

}  // namespace photon::sync
