// Messages of which some packets have come: how many packets are in, and the highest index so far.
// A table with open addressing. Invariant: a message is in it from its first packet to its last,
// and one of a single packet never. It grows by doubling, and nothing else allocates. Owner: one
// card.
#pragma once

#include <cstdint>
#include <vector>

#include "netsim/nic/port.hpp"

namespace photon::netsim::nic {

class Arrivals {
 public:
  // Counts the packet; all packets of its message may be in now.
  struct Taken {
    bool is_first = false;
    bool is_complete = false;
  };
  Taken take_one(const Packet& packet, std::uint32_t mtu);
  bool take(const Packet& packet, std::uint32_t mtu) { return take_one(packet, mtu).is_complete; }
  std::size_t open() const { return used_; }
  std::size_t peak_bytes() const { return peak_ * sizeof(Entry); }
  std::uint64_t out_of_order() const { return out_of_order_; }

 private:
  struct Entry {
    std::uint64_t key = 0;  // 0: free
    std::uint32_t packets = 0;
    std::uint32_t highest = 0;
  };
  static std::uint64_t key_of(const Packet& packet) {
    const std::uint64_t pair = (std::uint64_t{packet.source.node} << 8 | packet.source.slot) << 8 |
                               packet.destination.slot;
    return (pair << 24 | (packet.message & 0xffffff)) + 1;
  }
  std::size_t home(std::uint64_t key) const {
    return (key * 0x9e3779b97f4a7c15U >> 32) & (entries_.size() - 1);
  }
  std::size_t find(std::uint64_t key) const;  // its place, or that where it would be
  void grow();
  void erase(std::size_t place);

  std::vector<Entry> entries_;
  std::size_t used_ = 0;
  std::size_t peak_ = 0;  // of used_
  std::uint64_t out_of_order_ = 0;
};

}  // namespace photon::netsim::nic
