#include "netsim/nic/arrivals.hpp"

#include <algorithm>
#include <utility>

namespace photon::netsim::nic {

std::size_t Arrivals::find(std::uint64_t key) const {
  std::size_t place = home(key);
  while (entries_[place].key != 0 && entries_[place].key != key) {
    place = (place + 1) & (entries_.size() - 1);
  }
  return place;
}

void Arrivals::grow() {
  const std::vector<Entry> old = std::exchange(entries_, {});
  entries_.resize(std::max<std::size_t>(8, 2 * old.size()));
  for (const Entry& entry : old) {
    if (entry.key != 0) entries_[find(entry.key)] = entry;
  }
}

// Entries behind the gap move into it where their home allows it, so that find() needs no marks.
void Arrivals::erase(std::size_t place) {
  const std::size_t mask = entries_.size() - 1;
  --used_;
  for (std::size_t next = (place + 1) & mask; entries_[next].key != 0; next = (next + 1) & mask) {
    const std::size_t from_home = (next - home(entries_[next].key)) & mask;
    if (from_home < ((next - place) & mask)) continue;
    entries_[place] = entries_[next];
    place = next;
  }
  entries_[place] = {};
}

Arrivals::Taken Arrivals::take_one(const Packet& packet, std::uint32_t mtu) {
  if (packet.message_bytes <= mtu) return {true, true};  // the only one of its message
  if (2 * (used_ + 1) > entries_.size()) grow();
  const std::uint64_t key = key_of(packet);
  const std::size_t place = find(key);
  Entry& entry = entries_[place];
  const bool is_first = entry.key == 0;
  if (is_first) {
    entry = {key, 0, packet.index};
    peak_ = std::max(peak_, ++used_);
  }
  if (packet.index < entry.highest) ++out_of_order_;
  entry.highest = std::max(entry.highest, packet.index);
  ++entry.packets;
  if (std::uint64_t{entry.packets} * mtu < packet.message_bytes) return {is_first, false};
  erase(place);
  return {is_first, true};
}

}  // namespace photon::netsim::nic
