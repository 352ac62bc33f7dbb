// A queue that allocates nothing until something is pushed, then room for First elements, and then
// grows by doubling. First is a power of two: 1 where there are very many queues with one element.
// Invariant: bounded by its users. Owner: one. Threads: one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace photon::base {

template <class T, std::uint64_t First = 8>
  requires std::is_trivially_copyable_v<T>
class RingQueue {
 public:
  bool empty() const noexcept { return head_ == tail_; }
  std::uint64_t size() const noexcept { return tail_ - head_; }
  bool full() const noexcept { return tail_ - head_ == capacity_; }  // the next push allocates
  // The next `count` pushes do not allocate, unless it is trimmed. References end. Throws
  // bad_alloc.
  void make_room(std::uint64_t count = 1) {
    while (tail_ - head_ + count > capacity_) grow();
  }
  void push(T element) {  // a copy: it may stand in the memory that make_room() replaces
    make_room();
    push_unchecked(element);
  }
  void push_unchecked(const T& element) noexcept { elements_[tail_++ & (capacity_ - 1)] = element; }
  // Positions count all elements ever pushed.
  std::uint64_t begin() const noexcept { return head_; }
  std::uint64_t end() const noexcept { return tail_; }
  T& at(std::uint64_t position) noexcept { return elements_[position & (capacity_ - 1)]; }
  const T& at(std::uint64_t position) const noexcept {
    return elements_[position & (capacity_ - 1)];
  }
  T& front() noexcept { return at(head_); }
  const T& front() const noexcept { return at(head_); }
  T& back() noexcept { return at(tail_ - 1); }
  void pop() noexcept { ++head_; }
  void pop_back() noexcept { --tail_; }
  void clear() noexcept { head_ = tail_; }
  // Memory that an empty one does not need goes back: for what is seldom long.
  void trim(std::uint64_t kept = kKept) noexcept {
    if (!empty() || capacity_ <= kept) return;
    elements_.reset();
    capacity_ = 0;
  }

 private:
  static_assert(First != 0 && (First & (First - 1)) == 0);
  static constexpr std::uint64_t kKept = 64;

  void grow() {
    const std::uint64_t capacity = capacity_ == 0 ? First : capacity_ * 2;
    auto elements = std::make_unique<T[]>(capacity);
    for (std::uint64_t i = head_; i != tail_; ++i)
      elements[i & (capacity - 1)] = elements_[i & (capacity_ - 1)];
    elements_ = std::move(elements);
    capacity_ = capacity;
  }

  std::unique_ptr<T[]> elements_;
  std::uint64_t capacity_ = 0;
  std::uint64_t head_ = 0;
  std::uint64_t tail_ = 0;
};

}  // namespace photon::base
