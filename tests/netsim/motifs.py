"""What each rank of a case sends, and when it goes on.

A message is (source, destination, step). A rank posts all messages of a step at once, in order,
and goes on to the next step when every message of this step to it has come in whole.
"""
from math import prod


def exchange(case, sizes, rank):
    sizes = sizes + [1] * (3 - len(sizes))
    strides = [1, sizes[0], sizes[0] * sizes[1]]
    peers = []
    for stride, size in zip(strides, sizes):
        coordinate = rank // stride % size
        if coordinate > 0:
            peers.append(rank - stride)
        if coordinate < size - 1:
            peers.append(rank + stride)
    return peers


def shift(case, sizes, rank):
    return [(rank + case['offset']) % prod(sizes)]


def incast(case, sizes, rank):
    return [] if rank == case['target'] else [case['target']]


def alltoall(case, sizes, rank):
    count = prod(sizes)
    return [(rank + distance) % count for distance in range(1, count)]


class Motif:
    def __init__(self, case, packets_per_message):
        sizes = [int(size) for size in case['ranks'].split('x')]
        peers_of = {'exchange': exchange, 'shift': shift, 'incast': incast,
                    'alltoall': alltoall}[case['motif']]
        self.ranks_count = prod(sizes)
        self.steps_count = case['steps']
        self.peers = [peers_of(case, sizes, rank) for rank in range(self.ranks_count)]
        self.expected = [0] * self.ranks_count
        for peers in self.peers:
            for peer in peers:
                self.expected[peer] += packets_per_message
        self.next_step = [0] * self.ranks_count
        # Packets that have come, by rank and step.
        self.came = [[0] * self.steps_count for _ in range(self.ranks_count)]

    def messages_after(self, rank, packet):
        """The messages that a rank posts now that `packet`, or nothing at the start, has come."""
        if packet is not None:
            self.came[rank][packet.step] += 1
        messages = []
        while self.may_go_on(rank):
            step = self.next_step[rank]
            self.next_step[rank] = step + 1
            messages += [(rank, peer, step) for peer in self.peers[rank]]
        return messages

    def may_go_on(self, rank):
        step = self.next_step[rank]
        if step == self.steps_count:
            return False
        return step == 0 or self.came[rank][step - 1] == self.expected[rank]
