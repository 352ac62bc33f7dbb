// First-in first-out lists of items that lie in one place, each with a member `next`: an item is in
// one list at a time. Invariant: `last` means something in a list that is not empty. Owner: whoever
// has the list; the items are another's.
#pragma once

#include <cstdint>

namespace photon::netsim {

inline constexpr std::uint32_t kNone = ~std::uint32_t{0};  // no item, and no port, queue or rank

struct List {
  std::uint32_t first = kNone;
  std::uint32_t last = kNone;
  bool is_empty() const { return first == kNone; }
};

template <class Items>
void append(Items& items, List& list, std::uint32_t index) {
  items[index].next = kNone;
  if (list.is_empty()) {
    list.first = index;
  } else {
    items[list.last].next = index;
  }
  list.last = index;
}

// Of a list that is not empty.
template <class Items>
std::uint32_t take_first(Items& items, List& list) {
  const std::uint32_t index = list.first;
  list.first = items[index].next;
  return index;
}

}  // namespace photon::netsim
