// A part's card ports: the hosts' ends of its links.
#include "netsim/net/part.hpp"

namespace photon::netsim {
namespace {

constexpr std::uint64_t kIsWhole = std::uint64_t{1} << 32;  // the tail has come, too

}  // namespace

void Part::settle_card(Card& card, Time end) {
  card.send.settle(credits_, end, p_.flit_ps,
                   [&](std::uint32_t, std::uint32_t flits) { card.fifo.credits += flits; });
}

// Only a packet that comes onto an empty FIFO arms a card's port.
bool Part::send(const Packet& packet) {
  Card& card = s_.cards[packet.source];
  if (card.fifo.used + packet.flits > p_.card_flits) {
    card.is_refused = true;
    return false;
  }
  const std::uint32_t index = packets_.take();
  packets_[index] = packet;
  const bool was_empty = card.fifo.is_empty();
  if (audit_) {
    audit_->comes(index, packet);
    audit_->joins(audit_->card(packet.source), card.fifo.used, index, now_);
  }
  put_behind(packets_, card.fifo, index);
  ++counters_.injected;
  counters_.flits_from_cards += packet.flits;
  ++card.send.queued;
  if (!was_empty) return true;
  const bool is_after_look = kind_ > EventKind::card_look;
  settle_card(card, is_after_look ? now_ + 1 : now_);
  if (card.send.is_waiting(now_, is_after_look)) card.send.arm(now_, p_.flit_ps);
  card.send.due = card.send.until;
  queue_.push(Event::at(card.send.due, EventKind::card_look, packet.source));
  return true;
}

void Part::card_look(std::uint32_t host) {
  Card& card = s_.cards[host];
  if (card.send.due != now_) return;
  settle_card(card, now_ + 1);
  const bool can_go = packets_[card.fifo.first].flits <= card.fifo.credits;
  const Event again = Event::at(0, EventKind::card_look, host);
  Sender& sender = s_.senders[s_.ports.size() + host];
  if (!can_go) {
    after_look(card.send, sender, 0, again);
    return;
  }
  const std::uint32_t length = card.fifo.used;
  const std::uint32_t packet = take_out(packets_, card.fifo);
  if (audit_) audit_->leaves(audit_->card(host), length, packet, now_);
  --card.send.queued;
  after_look(card.send, sender, packets_[packet].flits, again);
  packets_[packet].at = now_ + p_.card_to_router_ps();
  put_in(fabric_.wiring.host_port[host] * p_.vcs, packet);
  if (card.is_refused) {
    card.is_refused = false;
    card_side_.on_room(host);
  }
}

void Part::card_credit(std::uint32_t host, const Credit& credit) {
  SendPort& send = s_.cards[host].send;
  send.add_credit(credits_, credit);
  if (!send.is_starved()) return;
  send.arm(credit.at, p_.flit_ps);
  send.due = send.until;
  queue_.push(Event::at(send.due, EventKind::card_look, host));
}

// The card gives its room back when the head arrives. What it may see then is all of the packet, or
// comes when the tail is in.
void Part::card_arrive(std::uint32_t host, std::uint64_t payload) {
  const auto index = static_cast<std::uint32_t>(payload);
  const std::uint16_t flits = packets_[index].flits;
  if ((payload & kIsWhole) == 0) {
    add_credit(fabric_.wiring.host_port[host], {now_ + p_.card_credit_ps(), kNone, 0, flits});
    if (p_.is_delivered_at_tail) {
      queue_.push(
          Event::at(now_ + flits * p_.flit_ps, EventKind::card_arrival, host, payload | kIsWhole));
      return;
    }
  }
  const Packet packet = packets_[index];
  packets_.give_back(index);
  ++counters_.delivered;
  card_side_.on_packet(host, packet);
}

}  // namespace photon::netsim
