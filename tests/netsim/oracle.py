#!/usr/bin/env python3
"""A second, plain model of the router and of the `bare` card of netsim, to compare with.

    oracle.py CASE.json [--seed N]      prints the result as JSON with sorted keys

It holds lists and one heap, is slow, and shares no code with the model in C++. It was written from
the normative text of the router alone. Exit status: 0, or 2 for a bad case, or 3 if events ran
out with packets inside.

A case
------
A JSON object. Keys not named here are refused. A key with a condition in brackets stands in the
case under that condition and is ignored otherwise; all others must be there.

    topology          "router" "torus" "hyperx" "fattree" "dragonfly"
    shape             router "N"; torus, hyperx "4x4x4"; fattree "d,u:d,u:d"; dragonfly "h:a:n:g"
    hosts_per_router  integer (torus, hyperx); the others have it in their shape
    width             integer, links between two routers (hyperx)
    routing           "static"; "adaptive" (hyperx, fattree); "ugal", "valiant" (dragonfly)
    link_GBps         number, decimal
    crossbar_GBps     number, not below link_GBps
    flit_bytes        integer
    packet_bytes      integer; a message is cut into packets of it, the last one is the rest
    buffer_bytes      integer, of an input, an output and a card, per port and VC; at least
                      packet_bytes
    link_ns           number with at most three decimals, above 0: latency L
    input_ns          number with at most three decimals: latency I
    output_ns         number with at most three decimals: latency O
    delivery          "head" or "tail"
    motif             "exchange" "shift" "incast" "alltoall"
    ranks             the grid "X", "XxY" or "XxYxZ"; rank = x + X (y + Y z) lives on that host
    bytes             integer from 1: size of each message
    steps             integer from 1
    offset            integer from 1, below the number of ranks (shift)
    target            integer, a rank (incast)

The card is always `bare`. In a step rank r sends a message to each of its peers, in this order:

    exchange          -x, +x, -y, +y, -z, +z, where there is one (not periodic)
    shift             (r + offset) mod ranks
    incast            target, unless r is the target
    alltoall          r + 1, r + 2, ... r + ranks - 1, each mod ranks

All packets of a step are queued at once on the card's FIFO. A rank goes on to its next step at the
picosecond at which the last packet of this step's messages to it is delivered; whether its own
packets have left does not matter, and packets of later steps that came early are kept for those.
A rank that no message is sent to (a sender of an incast) posts all its steps at time 0.

A result
--------
    completion_ps     list, by rank: when its last packet was delivered; 0 if none was sent to it
    last_ps           the greatest of them
    packets           packets sent, which equals those delivered
    hops              packets that left a router's output port, ports to hosts included
    out_of_order      packets below the highest index of their message that had been delivered; a
                      message is (source, destination, step)

The command in C++ takes the same file by `photon-netsim run --case CASE.json --json -` and prints
a JSON object that has at least these five keys at its top level, with the same meaning.

Where the text leaves a choice
------------------------------
The rows of the other simulator in oracle_test.py decide 3 (on the dragonfly), 6 and 12, and that
packets are counted step by step: the other readings that were tried miss a row. They decide none
of the others; where two readings are left, the literal one was taken.

 1. Flits of a packet and of a buffer are both bytes / flit_bytes rounded up. F, X and latencies
    are rounded to the nearest picosecond, halves up.
 2. A port to a host has an output FIFO for each VC, like any other port, and takes them in turn;
    the credits of the card are one pool for all of them (buffer_bytes). A card sends on VC 0.
 3. A packet that goes to a host keeps its VC, in every topology; in the dragonfly that is the VC
    after the one added for a global link it has just left, or after the two for a middle router.
 4. A credit arms a waiting port even if nothing is queued; the look then finds nothing and the
    port waits again. A packet queued in between goes at that look, less than F later. A router's
    port that waits is armed by any packet queued; a card's only by one onto an empty FIFO.
 5. All grants of an edge are decided first, by the room and ports of that moment, then carried
    out. A new head is routed after its predecessor has left the input FIFO and before that
    predecessor counts in its output FIFO.
 6. Several granted at an edge move behind all others, the last granted foremost and the first
    granted at the very end. Heads that are not there keep their place in the order.
 7. The turn of a router's port begins at VC 0.
 8. `tail` delays what the host learns and nothing else: the card's credit leaves at head arrival.
 9. Torus: where a packet leaves a router at coordinate 0 after a turn, VC = arriving VC xor 1.
10. HyperX: `static` stays on VC 0. A packet on VC 1 has taken a detour in the dimension that is
    still its lowest unaligned one. Links compare in port order, straight or not.
11. Fat tree: half of the room is free if twice the free flits are at least those of the buffer.
12. Dragonfly: in i = slice (g - 1) + (other group) the other groups are counted ascending without
    the own one. A router that owns no link to the wanted group and slice sends to the one that
    does.
13. ugal and valiant: the middle group is neither the source's nor the destination's, the middle
    router neither the first nor the last; if there is none the packet goes straight. Valiant takes
    the least loaded slice to the middle group. Queues are those of the VC the packet would leave
    on. A second router of the source group compares again if it owns the links of the packet's
    slice to both groups, whichever way the first router chose; the slice stays.
"""
import argparse
import heapq
import json
import random
import sys

import motifs
from parts import ARMED, BUSY, WAITING, Packet, Router, Sender
from settings import Settings, checked
from topologies import At, topology_of

# Events of one picosecond happen in this order, and within a kind by index.
EDGE, ARRIVAL, CREDIT, TIMER, CARD_ARRIVAL, CARD_CREDIT, CARD_TIMER, HOST = range(8)
CARD_CREDIT_PS = 1000


class Wedged(Exception):
    """Events ran out with packets inside."""


class Model:
    def __init__(self, case, draw=None):
        self.settings = Settings(checked(case))
        self.topology = topology_of(case, draw)
        self.motif = motifs.Motif(case, len(self.settings.flits_of_packets))
        hosts = range(self.topology.hosts_count)
        if self.motif.ranks_count > len(hosts):
            raise ValueError('there are more ranks than hosts')
        buffer_flits = self.settings.buffer_flits
        self.routers = [Router(each, self.topology, buffer_flits)
                        for each in range(self.topology.routers_count)]
        # A card: where it is plugged in, and its one FIFO.
        self.homes = [self.topology.home(host) for host in hosts]
        self.cards = [Sender(1, [buffer_flits]) for _ in hosts]
        self.events = []
        self.events_count = 0
        self.now = 0
        self.packets = self.delivered = self.hops = self.out_of_order = 0
        self.highest = {}
        self.completion = [0] * self.motif.ranks_count

    # Events ------------------------------------------------------------------------------------

    def at(self, time, kind, index, *what):
        """The count only keeps the heap from comparing packets."""
        self.events_count += 1
        heapq.heappush(self.events, (time, kind, index, self.events_count, what))

    def run(self):
        for rank in range(self.motif.ranks_count):
            self.at(0, HOST, rank, None)
        actions = {EDGE: self.on_edge, ARRIVAL: self.on_arrival, CREDIT: self.on_credit,
                   TIMER: self.on_timer, CARD_ARRIVAL: self.on_card_arrival,
                   CARD_CREDIT: self.on_card_credit, CARD_TIMER: self.on_card_timer,
                   HOST: self.on_host}
        while self.events:
            self.now, kind, index, _, what = heapq.heappop(self.events)
            actions[kind](index, *what)
        if self.delivered != self.packets:
            raise Wedged(f'{self.packets - self.delivered} packets never arrived')
        return {'completion_ps': self.completion, 'last_ps': max(self.completion),
                'packets': self.packets, 'hops': self.hops, 'out_of_order': self.out_of_order}

    # Routers -----------------------------------------------------------------------------------

    def on_arrival(self, index, vc, packet):
        number, port = index
        router = self.routers[number]
        fifo = router.inputs[port][vc]
        fifo.append(packet)
        if len(fifo) == 1:
            self.route_head(router, port, vc)
            self.wake(router)

    def route_head(self, router, port, vc):
        packet = router.inputs[port][vc][0]
        at = At(router.number, port, vc)
        router.ways[port][vc] = self.topology.route(at, packet, router)

    def wake(self, router, earliest=0):
        """Looks at the heads at the first crossbar edge after now, not before `earliest`."""
        cycle = self.settings.crossbar_ps
        edge = max((self.now // cycle + 1) * cycle, earliest)
        if router.next_edge is None or edge < router.next_edge:
            router.next_edge = edge
            self.at(edge, EDGE, (router.number,))

    def on_edge(self, index):
        router = self.routers[index[0]]
        if router.next_edge != self.now:
            return
        router.next_edge = None
        granted = []
        for port, vc in router.order:
            if router.inputs[port][vc] and self.is_grantable(router, port, vc):
                way = router.ways[port][vc]
                flits = router.inputs[port][vc][0].flits
                busy_until = self.now + flits * self.settings.crossbar_ps
                router.input_free[port] = router.output_free[way[0]] = busy_until
                granted.append((port, vc))
        # The first granted of an edge stands last.
        if granted:
            router.order = [each for each in router.order if each not in granted] + granted[::-1]
        for port, vc in sorted(granted):
            self.carry_out(router, port, vc)
        self.wake_again(router)

    def is_grantable(self, router, port, vc):
        way_port, way_vc = router.ways[port][vc]
        return (router.input_free[port] <= self.now and router.output_free[way_port] <= self.now
                and router.rooms[way_port][way_vc] >= router.inputs[port][vc][0].flits)

    def carry_out(self, router, port, vc):
        way_port, way_vc = router.ways[port][vc]
        packet = router.inputs[port][vc].popleft()
        if router.inputs[port][vc]:
            self.route_head(router, port, vc)
        router.rooms[way_port][way_vc] -= packet.flits
        sender = router.senders[way_port]
        sender.fifos[way_vc].append(packet)
        self.arm(sender, TIMER, (router.number, way_port))
        kind, *there = router.peers[port]
        if kind == 'host':
            delay = self.settings.output_latency + self.settings.link_latency
            self.at(self.now + delay, CARD_CREDIT, (there[0],), packet.flits)
        else:
            delay = self.settings.between_routers
            self.at(self.now + delay, CREDIT, tuple(there), vc, packet.flits)

    def wake_again(self, router):
        """Leaves out edges that change nothing: before both ports of a head with room are free.

        Of a head without room the next timer that sends will remind.
        """
        times = []
        for port, vc in router.order:
            if router.inputs[port][vc]:
                way_port, way_vc = router.ways[port][vc]
                if router.rooms[way_port][way_vc] >= router.inputs[port][vc][0].flits:
                    times.append(max(router.input_free[port], router.output_free[way_port]))
        if times:
            self.wake(router, min(times))

    def on_credit(self, index, vc, flits):
        number, port = index
        sender = self.routers[number].senders[port]
        sender.credits[vc] += flits
        self.arm(sender, TIMER, index)

    def arm(self, sender, kind, index):
        if sender.state == WAITING:
            sender.state = ARMED
            self.at(self.now + self.settings.link_ps, kind, index)

    def on_timer(self, index):
        router = self.routers[index[0]]
        sender = router.senders[index[1]]
        sent = sender.take()
        if sent is None:
            sender.state = WAITING
            return
        packet, vc = sent
        router.rooms[index[1]][vc] += packet.flits
        if any(fifo for port in router.inputs for fifo in port):
            self.wake(router)
        self.hops += 1
        kind, *there = router.peers[index[1]]
        if kind == 'host':
            delay = self.settings.output_latency + self.settings.link_latency
            self.at(self.now + delay, CARD_ARRIVAL, (there[0],), packet)
        else:
            self.at(self.now + self.settings.between_routers, ARRIVAL, tuple(there), vc, packet)
        self.stay_busy(sender, packet, TIMER, index)

    def stay_busy(self, sender, packet, kind, index):
        sender.state = BUSY
        self.at(self.now + packet.flits * self.settings.link_ps, kind, index)

    # Cards and hosts ---------------------------------------------------------------------------

    def on_card_arrival(self, index, packet):
        host = index[0]
        delay = CARD_CREDIT_PS + self.settings.link_latency + self.settings.input_latency
        self.at(self.now + delay, CREDIT, self.homes[host], 0, packet.flits)
        delay = packet.flits * self.settings.link_ps if self.settings.is_tail else 0
        self.at(self.now + delay, HOST, host, packet)

    def on_card_credit(self, index, flits):
        sender = self.cards[index[0]]
        sender.credits[0] += flits
        self.arm(sender, CARD_TIMER, index)

    def on_card_timer(self, index):
        card = self.cards[index[0]]
        sent = card.take()
        if sent is None:
            card.state = WAITING
            return
        delay = self.settings.link_latency + self.settings.input_latency
        self.at(self.now + delay, ARRIVAL, self.homes[index[0]], 0, sent[0])
        self.stay_busy(card, sent[0], CARD_TIMER, index)

    def on_host(self, rank, packet):
        if packet is not None:
            self.delivered += 1
            self.completion[rank] = self.now
            highest = self.highest.get(packet.message, -1)
            self.out_of_order += packet.index < highest
            self.highest[packet.message] = max(highest, packet.index)
        for message in self.motif.messages_after(rank, packet):
            self.post(message)

    def post(self, message):
        sender = self.cards[message[0]]
        if not sender.fifos[0]:
            self.arm(sender, CARD_TIMER, (message[0],))
        for index, flits in enumerate(self.settings.flits_of_packets):
            sender.fifos[0].append(Packet(message, index, flits))
            self.packets += 1


def run(case, draw=None):
    """The result of a case; `draw(router, count)` is asked for each draw of ugal and valiant."""
    return Model(case, draw).run()


def draw_from(seed):
    """A stream for each router."""
    streams = {}

    def draw(router, count):
        stream = streams.setdefault(router, random.Random(f'{seed} {router}'))
        return stream.randrange(count)
    return draw


def main():
    parser = argparse.ArgumentParser(description='Run a case in the plain model of netsim.')
    parser.add_argument('case')
    parser.add_argument('--seed', type=int, default=1, help='of ugal and valiant')
    options = parser.parse_args()
    try:
        with open(options.case, encoding='utf-8') as file:
            case = json.load(file)
        print(json.dumps(run(case, draw_from(options.seed)), sort_keys=True))
    except (OSError, ValueError) as error:
        print(f'{options.case}: {error}', file=sys.stderr)
        return 2
    except Wedged as error:
        print(f'{options.case}: {error}', file=sys.stderr)
        return 3
    return 0


if __name__ == '__main__':
    sys.exit(main())
