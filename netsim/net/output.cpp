// A part's output ports: FIFOs, looks, sending.
#include <algorithm>

#include "netsim/net/part.hpp"

namespace photon::netsim {

// A granted packet joins an output FIFO. This comes before credits and looks of its picosecond.
void Part::join(std::uint32_t queue, std::uint32_t packet) {
  const std::uint32_t number = queue / p_.vcs;
  Port& port = s_.ports[number];
  SendPort& send = port.send;
  if (audit_) audit_->joins(audit_->output(queue), s_.outputs[queue].used, packet, now_);
  put_behind(packets_, s_.outputs[queue], packet);
  if (s_.outputs[queue].used > p_.buffer_flits) fail("an output FIFO holds more than its room");
  send.settle(credits_, now_, p_.flit_ps, [&](std::uint32_t vc, std::uint32_t flits) {
    s_.outputs[number * p_.vcs + vc].credits += flits;
  });
  ++send.queued;
  if (send.is_waiting(now_, false)) send.arm(now_, p_.flit_ps);
  if (send.due != send.until) {
    send.due = send.until;
    queue_.push(Event::at(send.due, EventKind::output_look, number));
  }
}

// The VC whose packet goes, or kNone. Its turn begins after the last one sent. A card counts as
// one VC: a port to it has one account of credits.
std::uint32_t Part::choose(const Port& port, std::uint32_t first_queue) const {
  const bool is_to_card = (port.peer & kCardBit) != 0;
  std::uint32_t vc = port.send.last_vc;
  for (std::uint32_t i = 0; i < p_.vcs; ++i) {
    vc = vc + 1 < p_.vcs ? vc + 1 : 0;
    const OutputQueue& queue = s_.outputs[first_queue + vc];
    if (queue.is_empty()) continue;
    const std::uint32_t credits = is_to_card ? s_.outputs[first_queue].credits : queue.credits;
    if (packets_[queue.first].flits <= credits) return vc;
  }
  return kNone;
}

void Part::look(std::uint32_t number) {
  Port& port = s_.ports[number];
  SendPort& send = port.send;
  if (send.due != now_) return;
  const std::uint32_t first_queue = number * p_.vcs;
  send.settle(credits_, now_ + 1, p_.flit_ps, [&](std::uint32_t vc, std::uint32_t flits) {
    s_.outputs[first_queue + vc].credits += flits;
  });
  const Event again = Event::at(0, EventKind::output_look, number);
  const std::uint32_t vc = choose(port, first_queue);
  if (vc == kNone) {
    after_look(send, s_.senders[number], 0, again);
    return;
  }
  OutputQueue& queue = s_.outputs[first_queue + vc];
  const std::uint32_t length = queue.used;
  const std::uint32_t packet = take_out(packets_, queue);
  if (audit_) audit_->leaves(audit_->output(first_queue + vc), length, packet, now_);
  const std::uint16_t flits = packets_[packet].flits;
  if ((port.peer & kCardBit) != 0 && vc != 0) {  // one account
    queue.credits += flits;
    s_.outputs[first_queue].credits -= flits;
  }
  send.last_vc = vc;
  --send.queued;
  ++counters_.hops;
  after_look(send, s_.senders[number], flits, again);
  transmit(number, vc, packet);
  if (queue.wanted > 0) {
    want_edge(fabric_.router_of[number], std::max(next_edge_time(), port.output_free));
  }
}

// Busy with what was sent, or waiting if that is nothing: then a credit on its way tells when the
// next look is.
void Part::after_look(SendPort& send, Sender& sender, std::uint16_t flits,
                      const Event& look_again) {
  send.due = kNever;
  if (flits > 0) {
    send.from = now_;
    send.until = now_ + flits * p_.flit_ps;
    counters_.sent_until = std::max(counters_.sent_until, send.until);
    sender.flits += flits;
    if (sender.stalled_since != kNever) sender.stalled += now_ - sender.stalled_since;
    sender.stalled_since = kNever;
    if (send.queued == 0) return;
  } else {
    send.until = now_;
    sender.stalled_since = std::min(sender.stalled_since, now_);
    if (send.credits.is_empty()) return;
    send.arm(credits_[send.credits.first].at, p_.flit_ps);
  }
  send.due = send.until;
  queue_.push({send.due, look_again.key, look_again.payload});
}

void Part::transmit(std::uint32_t number, std::uint32_t vc, std::uint32_t packet) {
  const std::uint32_t peer = s_.ports[number].peer;
  Packet& sent = packets_[packet];
  if ((peer & kCardBit) != 0) {
    counters_.flits_to_cards += sent.flits;
    queue_.push(Event::at(now_ + p_.router_to_card_ps(), EventKind::card_arrival, peer & ~kCardBit,
                          packet));
    return;
  }
  sent.at = now_ + p_.router_to_router_ps();
  const std::uint16_t part = s_.ports[number].peer_part;
  if (part == number_) {
    put_in(peer * p_.vcs + vc, packet);
    return;
  }
  first_sent_ = std::min(first_sent_, sent.at);
  outboxes_[set_][part].packets.push_back({sent, peer * p_.vcs + vc});
  packets_.give_back(packet);
}

// A packet is on its way to an input queue. Only that of the front one is an event.
void Part::put_in(std::uint32_t queue, std::uint32_t packet) {
  InputQueue& input = s_.inputs[queue];
  if (audit_) audit_->comes(packet, packets_[packet]);
  input.used += packets_[packet].flits;
  if (input.used > p_.buffer_flits) fail("an input FIFO holds more than its room");
  if (input.is_empty()) queue_.push(Event::at(packets_[packet].at, EventKind::arrival, queue));
  append(packets_, input, packet);
}

void Part::add_credit(std::uint32_t number, const Credit& credit) {
  SendPort& send = s_.ports[number].send;
  send.add_credit(credits_, credit);
  if (!send.is_starved()) return;
  send.arm(credit.at, p_.flit_ps);
  send.due = send.until;
  queue_.push(Event::at(send.due, EventKind::output_look, number));
}

}  // namespace photon::netsim
