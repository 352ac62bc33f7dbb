// Packets that a card holds back: those that came before ones of their pair that must go before.
// Invariant: a chain is sorted by (message, index). Owner: one card.
#pragma once

#include <algorithm>

#include "netsim/nic/pairs.hpp"

namespace photon::netsim::nic {

class Held {
 public:
  explicit Held(std::uint32_t mtu) : mtu_(mtu) {}
  // True: the packet is the next of its pair. Else it is held.
  bool is_next(PairMore& its, const Packet& packet);
  // Counts the packet that is_next(); true if another is next, which stands in `packet` now.
  bool go_on(PairMore& its, Packet& packet);
  void insert(List& chain, const Packet& packet);
  // Takes the first of a chain out if its message is before `end`.
  bool take_before(List& chain, std::uint32_t end, Packet& packet);

  std::uint64_t out_of_order() const { return out_of_order_; }
  std::uint64_t peak_bytes() const { return peak_bytes_; }

 private:
  struct Item {
    Packet packet;
    std::uint32_t next = kNone;
  };
  std::uint32_t bytes_of(const Packet& packet) const;

  std::uint32_t mtu_;
  Store<Item> items_;
  std::uint64_t bytes_ = 0;
  std::uint64_t peak_bytes_ = 0;
  std::uint64_t out_of_order_ = 0;
};

}  // namespace photon::netsim::nic
