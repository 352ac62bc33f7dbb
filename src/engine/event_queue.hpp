// Completions of one peer that wait to be probed, in order.
// Invariant: bounded by its users (local: the setting requests; remote: ledger_slots); grows by
// doubling up to what was ever needed, then allocates no more. Owner: a Peer.
#pragma once

#include <cstdint>
#include <memory>

namespace photon::engine {

// An id up to 8 bytes is its value; a longer one lies in a block of the engine's id pool.
struct HeldId {
  std::uint64_t value = 0;
  std::uint32_t bytes = 0;

  bool is_long() const noexcept { return bytes > 8; }
};

struct Event {
  std::uint64_t id = 0;
  std::uint32_t id_bytes = 0;
  std::int32_t status = 0;  // a ph_status, or of remote ids:
};
inline constexpr std::int32_t kComing = 1000;     // its bytes are still on their way
inline constexpr std::int32_t kWithdrawn = 1001;  // they will never come

class EventQueue {
 public:
  bool empty() const noexcept { return head_ == tail_; }
  std::uint64_t size() const noexcept { return tail_ - head_; }
  bool full() const noexcept { return tail_ - head_ == capacity_; }  // the next push allocates
  // The next `count` pushes do not allocate.
  void make_room(std::uint64_t count = 1) {
    while (tail_ - head_ + count > capacity_) grow();
  }
  void push(const Event& event) {
    make_room();
    events_[tail_++ & (capacity_ - 1)] = event;
  }
  void push_unchecked(const Event& event) noexcept { events_[tail_++ & (capacity_ - 1)] = event; }
  // Positions count all events ever pushed.
  std::uint64_t begin() const noexcept { return head_; }
  std::uint64_t end() const noexcept { return tail_; }
  Event& at(std::uint64_t position) noexcept { return events_[position & (capacity_ - 1)]; }
  const Event& front() const noexcept { return events_[head_ & (capacity_ - 1)]; }
  void pop() noexcept { ++head_; }

 private:
  void grow() {
    const std::uint64_t capacity = capacity_ == 0 ? 64 : capacity_ * 2;
    auto events = std::make_unique<Event[]>(capacity);
    for (std::uint64_t i = head_; i != tail_; ++i)
      events[i & (capacity - 1)] = events_[i & (capacity_ - 1)];
    events_ = std::move(events);
    capacity_ = capacity;
  }

  std::unique_ptr<Event[]> events_;
  std::uint64_t capacity_ = 0;
  std::uint64_t head_ = 0;
  std::uint64_t tail_ = 0;
};

}  // namespace photon::engine
