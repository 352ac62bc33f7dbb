#include "netsim/nic/eager.hpp"

namespace photon::netsim::nic {

Time EagerCard::host_time(std::uint32_t slot, const Operation& operation) {
  if (is_copied_ && operation.bytes <= most_) return costs().copy(operation.bytes);
  return registration(slot, operation);
}

// A source that was copied is free at once.
void EagerCard::on_post(std::uint32_t slot, const Operation& operation) {
  Operation its = operation;
  if (is_copied_ && operation.bytes <= most_ && operation.is_told) {
    its.is_told = false;
    port().write_host(slot,
                      {operation.peer, operation.posted_ns, operation.tag, NoticeKind::sent, 0});
  }
  NodeCard::on_post(slot, its);
}

// The request names the message by its place in this card's store; the read gives it back.
void EagerCard::launch(Pair& pair, std::uint32_t message, Time from) {
  Packet request = outbox().messages()[message].packet;
  if (request.message_bytes <= most_) {
    send_data(pair, message, from);
    return;
  }
  request.kind = PacketKind::request;
  request.message = message;
  outbox().control(request, from);
}

void EagerCard::on_control(Pair& pair, const Packet& packet, Time from) {
  if (packet.kind == PacketKind::request) {
    use_buffer(pair);
    relay(packet, from);
  } else if (packet.kind == PacketKind::read) {
    serve(pair, packet, from);
  } else {
    acknowledged(pair, packet, from);
  }
}

// The card sends what is read, without its host. Who wants to be told is kept until all is in.
void EagerCard::serve(Pair& pair, const Packet& read, Time from) {
  Store<OutMessage>& messages = outbox().messages();
  const std::uint32_t message = read.message;
  send_data(pair, message, from);
  if (!messages[message].is_told) return;
  messages[message].is_told = false;
  const OutMessage copy = messages[message];
  append(messages, more_of(pair).unacknowledged, messages.put(copy));
}

void EagerCard::acknowledged(Pair& pair, const Packet& packet, Time from) {
  Store<OutMessage>& messages = outbox().messages();
  if (pair.more == kNone) return;  // nobody wants to know
  List& unacknowledged = more_of(pair).unacknowledged;
  std::uint32_t before = kNone;
  std::uint32_t its = unacknowledged.first;
  while (its != kNone && messages[its].packet.message != packet.message) {
    before = its;
    its = messages[its].next;
  }
  if (its == kNone) return;
  const std::uint32_t after = messages[its].next;
  (before == kNone ? unacknowledged.first : messages[before].next) = after;
  if (after == kNone) unacknowledged.last = before;
  messages.give_back(its);
  notify(packet.destination.slot,
         {packet.source, packet.posted_ns, packet.tag, NoticeKind::sent, costs().poll + costs().cq},
         from);
}

void EagerCard::on_data(Pair&, const Packet& packet, bool is_complete, Time from) {
  if (!is_complete) return;
  const bool is_eager = packet.message_bytes <= most_;
  const Time copy = is_copied_ && is_eager ? costs().copy(packet.message_bytes) : 0;
  notify(packet.destination.slot,
         {packet.source, packet.posted_ns, packet.tag, NoticeKind::message,
          costs().poll + costs().cq + copy},
         from);
  if (!is_eager) relay(packet, from);
}

void EagerCard::on_relayed(Pair&, const Packet& packet) {
  const bool is_request = packet.kind == PacketKind::request;
  answer(packet, is_request ? PacketKind::read : PacketKind::acknowledgement, port().now());
}

}  // namespace photon::netsim::nic
