"""What the oracle is made of: packets, the senders of ports and cards, routers."""
from collections import deque

WAITING, ARMED, BUSY = 'waiting', 'armed', 'busy'


class Packet:
    def __init__(self, message, index, flits):
        self.source, self.destination, self.step = message
        self.message = message
        self.index = index
        self.flits = flits
        # For routing with draws.
        self.via = self.slice = self.middle = None


class Sender:
    """An output port of a router or the card: FIFOs, the credits of the other side, a timer."""

    def __init__(self, vcs_count, credits):
        self.fifos = [deque() for _ in range(vcs_count)]
        self.credits = credits
        self.state = WAITING
        # The turn begins after the last VC sent.
        self.last_vc = vcs_count - 1

    def take(self):
        """The next packet that can go and its VC, the VCs taken in turn; or None."""
        for turn in range(1, len(self.fifos) + 1):
            vc = (self.last_vc + turn) % len(self.fifos)
            pool = vc if len(self.credits) > 1 else 0
            if self.fifos[vc] and self.fifos[vc][0].flits <= self.credits[pool]:
                self.last_vc = vc
                packet = self.fifos[vc].popleft()
                self.credits[pool] -= packet.flits
                return packet, vc
        return None


class Router:
    """Input FIFOs with the way of their heads, the crossbar, and a Sender for each port."""

    def __init__(self, number, topology, buffer_flits):
        self.number = number
        self.buffer_flits = buffer_flits
        vcs = range(topology.vcs_count)
        ports = range(topology.ports_count(number))
        self.peers = [topology.peer(number, port) for port in ports]
        self.inputs = [[deque() for _ in vcs] for _ in ports]
        self.ways = [[None for _ in vcs] for _ in ports]
        self.rooms = [[buffer_flits for _ in vcs] for _ in ports]
        self.input_free = [0 for _ in ports]
        self.output_free = [0 for _ in ports]
        self.order = [(port, vc) for port in ports for vc in vcs]
        self.next_edge = None
        self.senders = []
        for peer in self.peers:
            pools_count = 1 if peer[0] == 'host' else topology.vcs_count
            self.senders.append(Sender(topology.vcs_count, [buffer_flits] * pools_count))

    def queue(self, port, vc):
        vcs = range(len(self.rooms[port])) if self.peers[port][0] == 'host' else [vc]
        return sum(self.buffer_flits - self.rooms[port][each] for each in vcs)

    def room(self, port, vc):
        return self.rooms[port][vc]
