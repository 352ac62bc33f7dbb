// A part's crossbars: arrival, routing of heads, arbitration, grants.
#include <algorithm>
#include <bit>

#include "netsim/net/part.hpp"

namespace photon::netsim {

// The packet at the front of an input queue has come and becomes its head.
void Part::arrive(std::uint32_t queue) {
  const std::uint32_t router = fabric_.router_of[s_.inputs[queue].port];
  head_up(router, queue);
  propose(router, s_.inputs[queue]);
}

// A head is routed once, with the queue lengths of this moment.
void Part::head_up(std::uint32_t r, std::uint32_t queue) {
  const Router& router = s_.routers[r];
  InputQueue& input = s_.inputs[queue];
  Packet& packet = packets_[input.first];
  const std::uint32_t first_queue = router.first_port * p_.vcs;
  const Here here{r, input.port - router.first_port, queue - input.port * p_.vcs,
                  QueueView(&s_.outputs[first_queue], p_.vcs, p_.buffer_flits), &s_.random[r]};
  const Hop hop = fabric_.topology.route(here, packet);
  input.output_port = router.first_port + hop.port;
  input.output = input.output_port * p_.vcs + std::min(hop.vc, p_.vcs - 1);
  input.flits = packet.flits;
  ++s_.outputs[input.output].wanted;
  const std::uint32_t place = router.first_place + s_.place_of[queue];
  s_.active[place / 64] |= std::uint64_t{1} << (place % 64);
}

// Asks for the edge at which this head may be granted. If its output has no room, the port asks
// when it has (output.cpp).
void Part::propose(std::uint32_t router, const InputQueue& input) {
  if (s_.outputs[input.output].used + input.flits > p_.buffer_flits) return;
  const Time free =
      std::max(s_.ports[input.port].input_free, s_.ports[input.output_port].output_free);
  want_edge(router, std::max(free, next_edge_time()));
}

void Part::want_edge(std::uint32_t router, Time time) {
  Time& next = s_.routers[router].next_edge;
  if (time >= next) return;
  next = time;  // an edge that was queued for later is passed over
  queue_.push(Event::at(time, EventKind::crossbar_edge, router));
}

void Part::edge(std::uint32_t r) {
  Router& router = s_.routers[r];
  if (router.next_edge != now_) return;
  router.next_edge = kNever;
  const Time again = grant(router);
  if (again != kNever) want_edge(r, again);
  if (granted_.empty()) return;
  stand_last(router);
  std::sort(granted_.begin(), granted_.end());  // queues are numbered by input port
  for (const std::uint32_t queue : granted_) carry_out(r, queue);
}

// Looks at all heads in the order of least recent grant. Returns when a head that has room may be
// granted next.
Time Part::grant(const Router& router) {
  granted_.clear();
  Time again = kNever;
  const std::uint32_t first_queue = router.first_port * p_.vcs;
  for (std::uint32_t place = 0; place < router.next_place; place += 64) {
    std::uint64_t bits = s_.active[(router.first_place + place) / 64];
    for (; bits != 0; bits &= bits - 1) {
      const auto bit = static_cast<std::uint32_t>(std::countr_zero(bits));
      const std::uint32_t queue = first_queue + s_.queue_at[router.first_place + place + bit];
      const InputQueue& input = s_.inputs[queue];
      if (s_.outputs[input.output].used + input.flits > p_.buffer_flits) continue;
      Time& input_free = s_.ports[input.port].input_free;
      Time& output_free = s_.ports[input.output_port].output_free;
      const Time free = std::max(input_free, output_free);
      if (free > now_) {
        again = std::min(again, free);
        continue;
      }
      input_free = output_free = now_ + input.flits * p_.crossbar_ps;
      granted_.push_back(queue);
    }
  }
  return again;
}

// The granted go to the end of the order; the one that was granted first stands last.
void Part::stand_last(Router& router) {
  const std::uint32_t first_queue = router.first_port * p_.vcs;
  if (router.next_place + granted_.size() > router.places) renumber(router);
  for (std::size_t i = granted_.size(); i-- > 0;) {
    std::uint32_t& place = s_.place_of[granted_[i]];
    const std::uint32_t old = router.first_place + place;
    s_.active[old / 64] &= ~(std::uint64_t{1} << (old % 64));
    place = router.next_place++;
    s_.queue_at[router.first_place + place] = granted_[i] - first_queue;
  }
}

// Closes the gaps between the places; at most half of them are in use.
void Part::renumber(Router& router) {
  std::uint32_t* const places = &s_.place_of[router.first_port * p_.vcs];
  std::uint32_t* const queues = &s_.queue_at[router.first_place];
  std::uint64_t* const active = &s_.active[router.first_place / 64];
  std::uint32_t next = 0;
  for (std::uint32_t place = 0; place < router.next_place; ++place) {
    const std::uint32_t queue = queues[place];
    if (places[queue] != place) continue;
    const std::uint64_t bit = active[place / 64] >> (place % 64) & 1;
    active[place / 64] &= ~(std::uint64_t{1} << (place % 64));
    active[next / 64] |= bit << (next % 64);
    queues[next] = queue;
    places[queue] = next++;
  }
  router.next_place = next;
}

// Leave the FIFO, route the new head, join the output FIFO, give back the input's room.
void Part::carry_out(std::uint32_t r, std::uint32_t queue) {
  InputQueue& input = s_.inputs[queue];
  const std::uint32_t packet = take_first(packets_, input);
  const std::uint32_t output = input.output;
  const auto flits = static_cast<std::uint16_t>(input.flits);
  if (audit_) audit_->leaves_input(queue, packets_, packet, now_);
  --s_.outputs[output].wanted;
  input.used -= flits;
  input.output = kNone;
  if (!input.is_empty()) {
    const Time at = packets_[input.first].at;
    if (at < now_) {
      head_up(r, queue);
    } else {
      queue_.push(Event::at(at, EventKind::arrival, queue));
    }
  }
  join(output, packet);
  give_credit(input.port, queue - input.port * p_.vcs, flits);
  if (input.output != kNone) propose(r, input);
}

void Part::give_credit(std::uint32_t port, std::uint32_t vc, std::uint16_t flits) {
  const std::uint32_t peer = s_.ports[port].peer;
  if ((peer & kCardBit) != 0) {
    card_credit(peer & ~kCardBit, {now_ + p_.router_to_card_ps(), kNone, 0, flits});
    return;
  }
  const Credit credit{now_ + p_.router_to_router_ps(), kNone, static_cast<std::uint16_t>(vc),
                      flits};
  const std::uint16_t part = s_.ports[port].peer_part;
  if (part == number_) {
    add_credit(peer, credit);
    return;
  }
  first_sent_ = std::min(first_sent_, credit.at);
  outboxes_[set_][part].credits.push_back({credit, peer});
}

}  // namespace photon::netsim
