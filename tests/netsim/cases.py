#!/usr/bin/env python3
"""Draws random small cases for oracle.py, which describes their format.

    cases.py SEED COUNT --into DIR      writes SEED-0.json, SEED-1.json, ... into DIR

The same seed and number give the same case. Every case is valid: ranks fit the hosts, packets the
buffers, and the routing has no draws. A case holds so few packets that the oracle takes under a
second on average.
"""
import argparse
import json
import random
import sys
from math import prod
from pathlib import Path

MAX_PACKETS = 2500
MAX_HOSTS = 100


def router(draw):
    hosts = draw.randint(2, 9)
    return {'topology': 'router', 'shape': str(hosts), 'routing': 'static'}, hosts


def grid(draw, sizes, hosts_per_router):
    return {'shape': 'x'.join(map(str, sizes)), 'hosts_per_router': hosts_per_router}, \
        prod(sizes) * hosts_per_router


def torus(draw):
    sizes = [draw.randint(2, 5) for _ in range(draw.randint(1, 3))]
    keys, hosts = grid(draw, sizes, draw.randint(1, 3))
    return {'topology': 'torus', 'routing': 'static', **keys}, hosts


def hyperx(draw):
    sizes = [draw.randint(2, 5) for _ in range(draw.randint(1, 3))]
    keys, hosts = grid(draw, sizes, draw.randint(1, 4))
    return {'topology': 'hyperx', 'routing': draw.choice(('static', 'adaptive', 'adaptive')),
            'width': draw.randint(1, 3), **keys}, hosts


def fattree(draw):
    levels_count = draw.randint(2, 3)
    downs = [draw.randint(2, 5) for _ in range(levels_count)]
    levels = [f'{down},{draw.randint(1, 4)}' for down in downs[:-1]] + [str(downs[-1])]
    return {'topology': 'fattree', 'shape': ':'.join(levels),
            'routing': draw.choice(('static', 'adaptive', 'adaptive'))}, prod(downs)


def dragonfly(draw):
    hosts, routers = draw.randint(1, 3), draw.randint(2, 5)
    links, groups = draw.randint(1, 3), draw.randint(2, 6)
    return {'topology': 'dragonfly', 'shape': f'{hosts}:{routers}:{links}:{groups}',
            'routing': 'static'}, hosts * routers * groups


def sizes_and_times(draw):
    """Flits, packets, buffers, rates and latencies; often tight, often with odd remainders."""
    flit_bytes = draw.choice((8, 16, 16, 32, 64))
    link = draw.choice((4, 12.5, 12.5, 25, 50, 100, 250, round(draw.uniform(3, 60), 2)))
    speed_up = draw.choice((1, 1.5, 1.5, 2, round(draw.uniform(1, 3), 2)))
    packet_bytes = flit_bytes * draw.randint(1, 32) - draw.choice((0, 0, 0, draw.randrange(8)))
    room = draw.choice((1, 1, 2, 4, round(draw.uniform(1, 9), 2)))

    def latency(least):
        return draw.choice((max(least, draw.randrange(100)), max(least, draw.randrange(100)),
                            round(draw.uniform(least, 80), 3)))
    return {'flit_bytes': flit_bytes, 'link_GBps': link, 'crossbar_GBps': round(link * speed_up, 4),
            'packet_bytes': packet_bytes, 'buffer_bytes': int(packet_bytes * room),
            'link_ns': latency(1), 'input_ns': latency(0), 'output_ns': latency(0),
            'delivery': draw.choice(('head', 'head', 'tail'))}


def motif(draw, hosts):
    """(keys, messages of a step)."""
    name = draw.choice(('exchange', 'exchange', 'shift', 'incast', 'alltoall'))
    ranks = hosts if draw.random() < 0.5 else draw.randint(2, hosts)
    if name == 'alltoall':
        ranks = min(ranks, 16)
    if name == 'exchange':
        sizes = [1]
        while prod(sizes) < 2:
            sizes = [draw.randint(1, 5) for _ in range(draw.randint(1, 3))]
            if prod(sizes) > hosts:
                sizes = [ranks]
        keys = {'ranks': 'x'.join(map(str, sizes))}
        messages = sum(2 * (size - 1) * prod(sizes) // size for size in sizes)
    else:
        keys = {'ranks': str(ranks)}
        messages = ranks * (ranks - 1) if name == 'alltoall' else ranks
    if name == 'shift':
        keys['offset'] = draw.randint(1, ranks - 1)
    if name == 'incast':
        keys['target'] = draw.randrange(ranks)
    return {'motif': name, **keys}, messages


def case_of(seed, number):
    draw = random.Random(f'{seed} {number}')
    hosts = MAX_HOSTS + 1
    while hosts > MAX_HOSTS:
        shape = draw.choice((router, torus, torus, hyperx, hyperx, fattree, fattree, dragonfly,
                             dragonfly))
        network, hosts = shape(draw)
    sizes = sizes_and_times(draw)
    traffic, messages = motif(draw, hosts)
    most = max(1, MAX_PACKETS // messages)
    steps = draw.randint(1, min(3, most))
    packets = draw.randint(1, max(1, min(24, most // steps)))
    rest = draw.choice((0, draw.randrange(sizes['packet_bytes'])))
    return {**network, **sizes, **traffic, 'steps': steps,
            'bytes': packets * sizes['packet_bytes'] - rest}


def write(seed, count, folder):
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number in range(count):
        paths.append(folder / f'{seed}-{number}.json')
        paths[-1].write_text(json.dumps(case_of(seed, number), indent=1, sort_keys=True) + '\n')
    return paths


def main():
    parser = argparse.ArgumentParser(description='Draw random small cases for oracle.py.')
    parser.add_argument('seed', type=int)
    parser.add_argument('count', type=int)
    parser.add_argument('--into', type=Path, required=True, metavar='DIR')
    options = parser.parse_args()
    write(options.seed, options.count, options.into)


if __name__ == '__main__':
    sys.exit(main())
