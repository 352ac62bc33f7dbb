#include "netsim/nic/bare.hpp"

namespace photon::netsim::nic {

void BareCard::on_post(std::uint32_t slot, const Operation& operation) {
  const bool was_idle = waiting_.empty();
  Packet packet;
  packet.source = {node_, slot};
  packet.destination = operation.peer;
  packet.message = messages_++;
  packet.message_bytes = operation.bytes;
  packet.posted_ns = operation.posted_ns;
  packet.tag = operation.tag;
  waiting_.push_back({packet, operation.is_told});
  if (was_idle) on_room();
}

void BareCard::on_room() {
  while (first_ < waiting_.size()) {
    Packet packet = waiting_[first_].packet;
    packet.index = sent_packets_;
    if (!port_.send(packet)) return;
    ++sent_packets_;
    if (std::uint64_t{sent_packets_} * mtu_ < packet.message_bytes) continue;
    sent_packets_ = 0;
    if (waiting_[first_].is_told) {
      port_.write_host(packet.source.slot,
                       {packet.destination, packet.posted_ns, packet.tag, NoticeKind::sent});
    }
    if (++first_ < 64 || 2 * first_ < waiting_.size()) continue;
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
  waiting_.clear();
  first_ = 0;
}

void BareCard::on_packet(const Packet& packet) {
  if (!arrivals_.take(packet, mtu_)) return;
  port_.write_host(packet.destination.slot,
                   {packet.source, packet.posted_ns, packet.tag, NoticeKind::message});
}

}  // namespace photon::netsim::nic
