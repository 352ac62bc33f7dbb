#include "netsim/queue/event_queue.hpp"

#include <algorithm>
#include <bit>

namespace photon::netsim {
namespace {

constexpr auto kLater = [](const Event& a, const Event& b) { return b < a; };

}  // namespace

EventQueue::EventQueue() { first_.fill(kNone); }

std::uint32_t EventQueue::grow() {
  const auto old = static_cast<std::uint32_t>(nodes_.size());
  const std::uint32_t count = old == 0 ? 1024 : 2 * old;
  nodes_.resize(count);
  for (std::uint32_t node = old; node < count; ++node) nodes_[node].next = node + 1;
  nodes_[count - 1].next = kNone;
  free_ = old;
  return old;
}

void EventQueue::push_late(const Event& event) {
  late_.push_back(event);
  std::push_heap(late_.begin(), late_.end(), kLater);
}

void EventQueue::pop_late() {
  std::pop_heap(late_.begin(), late_.end(), kLater);
  late_.pop_back();
}

void EventQueue::push_far(const Event& event) {
  far_.push_back(event);
  std::push_heap(far_.begin(), far_.end(), kLater);
}

// The number of the first bucket of the ring behind `open_` that holds anything, or open_.
std::uint64_t EventQueue::next_filled() const {
  constexpr std::size_t kWords = kBuckets / 64;
  const std::size_t start = (open_ + 1) % kBuckets;
  std::uint64_t word = filled_[start / 64] & (~std::uint64_t{0} << (start % 64));
  for (std::size_t i = 0; i <= kWords; ++i) {
    const std::size_t at = (start / 64 + i) % kWords;
    if (i > 0) word = filled_[at];
    if (word != 0) {
      const std::size_t slot = at * 64 + static_cast<std::size_t>(std::countr_zero(word));
      return open_ + 1 + (slot + kBuckets - start) % kBuckets;
    }
  }
  return open_;
}

void EventQueue::open_next() {
  std::uint64_t bucket = next_filled();
  const bool is_ring_empty = bucket == open_;
  const std::uint64_t far_bucket =
      far_.empty() ? ~std::uint64_t{0} : far_.front().time >> kBucketBits;
  if (is_ring_empty || far_bucket < bucket) bucket = far_bucket;
  // First what lay beyond the ring, then the bucket itself: both may hold events of it.
  open_ = bucket - 1;
  while (!far_.empty() && (far_.front().time >> kBucketBits) - open_ < kBuckets) {
    put(far_.front().time >> kBucketBits, far_.front());
    std::pop_heap(far_.begin(), far_.end(), kLater);
    far_.pop_back();
  }
  open_ = bucket;
  sort_open();
}

void EventQueue::sort_open() {
  const std::size_t slot = open_ % kBuckets;
  sorted_.clear();
  next_ = 0;
  for (std::uint32_t node = first_[slot]; node != kNone;) {
    sorted_.push_back(nodes_[node].event);
    const std::uint32_t next = nodes_[node].next;
    nodes_[node].next = free_;
    free_ = node;
    node = next;
  }
  first_[slot] = kNone;
  filled_[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
  if (sorted_.size() > 1) std::sort(sorted_.begin(), sorted_.end());
}

}  // namespace photon::netsim
