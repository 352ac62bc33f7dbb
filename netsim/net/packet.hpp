// A packet on its way, and the pool that packets of one part live in. Lists are intrusive: a packet
// is in one list at a time. Invariant: nothing is allocated once the pool has its size. Owner: the
// part of the network in which the packet is; across parts packets are copied.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "netsim/clock/list.hpp"
#include "netsim/clock/time.hpp"

namespace photon::netsim {

inline constexpr std::uint16_t kNoMiddle = ~std::uint16_t{0};

struct Packet {
  Time at = 0;  // when its head arrives where it is or goes
  std::uint32_t next = kNone;
  std::uint32_t source = 0;  // hosts
  std::uint32_t destination = 0;
  std::uint16_t flits = 1;
  std::uint16_t middle = kNoMiddle;  // group or router that the routing goes by
  std::uint16_t slice = 0;           // which of the links between two groups
  bool is_detoured = false;          // it is on its way to `middle`
  std::uint8_t vc = 0;
  // What the card wrote; no router reads it.
  std::uint32_t stamp = 0;
  std::array<std::uint32_t, 4> cargo{};
};
static_assert(sizeof(Packet) <= 48 && std::is_trivially_copyable_v<Packet>);

template <class Item>
class Pool {  // of Items with a member `next`
 public:
  Item& operator[](std::uint32_t index) { return items_[index]; }
  const Item& operator[](std::uint32_t index) const { return items_[index]; }
  std::uint32_t take() {
    if (free_ == kNone) grow();
    const std::uint32_t index = free_;
    free_ = items_[index].next;
    ++taken_;
    return index;
  }
  void give_back(std::uint32_t index) {
    items_[index].next = free_;
    free_ = index;
    --taken_;
  }
  std::size_t taken() const { return taken_; }

 private:
  void grow() {
    const auto old = static_cast<std::uint32_t>(items_.size());
    const std::uint32_t count = old == 0 ? 1024 : 2 * old;
    items_.resize(count);
    for (std::uint32_t item = old; item < count; ++item) items_[item].next = item + 1;
    items_[count - 1].next = kNone;
    free_ = old;
  }

  std::vector<Item> items_;
  std::uint32_t free_ = kNone;
  std::size_t taken_ = 0;
};

}  // namespace photon::netsim
