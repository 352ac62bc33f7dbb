"""What a case must hold, and its numbers in picoseconds and flits."""
from fractions import Fraction
from math import prod

COMMON = ('topology', 'shape', 'routing', 'link_GBps', 'crossbar_GBps', 'flit_bytes',
          'packet_bytes', 'buffer_bytes', 'link_ns', 'input_ns', 'output_ns', 'delivery', 'motif',
          'ranks', 'bytes', 'steps')
# The keys of some topologies or motifs alone.
SPECIAL = {'hosts_per_router': ('torus', 'hyperx'), 'width': ('hyperx',), 'offset': ('shift',),
           'target': ('incast',)}
ROUTINGS = {'router': ('static',), 'torus': ('static',), 'hyperx': ('static', 'adaptive'),
            'fattree': ('static', 'adaptive'), 'dragonfly': ('static', 'ugal', 'valiant')}
MOTIFS = ('exchange', 'shift', 'incast', 'alltoall')


def rounded(fraction):
    """To the nearest integer, halves up."""
    return (fraction + Fraction(1, 2)).__floor__()


def exact(number):
    """18.75 of the file is 18.75 and not the double next to it."""
    return Fraction(str(number))


def require(condition, sentence):
    if not condition:
        raise ValueError(sentence)


def checked(case):
    """The case itself; ValueError if it is not one."""
    for key in case:
        require(key in COMMON or key in SPECIAL, f'the key {key} is unknown')
    for key in COMMON:
        require(key in case, f'the key {key} is missing')
    for key, owners in SPECIAL.items():
        require(key in case or not {case['topology'], case['motif']} & set(owners),
                f'the key {key} is missing')
    require(case['routing'] in ROUTINGS.get(case['topology'], ()), 'topology or routing is unknown')
    require(case['motif'] in MOTIFS, 'the motif is unknown')
    require(case['delivery'] in ('head', 'tail'), 'the delivery is unknown')
    require(exact(case['crossbar_GBps']) >= exact(case['link_GBps']),
            'the crossbar is slower than the link')
    require(case['packet_bytes'] <= case['buffer_bytes'], 'a packet is larger than a buffer')
    require(case['bytes'] >= 1 and case['steps'] >= 1, 'bytes and steps are at least 1')
    ranks = prod(int(size) for size in case['ranks'].split('x'))
    if case['motif'] == 'shift':
        require(0 < case['offset'] < ranks, 'the offset is between 1 and the ranks less 1')
    if case['motif'] == 'incast':
        require(0 <= case['target'] < ranks, 'the target is a rank')
    return case


class Settings:
    def __init__(self, case):
        flit_bytes = case['flit_bytes']
        self.link_ps = rounded(1000 * flit_bytes / exact(case['link_GBps']))
        self.crossbar_ps = rounded(1000 * flit_bytes / exact(case['crossbar_GBps']))
        self.link_latency = rounded(1000 * exact(case['link_ns']))
        self.input_latency = rounded(1000 * exact(case['input_ns']))
        self.output_latency = rounded(1000 * exact(case['output_ns']))
        # From router to router, for heads of packets as for credits.
        self.between_routers = self.output_latency + self.link_latency + self.input_latency
        self.is_tail = case['delivery'] == 'tail'
        self.buffer_flits = -(-case['buffer_bytes'] // flit_bytes)
        full, rest = divmod(case['bytes'], case['packet_bytes'])
        packets = [case['packet_bytes']] * full + ([rest] if rest else [])
        self.flits_of_packets = [-(-each // flit_bytes) for each in packets]
