#include "netsim/nic/put.hpp"

namespace photon::netsim::nic {

// The first of the waiting messages says from whom the request comes.
bool PutCard::may_launch(Pair& pair, Time from) {
  if (!asks_for_addresses_ || pair.address == Address::known) return true;
  if (pair.address == Address::unknown) {
    pair.address = Address::asked;
    Packet request = outbox().messages()[pair.waiting.first].packet;
    request.kind = PacketKind::address_request;
    outbox().control(request, from);
  }
  return false;
}

void PutCard::launch(Pair& pair, std::uint32_t message, Time from) {
  Packet told = outbox().messages()[message].packet;
  told.message = pair.messages;
  told.kind = PacketKind::told;
  send_data(pair, message, from);
  if (telling_ == Telling::behind) outbox().control(told, from);
}

void PutCard::tell(const Packet& packet, Time host_ps, Time from) {
  notify(packet.destination.slot,
         {packet.source, packet.posted_ns, packet.tag, NoticeKind::message, host_ps}, from);
}

void PutCard::on_data(Pair& pair, const Packet& packet, bool is_complete, Time from) {
  const Time entry = costs().poll + costs().cq;
  switch (telling_) {
    case Telling::rvma:
      if (is_complete) tell(packet, costs().poll, from);
      return;
    case Telling::immediate:
      if (is_complete) tell(packet, entry, from);
      return;
    case Telling::last_byte:
      if (packet.index + 1 == costs().packets_of(packet.message_bytes)) {
        tell(packet, costs().poll, from);
      }
      return;
    case Telling::ack:
      if (is_complete) answer(packet, PacketKind::acknowledgement, from);
      return;
    case Telling::behind:
      if (is_complete) fence(pair, packet, from);
      return;
  }
}

// A put is in: whatever message has no missing put before it now is let go, in order.
void PutCard::fence(Pair& pair, const Packet& packet, Time from) {
  PairMore& more = more_of(pair);
  const std::uint32_t ahead = packet.message - more.next_put;
  if (ahead >= 64) return;  // more than there are buffers: the run has failed
  more.complete |= std::uint64_t{1} << ahead;
  while ((more.complete & 1) != 0) {
    more.complete >>= 1;
    ++more.next_put;
  }
  Packet told;
  while (held().take_before(more.told, more.next_put, told)) {
    tell(told, costs().poll + costs().cq, from);
  }
}

void PutCard::on_control(Pair& pair, const Packet& packet, Time from) {
  if (packet.kind != PacketKind::told) {  // the host's turn
    relay(packet, from);
  } else if (telling_ == Telling::ack || packet.message < more_of(pair).next_put) {
    tell(packet, costs().poll + costs().cq, from);
  } else {
    held().insert(more_of(pair).told, packet);
  }
}

void PutCard::on_relayed(Pair& pair, const Packet& packet) {
  const Time now = port().now();
  if (packet.kind == PacketKind::address_request) {
    answer(packet, PacketKind::address, now);
  } else if (packet.kind == PacketKind::address) {
    pair.address = Address::known;
    start(pair, now);
  } else {
    answer(packet, PacketKind::told, now);
  }
}

}  // namespace photon::netsim::nic
