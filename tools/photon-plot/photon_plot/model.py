"""What photon-plot draws: rows of photon-perf as panels of series of points.

A panel has one unit. Its series are lines over the message size where any of them has two sizes or
more, else bars. Nothing here needs more than Python's standard library, and no figure is changed:
a point holds the very numbers of its row.
"""
import json
import sys
from dataclasses import dataclass, field
from pathlib import Path


class Problem(Exception):
    """A sentence for the user."""


@dataclass(frozen=True)
class Unit:
    name: str
    symbol: str
    takes_prefix: bool = False  # millions are M; 7 M ns nobody says


LATENCY = Unit('latency', 'ns')
BANDWIDTH = Unit('bandwidth', 'MB/s')
RATE = Unit('rate', '1/s', True)
PROCESSOR = Unit('processor time', 'ns/s', True)
MEMORY = Unit('memory', 'bytes')
ASLEEP = ('waiting', 'task-waiting')  # questions about processor time


@dataclass
class Point:
    size_bytes: int
    figure: float
    p99: float | None
    limit: float | None
    limit_name: str | None
    mode: str
    is_steady: bool


@dataclass
class Series:
    label: str
    points: list = field(default_factory=list)

    def limits(self):
        """The points that have a limit."""
        return [point for point in self.points if point.limit is not None]

    def limit_names(self):
        """Each once, in the order of sizes: a limit changes its form where sizes grow."""
        return list(dict.fromkeys(point.limit_name or 'limit' for point in self.limits()))


@dataclass
class Panel:
    unit: Unit
    series: list = field(default_factory=list)

    def points(self):
        return [point for series in self.series for point in series.points]

    def sizes(self):
        return sorted({point.size_bytes for point in self.points()})

    def has_lines(self):
        """Over sizes; bytes of a peer are a figure, no size of a message."""
        return self.unit != MEMORY and any(
            len({point.size_bytes for point in series.points}) > 1 for series in self.series)

    def has_ratio(self):
        return any(series.limits() for series in self.series)

    def modes(self):
        return list(dict.fromkeys(point.mode for point in self.points()))


@dataclass
class Run:
    """The rows of one file."""
    name: str
    rows: list

    def questions(self):
        return list(dict.fromkeys(row['question'] for row in self.rows))


def figure_of(row):
    """The unit of a row and the figure that its limit is the limit of (docs/benchmarks.md)."""
    if row['latency_ns'] is not None:
        return LATENCY, row['latency_ns']['p50']
    if row['bandwidth_MBps'] is not None:
        return BANDWIDTH, row['bandwidth_MBps']
    if row['rate_per_s'] is not None:
        return (PROCESSOR if row['question'] in ASLEEP else RATE), row['rate_per_s']
    return MEMORY, row['size_bytes']


def point_of(row):
    # A row of `limits` is its own limit: a second line on the first would say nothing.
    is_limit = row['question'] == 'limits'
    latency = row['latency_ns']
    machine = row.get('machine')
    return Point(size_bytes=row['size_bytes'],
                 figure=figure_of(row)[1],
                 p99=latency['p99'] if latency else None,
                 limit=None if is_limit else row['limit'],
                 limit_name=None if is_limit else row.get('limit_name'),
                 mode=row['mode'] or row['question'],
                 is_steady=machine['steady'] if machine else True)


def read_json(name):
    """What a file holds, or standard input if the name is '-'; None if that is no JSON."""
    try:
        text = sys.stdin.read() if name == '-' else Path(name).read_text(encoding='utf-8')
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, 'strerror', None) or 'it is no text'
        raise Problem(f'cannot read {shown_name(name)}: {reason}') from None
    try:
        return json.loads(text)
    except ValueError:
        return None


def shown_name(name):
    return 'standard input' if name == '-' else name


def load(name):
    """The run in a file of photon-perf --json, or on standard input if the name is '-'."""
    return run_of(name, read_json(name))


def run_of(name, rows):
    """The same of JSON that was read."""
    try:
        run = Run(Path(name).stem, rows)
        for row in rows:
            figure_of(row)
            point_of(row)
    except (ValueError, TypeError, KeyError):
        raise Problem(f'{shown_name(name)} holds no rows of photon-perf; write them with '
                      'photon-perf QUESTION --json FILE') from None
    if not rows:
        raise Problem(f'{shown_name(name)} holds no rows')
    return run


def series_label(run, question, runs):
    """What tells this series from the others: its file, its question, or both."""
    words = [run.name] if len(runs) > 1 else []
    if len({question for each in runs for question in each.questions()}) > 1 or not words:
        words.append(question)
    return ': '.join(words)


def split_by_mode(label, points):
    """One series, whose mode may change on the way; one a mode where modes share a size."""
    places = [(point.size_bytes, point.mode) for point in points]
    modes = list(dict.fromkeys(point.mode for point in points))
    shares_size = len({size for size, mode in places}) < len(set(places))
    if not shares_size or len({size for size, mode in places}) == 1:
        return [Series(label, points)]
    return [Series(mode if ': ' not in label else f'{label}, {mode}',
                   [point for point in points if point.mode == mode]) for mode in modes]


def panels_of(runs):
    """The panels, in the order in which their units first appear."""
    panels = {}
    for run in runs:
        for question in run.questions():
            grouped = {}
            for row in run.rows:
                if row['question'] == question:
                    grouped.setdefault(figure_of(row)[0], []).append(point_of(row))
            for unit, points in grouped.items():
                points.sort(key=lambda point: 0 if unit == MEMORY else point.size_bytes)
                panel = panels.setdefault(unit, Panel(unit))
                panel.series += split_by_mode(series_label(run, question, runs), points)
    return list(panels.values())


def unique(rows, key):
    return list(dict.fromkeys(str(row[key]) for row in rows if row.get(key) is not None))


def state_text(run):
    """The state of the machine over all rows, e.g. 'cores near (ping-pong 61 to 64 ns)'."""
    machines = [row['machine'] for row in run.rows if row.get('machine')]
    if not machines:
        return ''
    names = list(dict.fromkeys(machine['state'] for machine in machines))
    pings = [machine[key] for machine in machines for key in ('ping_before_ns', 'ping_after_ns')]
    spoilt = sum(not machine['steady'] for machine in machines)
    text = f"cores {' and '.join(names)} (ping-pong {min(pings):.0f} to {max(pings):.0f} ns"
    return text + (f', {spoilt} of {len(machines)} rows unsteady)' if spoilt else ')')


def configuration_text(run):
    facts = run.rows[0].get('run') or {}
    words = [f'{key} ' + ' and '.join(unique(run.rows, key))
             for key in ('transport', 'memory') if unique(run.rows, key)]
    if 'ranks' in facts:
        words.append(f"{facts['ranks']} ranks")
    # Of questions about processor time it counts milliseconds, of memory peers.
    counts = [row['iterations'] for row in run.rows
              if row['question'] not in (*ASLEEP, 'memory') and figure_of(row)[0] != MEMORY]
    if counts:
        words.append(f'{min(counts):,} or more iterations a row')
    return ', '.join(words)


def machine_text(run):
    facts = run.rows[0].get('run') or {}
    words = [facts.get('processor'), facts.get('system')]
    if 'cores' in facts:
        words.insert(1, f"{facts['cores']} cores")
    if 'version' in facts:
        words.append(f"Photon {facts['version']}")
    return ', '.join(word for word in words if word)


def date_text(run):
    date = (run.rows[0].get('run') or {}).get('date', '')
    return date[:16].replace('T', ' ') + ' UTC' if date else ''


def heading(runs):
    """The title, and the lines below it: configuration, machine and its state, date."""
    title = ', '.join(dict.fromkeys(question for run in runs for question in run.questions()))
    lines = []
    if len(runs) == 1:
        lines = [configuration_text(runs[0]), machine_text(runs[0]),
                 ', '.join(word for word in (state_text(runs[0]), date_text(runs[0])) if word)]
    else:
        lines = list(dict.fromkeys(machine_text(run) for run in runs))
        for run in runs:
            words = [configuration_text(run), state_text(run), date_text(run)]
            lines.append(f"{run.name}: " + ', '.join(word for word in words if word))
    return title, [line for line in lines if line]
