"""What photon-plot draws of photon-netsim: speed-ups of rvma over rdma-usual, and the ladder.

A place is a motif, a network, a routing and a rate, where all settings but protocol and order are
equal; its times are those of the cards there. Nothing here needs more than Python's standard
library. A speed-up is the ratio of two files' `last_ps`; what both sides share is in the heading.
"""
from dataclasses import dataclass, field

from photon_plot.model import Problem, shown_name

FORMATS = ('photon-netsim result', 'photon-netsim ladder')
VERSION = 1
USUAL = 'rdma-usual'
RVMA = 'rvma'
RUNGS = (USUAL, 'rdma-equal', 'rdma-put-ack', 'rdma-put-behind', 'rdma-put-imm', RVMA)
EFFECTS = {'rdma-equal': 'copies, handshake', 'rdma-put-ack': 'addresses\nknown before',
           'rdma-put-behind': 'fence', 'rdma-put-imm': 'fence', RVMA: 'notification,\nlookup'}
ORDER = ('rdma-put,\nstatic', 'rdma-put, held,\nadaptive', 'rvma,\nadaptive')
SIDES = ('nic.protocol', 'nic.order', 'nic.addresses')
STOOD_FOR = ('rdma-equal', 'rdma-put-imm')
FREE = ('nic.cq_ns', 'nic.lookup_ns')
PLACES = ('network.topology', 'network.shape', 'network.hosts_per_router', 'network.width',
          'network.routing', 'network.link_GBps')


@dataclass(frozen=True)
class Result:
    settings: tuple  # of (key, value)
    last_ps: int

    def value(self, key):
        return dict(self.settings).get(key)


@dataclass
class Place:
    form: str
    network: str
    routing: str
    gbps: float
    times: dict = field(default_factory=dict)  # card: picoseconds

    def speed_up(self):
        """Of rvma over rdma-usual, or None where one of them is missing."""
        if USUAL not in self.times or RVMA not in self.times:
            return None
        return self.times[USUAL] / self.times[RVMA]


def is_netsim(value):
    return isinstance(value, dict) and value.get('format') in FORMATS


def results_of(name, value):
    """The results in a file's JSON: one, or those of a ladder's rungs."""
    try:
        if value['version'] != VERSION:
            raise Problem(f"{name} is of version {value['version']}; this photon-plot reads "
                          f'version {VERSION}')
        cells = [value]
        if value['format'] == 'photon-netsim ladder':
            cells = [rung for ladder in value['ladders'] for rung in ladder['rungs']]
        return [Result(tuple(cell['settings'].items()), int(cell['last_ps'])) for cell in cells]
    except (KeyError, TypeError, ValueError, AttributeError):
        raise Problem(f'{name} holds no whole result of photon-netsim') from None


def results_in(files):
    """Of (name, JSON) of each file; all have to be photon-netsim's."""
    results = []
    for name, value in files:
        if not is_netsim(value):
            raise Problem(f'{shown_name(name)} holds no result of photon-netsim, as others do')
        results += results_of(shown_name(name), value)
    return unique(results)


def unique(values):
    return list(dict.fromkeys(values))


def card_of(result):
    protocol = result.value('nic.protocol')
    is_asking = protocol.startswith('rdma-put') and result.value('nic.addresses') == 'asked'
    return (protocol + (', held' if result.value('nic.order') == 'hold' else '') +
            (', asking' if is_asking else ''))


def form_settings(result):
    return tuple((key, value) for key, value in result.settings
                 if key.startswith('motif.') or key == 'run.ranks_per_node'
                 or key == 'run.iterations')


def form_words(results):
    """The words of each form: the motif, and what tells it from others of the same motif."""
    forms = unique(form_settings(result) for result in results)
    words = {}
    for form in forms:
        alike = [dict(other) for other in forms
                 if dict(other)['motif.name'] == dict(form)['motif.name']]
        keys = [key for key in alike[0] if len({str(other[key]) for other in alike}) > 1]
        # A grid of ranks only stands there if nothing else tells two forms apart.
        rest = [key for key in keys if key != 'motif.ranks']
        if len({tuple(str(other[key]) for key in rest) for other in alike}) == len(alike):
            keys = rest
        words[form] = ', '.join([dict(form)['motif.name'],
                                 *(f"{key.split('.')[1]} {dict(form)[key]}" for key in keys)])
    return words


def network_words(result, results):
    """The topology, with its shape where there are several."""
    topology = result.value('network.topology')
    shapes = {other.value('network.shape') for other in results
              if other.value('network.topology') == topology}
    return topology + (f" {result.value('network.shape')}" if len(shapes) > 1 else '')


def places_of(results):
    """The places, in the order of the results; settings that nothing tells apart are a problem."""
    words = form_words(results)
    places = {}
    for result in results:
        others = tuple(pair for pair in result.settings if pair[0] not in SIDES)
        place = places.setdefault(others, Place(words[form_settings(result)],
                                                network_words(result, results),
                                                result.value('network.routing'),
                                                result.value('network.link_GBps') * 8))
        place.times[card_of(result)] = result.last_ps
    for others, place in places.items():
        # `paper` runs rvma for cards that then do the same at the same times.
        if RVMA in place.times and all(dict(others)[key] == 0 for key in FREE):
            for card in STOOD_FOR:
                place.times.setdefault(card, place.times[RVMA])
    seen = {}
    for others, place in places.items():
        label = (place.form, place.network, place.routing, place.gbps)
        if label in seen:
            keys = [key for key, value in others if dict(seen[label])[key] != value]
            raise Problem(f"results differ in {', '.join(keys)}: draw one value of it at a time")
        seen[label] = others
    return sorted(places.values(), key=lambda place: place.gbps)


def forms_of(places):
    """(form, its places), in the order of names."""
    return [(form, [place for place in places if place.form == form])
            for form in sorted({place.form for place in places})]


def groups_of(places):
    """Networks with their routings, which stand together in a picture."""
    return sorted({(place.network, place.routing) for place in places},
                  key=lambda group: (group[0], group[1] != 'static', group[1]))


def timed_groups_of(places):
    """The same, a card at a time."""
    return [(*group, card) for group in groups_of(places)
            for card in unique(card for place in places
                               if (place.network, place.routing) == group
                               for card in place.times)]


def rates_of(places):
    return sorted({place.gbps for place in places})


def shares_of(places):
    """Of each place with a whole ladder: the times of its rungs over that of rdma-usual."""
    return [[place.times[rung] / place.times[USUAL] for rung in RUNGS]
            for place in places if all(rung in place.times for rung in RUNGS)]


def order_shares_of(places):
    """The same of the ladder of order, whose first rung is at the static place beside."""
    shares = []
    for place in places:
        beside = [other for other in places if other.routing == 'static'
                  and (other.form, other.network, other.gbps) ==
                  (place.form, place.network, place.gbps)]
        if place.routing == 'static' or not beside or 'rdma-put' not in beside[0].times:
            continue
        first = beside[0].times['rdma-put']
        if 'rdma-put, held' in place.times and RVMA in place.times:
            shares.append([1.0, place.times['rdma-put, held'] / first, place.times[RVMA] / first])
    return shares


def mean_of(shares):
    """Of each rung, over the places."""
    return [sum(column) / len(column) for column in zip(*shares)]


def heading(results):
    """The title, and all settings that the results share."""
    shared = [(key, value) for key, value in results[0].settings
              if key not in PLACES + SIDES and not key.startswith('motif.')
              and all(other.value(key) == value for other in results)]
    cards = ', '.join(unique(card_of(result) for result in results))
    ranks = ' and '.join(unique(str(result.value('motif.ranks')) for result in results))
    shapes = ', '.join(unique(f"{result.value('network.topology')} {result.value('network.shape')}"
                              for result in results))
    return 'photon-netsim: when the last rank is done', [
        f"{len(results)} result{'s' if len(results) > 1 else ''}; the sides of a speed-up differ "
        f'in nic.protocol alone. Cards: {cards}.',
        f'Ranks {ranks} on {shapes}.',
        'All have ' + ', '.join(f'{key} {value}' for key, value in shared) + '.']
