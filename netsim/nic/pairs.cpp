#include "netsim/nic/pairs.hpp"

#include <algorithm>

namespace photon::netsim::nic {

std::size_t Pairs::place_of(std::uint32_t slot, const Rank& peer) const {
  const std::uint64_t key = (std::uint64_t{peer.node} << 8 | peer.slot) << 8 | slot;
  const std::size_t mask = places_.size() - 1;
  std::size_t place = (key * 0x9e3779b97f4a7c15U >> 32) & mask;
  while (places_[place] != kNone) {
    const Pair& pair = pairs_[places_[place]];
    if (pair.slot == slot && pair.peer() == peer) break;
    place = (place + 1) & mask;
  }
  return place;
}

void Pairs::grow() {
  places_.assign(std::max<std::size_t>(8, 2 * places_.size()), kNone);
  for (std::uint32_t i = 0; i < pairs_.size(); ++i) {
    places_[place_of(pairs_[i].slot, pairs_[i].peer())] = i;
  }
}

std::uint32_t Pairs::find(std::uint32_t slot, const Rank& peer) {
  if (2 * (pairs_.size() + 1) > places_.size()) grow();
  std::uint32_t& index = places_[place_of(slot, peer)];
  if (index != kNone) return index;
  index = static_cast<std::uint32_t>(pairs_.size());
  Pair& pair = pairs_.emplace_back();
  pair.node = peer.node;
  pair.peer_slot = static_cast<std::uint8_t>(peer.slot);
  pair.slot = static_cast<std::uint8_t>(slot);
  pair.credits = credits_;
  return index;
}

PairMore& Pairs::more_of(Pair& pair) {
  if (pair.more == kNone) {
    pair.more = static_cast<std::uint32_t>(more_.size());
    more_.emplace_back();
  }
  return more_[pair.more];
}

}  // namespace photon::netsim::nic
