// A first-in first-out queue that starts with no memory and doubles when it is full.
// Invariant: its size is a power of two, or 0; nothing else allocates. Owner: one card.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "netsim/clock/list.hpp"

namespace photon::netsim::nic {

template <class Item>
class Ring {
 public:
  bool is_empty() const { return count_ == 0; }
  std::size_t size() const { return count_; }
  const Item& front() const { return items_[first_]; }
  void push(const Item& item) {
    if (count_ == items_.size()) grow();
    items_[(first_ + count_++) & (items_.size() - 1)] = item;
  }
  Item pop() {
    const Item item = items_[first_];
    first_ = (first_ + 1) & (items_.size() - 1);
    --count_;
    return item;
  }

 private:
  void grow() {
    std::vector<Item> larger(items_.empty() ? 4 : 2 * items_.size());
    for (std::size_t i = 0; i < count_; ++i) {
      larger[i] = items_[(first_ + i) & (items_.size() - 1)];
    }
    items_ = std::move(larger);
    first_ = 0;
  }

  std::vector<Item> items_;
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

// Items with a member `next`, in a vector with a list of free ones.
template <class Item>
class Store {
 public:
  Item& operator[](std::uint32_t index) { return items_[index]; }
  std::uint32_t put(const Item& item) {
    std::uint32_t index = free_;
    if (index == kNone) {
      index = static_cast<std::uint32_t>(items_.size());
      items_.push_back(item);
    } else {
      free_ = items_[index].next;
      items_[index] = item;
    }
    items_[index].next = kNone;
    return index;
  }
  void give_back(std::uint32_t index) {
    items_[index].next = free_;
    free_ = index;
  }

 private:
  std::vector<Item> items_;
  std::uint32_t free_ = kNone;
};

}  // namespace photon::netsim::nic
