// The queue of future events: a ring of buckets for the near future and a heap behind it.
//
// A bucket holds the events of 256 ps, unsorted, as a list in one pool. The bucket that time has
// come to is sorted when it is opened; what is pushed into it afterwards waits in a small heap.
// Events beyond the ring wait in the heap `far_` and move into the ring as it turns.
// Invariant: pop() gives events in their total order, whatever the order of pushes. No event may be
// pushed before the time of the last one popped. Nothing is allocated once the pool has its size.
// Owner: one thread.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "netsim/queue/event.hpp"

namespace photon::netsim {

class EventQueue {
 public:
  static constexpr unsigned kBucketBits = 8;  // 256 ps
  static constexpr std::size_t kBuckets = 4096;

  EventQueue();

  void push(const Event& event) {
    ++size_;
    const std::uint64_t bucket = event.time >> kBucketBits;
    if (bucket <= open_) {
      push_late(event);
    } else if (bucket - open_ < kBuckets) {
      put(bucket, event);
    } else {
      push_far(event);
    }
  }

  bool is_empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  // The next event without taking it; the queue is not empty.
  const Event& top() {
    if (next_ == sorted_.size() && late_.empty()) open_next();
    return is_late_first() ? late_.front() : sorted_[next_];
  }
  Event pop() {
    const Event event = top();
    if (is_late_first()) {
      pop_late();
    } else {
      ++next_;
    }
    --size_;
    return event;
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Node {
    Event event;
    std::uint32_t next;
  };

  bool is_late_first() const {
    return !late_.empty() && (next_ == sorted_.size() || late_.front() < sorted_[next_]);
  }
  void put(std::uint64_t bucket, const Event& event) {
    const std::size_t slot = bucket % kBuckets;
    const std::uint32_t node = free_ != kNone ? free_ : grow();
    free_ = nodes_[node].next;
    nodes_[node] = {event, first_[slot]};
    first_[slot] = node;
    filled_[slot / 64] |= std::uint64_t{1} << (slot % 64);
  }
  std::uint32_t grow();
  void push_late(const Event& event);
  void pop_late();
  void push_far(const Event& event);
  void open_next();
  std::uint64_t next_filled() const;
  void sort_open();

  std::uint64_t open_ = 0;  // number of the bucket that events are popped from
  std::size_t size_ = 0;
  std::size_t next_ = 0;       // in sorted_
  std::vector<Event> sorted_;  // the open bucket
  std::vector<Event> late_;    // heap: pushed into the open bucket
  std::vector<Event> far_;     // heap: beyond the ring
  std::vector<Node> nodes_;
  std::uint32_t free_ = kNone;
  std::array<std::uint32_t, kBuckets> first_;
  std::array<std::uint64_t, kBuckets / 64> filled_{};
};

}  // namespace photon::netsim
