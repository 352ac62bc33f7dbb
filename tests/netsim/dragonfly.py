"""The dragonfly of the oracle: its wires, and routing without and with draws.

Shape h:a:n:g: h hosts a router, a routers a group, n links between each two groups, g groups. The
ports of a router are its hosts, the other routers of its group ascending, its global links. Link
i = slice (g - 1) + other of a group leads to group `other`, its own group left out of the count.

`draw(router, count)` gives a number below `count`; static routing never calls it. What ugal and
valiant keep in a packet: `slice`, the slice of the next global link, and `via`, the middle group
(inside a group: the number of the middle router) or None when it goes straight.
"""


class Dragonfly:
    def __init__(self, case, draw):
        self.hosts, self.routers, self.slices, self.groups = map(int, case['shape'].split(':'))
        self.routing = case['routing']
        self.draw = draw
        self.vcs_count = 2 if self.routing == 'static' else 3
        self.routers_count = self.routers * self.groups
        self.hosts_count = self.routers_count * self.hosts
        self.first_global_port = self.hosts + self.routers - 1
        # Who has which global link of a group: in order over its routers.
        links_count = self.slices * (self.groups - 1)
        least, left_over = divmod(links_count, self.routers)
        self.links_of = []
        for number in range(self.routers):
            first = sum(map(len, self.links_of))
            self.links_of.append(range(first, first + least + (1 if number < left_over else 0)))

    def ports_count(self, router):
        return self.first_global_port + len(self.links_of[router % self.routers])

    def home(self, host):
        return divmod(host, self.hosts)

    def local_port(self, number, other):
        return self.hosts + (other if other < number else other - 1)

    def owner(self, group, other_group, slice_number):
        """(number within the group, port) that has the link of that slice."""
        others_before = other_group if other_group < group else other_group - 1
        link = slice_number * (self.groups - 1) + others_before
        for number, links in enumerate(self.links_of):
            if link in links:
                return number, self.first_global_port + link - links[0]
        raise AssertionError('every link has an owner')

    def peer(self, router, port):
        group, number = divmod(router, self.routers)
        if port < self.hosts:
            return 'host', router * self.hosts + port
        if port < self.first_global_port:
            other = port - self.hosts
            other += 1 if other >= number else 0
            return 'router', group * self.routers + other, self.local_port(other, number)
        link = self.links_of[number][port - self.first_global_port]
        slice_number, others_before = divmod(link, self.groups - 1)
        other_group = others_before if others_before < group else others_before + 1
        number_there, port_there = self.owner(other_group, group, slice_number)
        return 'router', other_group * self.routers + number_there, port_there

    def route(self, at, packet, view):
        group, number = divmod(at.router, self.routers)
        router, host_port = self.home(packet.destination)
        vc = at.vc + (1 if at.port >= self.first_global_port else 0)
        if router == at.router:
            return host_port, vc
        destination_group, destination_number = divmod(router, self.routers)
        source_group = self.home(packet.source)[0] // self.routers
        if at.port < self.hosts:
            self.plan(at, packet, view)
        if source_group == destination_group:
            return self.route_inside(number, destination_number, packet, vc)
        if group == destination_group:
            return self.local_port(number, destination_number), vc
        if group == source_group:
            if self.hosts <= at.port and self.routing == 'ugal':
                self.compare_again(at, packet, view)
            target = destination_group if packet.via is None else packet.via
        else:
            target = destination_group
            if at.port >= self.first_global_port:
                self.choose_slice_in_the_middle(at, packet, view)
        return self.towards(group, number, (target, packet.slice)), vc

    def route_inside(self, number, destination_number, packet, vc):
        if packet.via is None:
            return self.local_port(number, destination_number), vc
        if packet.via == number:
            return self.local_port(number, destination_number), vc + 2
        return self.local_port(number, packet.via), vc

    def towards(self, group, number, link):
        """The port to the global link (other group, slice): its own or that to the owner."""
        owner, port = self.owner(group, *link)
        return port if owner == number else self.local_port(number, owner)

    def drawn_without(self, at, count, left_out):
        """One of `count` but those left out; None if none is left."""
        choices = [each for each in range(count) if each not in left_out]
        return choices[self.draw(at.router, len(choices))] if choices else None

    def least(self, at, choices):
        """The second part of the choice whose first part is least; equals are drawn."""
        least = min(weight for weight, _ in choices)
        equals = [choice for weight, choice in choices if weight == least]
        return equals[self.draw(at.router, len(equals)) if len(equals) > 1 else 0]

    def plan(self, at, packet, view):
        """At the first router, unless it is the last one too."""
        packet.via, packet.slice = None, packet.source % self.slices
        if self.routing == 'static':
            return
        group, number = divmod(at.router, self.routers)
        router = self.home(packet.destination)[0]
        destination_group, destination_number = divmod(router, self.routers)
        if group == destination_group:
            middle = self.drawn_without(at, self.routers, (number, destination_number))
            if middle is not None:
                straight = view.queue(self.local_port(number, destination_number), 0)
                detour = 2 * view.queue(self.local_port(number, middle), 0) + 50
                if self.routing == 'valiant' or straight > detour:
                    packet.via = middle
            return
        middle = self.drawn_without(at, self.groups, (group, destination_group))
        choices = []
        for each in range(self.slices):
            if self.routing == 'ugal' or middle is None:
                port = self.towards(group, number, (destination_group, each))
                choices.append((view.queue(port, 0), (None, each)))
            if middle is not None:
                port = self.towards(group, number, (middle, each))
                choices.append((2 * view.queue(port, 0) + 50, (middle, each)))
        packet.via, packet.slice = self.least(at, choices)
        packet.middle = middle

    def compare_again(self, at, packet, view):
        """At the second router of the source group, if both links of its slice are its own."""
        if packet.middle is None:
            return
        group, number = divmod(at.router, self.routers)
        destination_group = self.home(packet.destination)[0] // self.routers
        lengths = []
        for target in (destination_group, packet.middle):
            owner, port = self.owner(group, target, packet.slice)
            if owner != number:
                return
            lengths.append(view.queue(port, 0))
        straight, detour = lengths
        packet.via = None if straight <= 2 * detour + 50 else packet.middle

    def choose_slice_in_the_middle(self, at, packet, view):
        group, number = divmod(at.router, self.routers)
        destination_group = self.home(packet.destination)[0] // self.routers
        choices = []
        for each in range(self.slices):
            port = self.towards(group, number, (destination_group, each))
            weight = 1 if port >= self.first_global_port else 2
            choices.append((weight * view.queue(port, 1), each))
        packet.slice = self.least(at, choices)
