#include "netsim/nic/bare.hpp"

#include <algorithm>

namespace photon::netsim::nic {

void BareCard::on_post(std::uint32_t, const Operation& operation) {
  const bool was_idle = waiting_.empty();
  waiting_.push_back({node_, operation.peer, operation.bytes, messages_++, operation.bytes, 0,
                      operation.tag, PacketKind::data});
  if (was_idle) on_room();
}

void BareCard::on_room() {
  while (first_ < waiting_.size()) {
    Packet packet = waiting_[first_];
    packet.bytes = std::min(mtu_, packet.message_bytes - sent_bytes_);
    packet.index = sent_packets_;
    if (!port_.send(packet)) return;
    sent_bytes_ += packet.bytes;
    ++sent_packets_;
    if (sent_bytes_ < packet.message_bytes) continue;
    sent_bytes_ = sent_packets_ = 0;
    if (++first_ < 64 || 2 * first_ < waiting_.size()) continue;
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
  waiting_.clear();
  first_ = 0;
}

void BareCard::on_packet(const Packet& packet) {
  if (!arrivals_.take(packet)) return;
  port_.write_host(packet.destination, {packet.source, packet.tag, NoticeKind::message});
}

}  // namespace photon::netsim::nic
