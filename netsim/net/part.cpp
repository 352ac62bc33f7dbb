#include "netsim/net/part.hpp"

#include <algorithm>

namespace photon::netsim {

Part::Part(const Fabric& fabric, State& state, CardSide& cards, std::uint32_t number,
           std::uint32_t parts)
    : fabric_(fabric),
      p_(fabric.parameters),
      s_(state),
      card_side_(cards),
      number_(static_cast<std::uint16_t>(number)) {
  for (auto& set : outboxes_) set.resize(parts);
  std::uint32_t most = 0;
  for (const Router& router : state.routers) most = std::max(most, router.ports * p_.vcs);
  granted_.reserve(most);
}

void Part::begin_window(unsigned set) {
  set_ = set;
  first_sent_ = kNever;
}

void Part::take_in(Outbox& from) {
  for (const Outbox::Sent& sent : from.packets) {
    const std::uint32_t index = packets_.take();
    packets_[index] = sent.packet;
    put_in(sent.queue, index);
  }
  for (const Outbox::Given& given : from.credits) add_credit(given.port, given.credit);
  from.packets.clear();
  from.credits.clear();
}

Time Part::next_time() {
  return queue_.is_empty() ? first_sent_ : std::min(first_sent_, queue_.top().time);
}

bool Part::handle(const Event& event) {
  now_ = event.time;
  kind_ = event.kind();
  ++counters_.events;
  const auto index = static_cast<std::uint32_t>(event.index());
  switch (kind_) {
    case EventKind::crossbar_edge: edge(index); return true;
    case EventKind::arrival: arrive(index); return true;
    case EventKind::output_look: look(index); return true;
    case EventKind::card_arrival: card_arrive(index, event.payload); return true;
    case EventKind::card_look: card_look(index); return true;
    default: return false;
  }
}

void Part::fail(const std::string& what) {
  if (fault_.empty()) fault_ = what + " at " + std::to_string(now_) + " ps";
}

std::string Part::what_is_left() {
  const std::uint32_t room = p_.buffer_flits;
  for (std::uint32_t number = 0; number < s_.ports.size(); ++number) {
    if (s_.ports[number].part != number_) continue;
    s_.ports[number].send.settle(credits_, kNever, p_.flit_ps,
                                 [&](std::uint32_t vc, std::uint32_t flits) {
                                   s_.outputs[number * p_.vcs + vc].credits += flits;
                                 });
    for (std::uint32_t queue = number * p_.vcs; queue < (number + 1) * p_.vcs; ++queue) {
      const OutputQueue& output = s_.outputs[queue];
      const bool is_clean = output.credits == room && output.used == 0 && output.wanted == 0 &&
                            s_.inputs[queue].used == 0;
      if (!is_clean) return "port " + std::to_string(number) + " has lost credits or packets";
    }
  }
  for (std::uint32_t host = 0; host < s_.cards.size(); ++host) {
    if (!owns_host(host)) continue;
    Card& card = s_.cards[host];
    settle_card(card, kNever);
    if (card.fifo.credits != room || card.fifo.used != 0) {
      return "the card of host " + std::to_string(host) + " has lost credits or packets";
    }
  }
  return credits_.taken() == 0 ? "" : "credits are left over";
}

}  // namespace photon::netsim
