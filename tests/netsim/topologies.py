"""The five topologies of the oracle: who is wired to whom, and where a packet goes next.

A topology numbers its hosts, its routers and the ports of each router, says what is at the other
end of a port, and routes a packet that has become the head of an input FIFO. All of them offer

    hosts_count, routers_count, vcs_count
    ports_count(router)        ports of this router, wired or not
    home(host)                 (router, port) of a host
    peer(router, port)         ('host', host), ('router', router, port) or None
    route(at, packet, view)    (port, vc) where `packet` leaves the router

`at` is an At: the router, the port and the VC that the packet has arrived on. `view` tells of the
router's own output FIFOs at this moment: `view.queue(port, vc)` is the flits in one,
`view.room(port, vc)` the flits that still fit, `view.buffer_flits` its size.
"""
from collections import namedtuple
from math import prod

from dragonfly import Dragonfly

At = namedtuple('At', 'router port vc')


def coordinates_of(number, sizes):
    """The first coordinate runs fastest."""
    coordinates = []
    for size in sizes:
        coordinates.append(number % size)
        number //= size
    return coordinates


def number_of(coordinates, sizes):
    number = 0
    for coordinate, size in zip(reversed(coordinates), reversed(sizes)):
        number = number * size + coordinate
    return number


class Router:
    """One router; port i is host i."""
    vcs_count = 1
    routers_count = 1

    def __init__(self, case):
        self.hosts_count = int(case['shape'])

    def ports_count(self, router):
        return self.hosts_count

    def home(self, host):
        return 0, host

    def peer(self, router, port):
        return 'host', port

    def route(self, at, packet, view):
        return packet.destination, 0


class Grid:
    """What torus and hyperx share: routers at coordinates, the hosts behind the other ports."""
    vcs_count = 2

    def __init__(self, case):
        self.sizes = [int(size) for size in case['shape'].split('x')]
        self.hosts_per_router = case['hosts_per_router']
        self.routers_count = prod(self.sizes)
        self.hosts_count = self.routers_count * self.hosts_per_router

    def ports_count(self, router):
        return self.first_host_port + self.hosts_per_router

    def home(self, host):
        router, port = divmod(host, self.hosts_per_router)
        return router, self.first_host_port + port

    def host_at(self, router, port):
        return 'host', router * self.hosts_per_router + port - self.first_host_port

    def unaligned(self, router, destination_router):
        """The lowest dimension in which the two differ, and the coordinates of both in it."""
        here = coordinates_of(router, self.sizes)
        there = coordinates_of(destination_router, self.sizes)
        return next((dimension, here[dimension], there[dimension])
                    for dimension in range(len(self.sizes)) if here[dimension] != there[dimension])


class Torus(Grid):
    def __init__(self, case):
        super().__init__(case)
        self.first_host_port = 2 * len(self.sizes)

    def peer(self, router, port):
        if port >= self.first_host_port:
            return self.host_at(router, port)
        dimension, is_minus = divmod(port, 2)
        there = coordinates_of(router, self.sizes)
        there[dimension] = (there[dimension] + (-1 if is_minus else 1)) % self.sizes[dimension]
        return 'router', number_of(there, self.sizes), port ^ 1

    def route(self, at, packet, view):
        router, port = self.home(packet.destination)
        if router == at.router:
            return port, at.vc
        dimension, here, there = self.unaligned(at.router, router)
        size = self.sizes[dimension]
        steps_plus = (there - here) % size
        leaving = 2 * dimension + (0 if steps_plus <= size - steps_plus else 1)
        if at.port >= self.first_host_port:
            return leaving, at.vc
        if here == 0:
            return leaving, at.vc ^ 1
        return leaving, at.vc if at.port // 2 == dimension else 0


class HyperX(Grid):
    def __init__(self, case):
        super().__init__(case)
        self.width = case['width']
        self.is_adaptive = case['routing'] == 'adaptive'
        self.first_ports = []
        self.first_host_port = 0
        for size in self.sizes:
            self.first_ports.append(self.first_host_port)
            self.first_host_port += (size - 1) * self.width

    def first_link(self, dimension, here, there):
        """The first of the ports from one coordinate of a dimension to another one."""
        others_before = there if there < here else there - 1
        return self.first_ports[dimension] + others_before * self.width

    def peer(self, router, port):
        if port >= self.first_host_port:
            return self.host_at(router, port)
        dimension = max(d for d, first in enumerate(self.first_ports)
                        if first <= port and self.sizes[d] > 1)
        others_before, link = divmod(port - self.first_ports[dimension], self.width)
        there = coordinates_of(router, self.sizes)
        here = there[dimension]
        there[dimension] = others_before if others_before < here else others_before + 1
        port_there = self.first_link(dimension, there[dimension], here) + link
        return 'router', number_of(there, self.sizes), port_there

    def route(self, at, packet, view):
        router, port = self.home(packet.destination)
        if router == at.router:
            return port, at.vc
        dimension, here, there = self.unaligned(at.router, router)
        first = self.first_link(dimension, here, there)
        if not self.is_adaptive:
            return first, 0
        straight = range(first, first + self.width)
        if at.vc == 1:
            return min((view.queue(port, 1), port) for port in straight)[1], 0
        first_of_all = self.first_ports[dimension]
        choices = []
        for port in range(first_of_all, first_of_all + (self.sizes[dimension] - 1) * self.width):
            if port in straight:
                choices.append((view.queue(port, 0), port, 0))
            else:
                choices.append((2 * view.queue(port, 1) + 1, port, 1))
        return min(choices)[1:]


class FatTree:
    """Routers are numbered from the leaves up, group by group within a level."""
    vcs_count = 1

    def __init__(self, case):
        levels = [part.split(',') for part in case['shape'].split(':')]
        self.downs = [int(level[0]) for level in levels]
        self.ups = [int(level[1]) for level in levels[:-1]] + [0]
        self.levels_count = len(levels)
        self.hosts_count = prod(self.downs)
        self.is_adaptive = case['routing'] == 'adaptive'
        # Routers of a group, hosts below a down port and the first router, of each level.
        self.group_sizes = [prod(self.ups[:level]) for level in range(self.levels_count)]
        self.hosts_below = [prod(self.downs[:level]) for level in range(self.levels_count)]
        self.firsts = [0]
        for level in range(self.levels_count):
            groups_count = prod(self.downs[level + 1:])
            self.firsts.append(self.firsts[-1] + groups_count * self.group_sizes[level])
        self.routers_count = self.firsts[-1]

    def place(self, router):
        """(level, group, number within the group)."""
        level = max(k for k in range(self.levels_count) if self.firsts[k] <= router)
        return level, *divmod(router - self.firsts[level], self.group_sizes[level])

    def ports_count(self, router):
        level = self.place(router)[0]
        return self.downs[level] + self.ups[level]

    def home(self, host):
        return divmod(host, self.downs[0])

    def peer(self, router, port):
        level, group, number = self.place(router)
        down = self.downs[level]
        if port >= down:
            parent_group, port_there = divmod(group, self.downs[level + 1])
            number_there = (port - down) * self.group_sizes[level] + number
            there = parent_group * self.group_sizes[level + 1] + number_there
            return 'router', self.firsts[level + 1] + there, port_there
        if level == 0:
            return 'host', router * down + port
        up, number_there = divmod(number, self.group_sizes[level - 1])
        there = (group * down + port) * self.group_sizes[level - 1] + number_there
        return 'router', self.firsts[level - 1] + there, self.downs[level - 1] + up

    def route(self, at, packet, view):
        level, group, _ = self.place(at.router)
        down, up = self.downs[level], self.ups[level]
        branch = packet.destination // self.hosts_below[level]
        if branch // down == group:
            return branch % down, 0
        usual = down + branch % up
        if not self.is_adaptive or 2 * view.room(usual, 0) >= view.buffer_flits:
            return usual, 0
        ports = [usual, *range(down, down + up)]
        return max(ports, key=lambda port: view.room(port, 0)), 0


def topology_of(case, draw):
    kinds = {'router': Router, 'torus': Torus, 'hyperx': HyperX, 'fattree': FatTree}
    if case['topology'] == 'dragonfly':
        return Dragonfly(case, draw)
    return kinds[case['topology']](case)
