#include "task/queue/priority_queue.hpp"

namespace photon::task {

bool PriorityQueue::is_before_beyond(const Entry& one, const Entry& other) noexcept {
  if (one.bits != other.bits || one.bits > 96) {
    if (one.bits == kNoBits || other.bits == kNoBits) return one.bits < other.bits;
    const Priority mine = priority_at(one);
    const Priority its = priority_at(other);
    if (mine < its) return true;
    if (its < mine) return false;
  }
  return one.turn < other.turn;
}

void PriorityQueue::push(Message& message, const Priority& priority, Place place) {
  const std::uint64_t free = kRoot + size_;
  const std::uint64_t needed = free / 4 + 1;
  if (fours_.size() < needed) fours_.resize(2 * needed);
  ++size_;
  chunk_of(message).priority = priority.words;
  const std::int64_t turn = place == Place::fifo ? fifo_turn_++ : --lifo_turn_;
  rise(free, {priority.first, turn, &message, third_word_of(priority), priority.bits});
}

// The first of the four below a place.
std::uint64_t PriorityQueue::first_child(std::uint64_t place) const noexcept {
  const std::uint64_t left = children_of(place);
  const Entry* child = fours_[left / 4].entries;
  const std::uint64_t low = is_before(child[1], child[0]) ? 1 : 0;
  const std::uint64_t high = is_before(child[3], child[2]) ? 3 : 2;
  return left + (is_before(child[high], child[low]) ? high : low);
}

void PriorityQueue::rise(std::uint64_t place, const Entry& entry) noexcept {
  while (place != kRoot) {
    const std::uint64_t parent = parent_of(place);
    if (!is_before(entry, at(parent))) break;
    at(place) = at(parent);
    place = parent;
  }
  at(place) = entry;
}

// The hole goes down to the end, along the first children, and the last entry rises from there: it
// was a last one, so it seldom rises far.
Message& PriorityQueue::pop() noexcept {
  Message& message = *at(kRoot).message;
  --size_;
  const std::uint64_t last = kRoot + size_;
  const Entry moved = at(last);
  at(last) = {};
  if (size_ == 0) return message;
  std::uint64_t hole = kRoot;
  while (children_of(hole) < last) {
    const std::uint64_t child = first_child(hole);
    at(hole) = at(child);
    hole = child;
  }
  rise(hole, moved);
  return message;
}

}  // namespace photon::task
