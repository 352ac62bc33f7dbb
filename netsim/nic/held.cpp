#include "netsim/nic/held.hpp"

namespace photon::netsim::nic {
namespace {

bool is_before(const Packet& a, const Packet& b) {
  return a.message != b.message ? a.message < b.message : a.index < b.index;
}

}  // namespace

std::uint32_t Held::bytes_of(const Packet& packet) const {
  if (packet.kind != PacketKind::data) return kControlBytes;
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(mtu_, packet.message_bytes - std::uint64_t{packet.index} * mtu_));
}

void Held::insert(List& chain, const Packet& packet) {
  const std::uint32_t item = items_.put({packet, kNone});
  bytes_ += bytes_of(packet);
  peak_bytes_ = std::max(peak_bytes_, bytes_);
  if (chain.is_empty() || is_before(items_[chain.last].packet, packet)) {
    append(items_, chain, item);
    return;
  }
  std::uint32_t before = kNone;
  std::uint32_t after = chain.first;
  while (is_before(items_[after].packet, packet)) {
    before = after;
    after = items_[after].next;
  }
  items_[item].next = after;
  (before == kNone ? chain.first : items_[before].next) = item;
  if (packet.kind == PacketKind::data && items_[after].packet.message == packet.message) {
    ++out_of_order_;
  }
}

bool Held::is_next(PairMore& its, const Packet& packet) {
  if (packet.message == its.next_message && packet.index == its.next_index) {
    if (!its.held.is_empty() && items_[its.held.first].packet.message == packet.message) {
      ++out_of_order_;
    }
    return true;
  }
  insert(its.held, packet);
  return false;
}

bool Held::go_on(PairMore& its, Packet& packet) {
  ++its.next_index;
  if (std::uint64_t{its.next_index} * mtu_ >= packet.message_bytes) {
    ++its.next_message;
    its.next_index = 0;
  }
  if (its.held.is_empty()) return false;
  const Packet& first = items_[its.held.first].packet;
  if (first.message != its.next_message || first.index != its.next_index) return false;
  return take_before(its.held, its.next_message + 1, packet);
}

bool Held::take_before(List& chain, std::uint32_t end, Packet& packet) {
  if (chain.is_empty() || items_[chain.first].packet.message >= end) return false;
  const std::uint32_t item = take_first(items_, chain);
  packet = items_[item].packet;
  bytes_ -= bytes_of(packet);
  items_.give_back(item);
  return true;
}

}  // namespace photon::netsim::nic
