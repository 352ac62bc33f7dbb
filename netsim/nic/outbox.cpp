#include "netsim/nic/outbox.hpp"

namespace photon::netsim::nic {

void Outbox::control(const Packet& packet, Time from) {
  control_free_ = std::max(control_free_, from) + costs_.per_packet;
  control_.push({packet, control_free_});
}

void Outbox::bulk(std::uint32_t message, Time from) {
  bulk_from_ = std::max(bulk_from_, from);
  append(messages_, bulk_, message);
}

void Outbox::ask() {
  while (!bulk_.is_empty() && asked_.size() < costs_.read_ahead()) {
    const std::uint32_t index = take_first(messages_, bulk_);
    OutMessage& message = messages_[index];
    const std::uint32_t bytes = costs_.bytes_of(message.packet);
    dma_free_ = std::max({dma_free_, bulk_from_, port_.now()}) + costs_.dma(bytes);
    const Time there = dma_free_ + costs_.dma_read;
    bulk_free_ = std::max(bulk_free_, there) + costs_.per_packet;
    asked_.push({message.packet, bulk_free_});
    if (++message.packet.index >= costs_.packets_of(message.packet.message_bytes)) {
      read_.push({index, there});
    } else if (is_by_packet_) {
      append(messages_, bulk_, index);
    } else {
      message.next = bulk_.first;
      if (bulk_.first == kNone) bulk_.last = index;
      bulk_.first = index;
    }
  }
}

// False: its first one is not ready, or the port has no room.
bool Outbox::send_first(Ring<Ready>& queue) {
  if (queue.is_empty() || queue.front().time > port_.now() || !port_.send(queue.front().packet)) {
    return false;
  }
  queue.pop();
  return true;
}

void Outbox::pump() {
  const Time now = port_.now();
  do {
    ask();
  } while (send_first(control_) ||
           (!(!control_.is_empty() && control_.front().time <= now) && send_first(asked_)));
  Time next = kNever;
  if (!control_.is_empty()) next = control_.front().time;
  if (!asked_.is_empty() && asked_.front().time > now) next = std::min(next, asked_.front().time);
  if (next <= now || next == kNever) return;
  if (woken_ > now && woken_ <= next) return;
  woken_ = next;
  port_.at(next, {wake_, 0});
}

}  // namespace photon::netsim::nic
