// The state of all routers and cards, in arrays over ports and over (port, VC). Input queue q and
// output queue q of port p and VC v are number p x VCs + v. Invariant: an element is touched by the
// part alone that owns its router or host, so that parts need no locks. Owner: run/.
#pragma once

#include <algorithm>
#include <vector>

#include "netsim/net/parameters.hpp"
#include "netsim/net/send_port.hpp"
#include "netsim/net/topology.hpp"

namespace photon::netsim {

// What never changes during a run.
struct Fabric {
  Fabric(const Topology& topology, Parameters parameters);

  const Topology& topology;
  Parameters parameters;
  Wiring wiring;
  std::vector<std::uint32_t> router_of;  // port: router
};

struct alignas(64) Port {
  Time input_free = 0;   // the crossbar's time at which its input is free again
  Time output_free = 0;  // and its output
  SendPort send;
  std::uint32_t peer = kNone;
  std::uint16_t part = 0;       // that owns its router
  std::uint16_t peer_part = 0;  // and that of its peer
};
static_assert(sizeof(Port) == 64);

struct InputQueue : List {  // of packets that are here or on their way, in order
  std::uint32_t used = 0;   // flits of them
  std::uint32_t port = 0;
  // Of its head, once that has been routed:
  std::uint32_t output = kNone;  // queue
  std::uint32_t output_port = 0;
  std::uint32_t flits = 0;
};

// The order of least recent grant is kept as places in an array of `places`: a granted queue goes
// to the next free place at the end. `active` marks places of queues whose head is routed.
struct Router {
  Time next_edge = kNever;  // the crossbar edge that is queued
  std::uint32_t first_port = 0;
  std::uint32_t ports = 0;
  std::uint32_t first_place = 0;  // in places; a multiple of 64
  std::uint32_t places = 0;
  std::uint32_t next_place = 0;
};

// A packet comes into an output FIFO; the caller has seen to it that there is room.
template <class Packets>
void put_behind(Packets& packets, OutputQueue& queue, std::uint32_t packet) {
  append(packets, queue, packet);
  queue.used += packets[packet].flits;
  queue.peak = std::max(queue.peak, queue.used);
}

// The first packet leaves one that is not empty, for credits that it has.
template <class Packets>
std::uint32_t take_out(Packets& packets, OutputQueue& queue) {
  const std::uint32_t packet = take_first(packets, queue);
  queue.used -= packets[packet].flits;
  queue.credits -= packets[packet].flits;
  return packet;
}

struct Card {
  SendPort send;
  OutputQueue fifo;
  bool is_refused = false;  // something was not taken for want of room
};

// What the sending side of a link has done, of a router's port or of a card. It is stalled from a
// look that finds packets but credits for none of them to the look that sends one.
struct Sender {
  std::uint64_t flits = 0;  // sent
  Time stalled = 0;
  Time stalled_since = kNever;
};

struct State {
  // The routers are split over `parts` parts, in ranges of about as many ports.
  State(const Fabric& fabric, std::uint32_t parts);

  std::vector<Port> ports;
  std::vector<InputQueue> inputs;
  std::vector<OutputQueue> outputs;
  std::vector<Router> routers;
  std::vector<std::uint32_t> place_of;  // queue: place within its router
  std::vector<std::uint32_t> queue_at;  // place: queue within its router, if place_of agrees
  std::vector<std::uint64_t> active;    // a bit a place
  std::vector<Random> random;           // router
  std::vector<Card> cards;              // host
  std::vector<Sender> senders;          // port, and behind all ports: host

 private:
  void split(const Fabric& fabric, std::uint32_t parts);
};

}  // namespace photon::netsim
