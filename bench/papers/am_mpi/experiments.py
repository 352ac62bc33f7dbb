"""The experiments of Zhao and others' paper on active messages in MPI (2013): what is run for each,
what the paper says of it, and the bars that ours has to hold.

A row is one figure of one model: {mpi, case, model, panel, series, x, value, runs, state}, where
`runs` has that of each turn, and `value` is the best of them, or of memory the most. A ratio is of
two series of ours, run by run, which is of one process and of turns inside it; its median counts.
"""
import os
import statistics

import mpi_models

HERE = os.path.dirname(os.path.abspath(__file__))
MET, MISSED, REPORTED = "met", "MISSED", "reported"
TINY, QUICK, FULL = "tiny", "quick", "full"
CORES = len(os.sched_getaffinity(0))


class Case:
    """One run: so many ranks of the program; rows of one label belong to one table."""

    def __init__(self, label, ranks, arguments=(), models=None, **environment):
        self.label, self.ranks, self.arguments = label, ranks, list(arguments)
        self.models, self.environment = models, environment


class Experiment:
    """`cases` and `bars` are functions: of the effort (TINY, QUICK, FULL) and whether ranks are
    spread over two hosts, and of the rows. Without cases for two hosts it says so: []."""

    def __init__(self, name, cases, bars, **more):
        self.name, self.cases, self.bars = name, cases, bars
        self.paper = more["paper"]
        self.units = more["units"]  # of each panel; None: of all others
        self.axis = more["axis"]
        self.best_of = more.get("best_of", lambda panel: min)
        self.sources = [f"{HERE}/{name}.c"] + more.get("sources", [])

    def unit_of(self, panel):
        return self.units.get(panel, self.units.get(None))


def tiny(is_tiny):
    return ["--tiny"] if is_tiny else []


def on_hosts(label, is_spread):
    return f"two hosts, {label}" if is_spread else label


def ratio(rows, one, other, **where):
    """The median over the runs, or None where one of them is missing."""
    found = {}
    for row in rows:
        if row["series"] in (one, other) and all(row[key] == where[key] for key in where):
            found[row["series"]] = row["runs"]
    if len(found) < 2:
        return None
    return statistics.median(mine / theirs for mine, theirs in zip(found[one], found[other]))


def bar(mpi, words, found, most, is_judged=True):
    if found is None:
        return []
    held = MET if found <= most else MISSED
    return [(f"{mpi}: {words}", found, most, held if is_judged else REPORTED)]


def of_ours(rows):
    """(mpi, its rows of ours)."""
    for mpi in dict.fromkeys(row["mpi"] for row in rows):
        yield mpi, [row for row in rows if row["mpi"] == mpi and row["model"] == "ours"]


def latency_cases(effort, is_spread):
    only_one = effort != FULL or is_spread
    return [Case(on_hosts(sync, is_spread), 2,
                 ["--sync", sync] + tiny(effort == TINY or (effort == QUICK and is_spread)))
            for sync in (("fence",) if only_one else ("fence", "exclusive", "shared"))]


def latency_bars(rows):
    for mpi, mine in of_ours(rows):
        for case in dict.fromkeys(row["case"] for row in mine):
            most = 1.5 if case == "exclusive" else 2
            last = max(row["x"] for row in mine if row["panel"] == "count")
            yield from bar(mpi, f"{case}, one operation of 4 bytes, am to accumulate",
                           ratio(mine, "am", "accumulate", case=case, panel="size", x=4), most)
            yield from bar(mpi, f"{case}, {last} operations of 4 bytes, am to accumulate",
                           ratio(mine, "am", "accumulate", case=case, panel="count", x=last), most)


def overlap_cases(effort, is_spread):
    is_tiny = effort == TINY or (effort == QUICK and is_spread)
    return [Case(on_hosts("2 ranks", is_spread), 2, tiny(is_tiny))]


def no_bars(_):
    return ()


def interop_cases(effort, is_spread):
    # Three ranks on two cores and over tcp take minutes, for figures of the scheduler.
    is_tiny = effort != FULL or (is_spread and CORES < 3)
    third = Case(on_hosts("3 ranks", is_spread), 3, tiny(is_tiny))
    return [third] if is_spread else [Case("2 ranks", 2, tiny(effort == TINY)), third]


def interop_bars(rows):
    for mpi, mine in of_ours(rows):
        yield from bar(mpi, "two-sided latency beside 10,000 am a second, to that without",
                       ratio(mine, "am", "quiet", panel="latency"), 1.1)
        third = [row["x"] for row in mine if row["panel"] == "third"]
        for x in sorted(set(third)):
            yield from bar(mpi, f"{x} am beside a third rank's messages, to those without",
                           ratio(mine, "am+ptp", "am", panel="third", x=x), 1.1, CORES >= 4)


def stencil_cases(effort, is_spread):
    if is_spread:
        return []
    squares = (4, 9) if effort == FULL else (4,)
    sides = {TINY: (8,), QUICK: (32,), FULL: (32, 256)}[effort]
    return [Case("fence", ranks, ["--side", str(side)] + tiny(effort != FULL))
            for side in sides for ranks in squares]


def stencil_bars(rows):
    for mpi, mine in of_ours(rows):
        for panel, x in dict.fromkeys((row["panel"], row["x"]) for row in mine):
            yield from bar(mpi, f"{x} ranks of {panel}, am to put",
                           ratio(mine, "am", "put", panel=panel, x=x), 1.15)


def bfs_cases(effort, is_spread):
    if is_spread:
        return []
    if effort == TINY:
        return [Case("2 ranks", 2, ["--scale", "8", "--roots", "1"])]
    if effort == QUICK:
        return [Case("2 ranks", 2, ["--scale", str(scale), "--limit-s", "1"])
                for scale in (10, 13)]
    return [Case(f"{ranks} ranks", ranks, ["--scale", str(scale)])
            for ranks in (2, 4) for scale in range(10, 16)]


def bfs_bars(rows):
    for mpi, mine in of_ours(rows):
        for case, x in dict.fromkeys((row["case"], row["x"]) for row in mine):
            for way in ("am", "ddt"):
                yield from bar(mpi, f"{case}, scale {x}, {way} to default",
                               ratio(mine, way, "default", case=case, panel="us", x=x), 1)


def memory_cases(effort, is_spread):
    if is_spread:
        return []
    # Memory of malloc that the kernel does not copy is reached as that of another host.
    return [Case("as if on two hosts", 2, tiny(effort == TINY), ["ours"], PHOTON_SHM_CMA="off")]


def memory_bars(rows):
    for mpi, mine in of_ours(rows):
        for row in mine:
            yield from bar(mpi, f"KiB of the target for an am of {row['x']} bytes", row["value"],
                           4 * 64)


ALL = (
    Experiment("latency", latency_cases, latency_bars, units={None: "us"},
               axis={"size": "bytes of one operation", "count": "operations of 4 bytes"},
               paper="figures 3 to 5: put costs least and am most; the own thread (INT-ASYNC) is "
                     "on par with none, the external one (EXT-ASYNC) falls behind as operations "
                     "become more"),
    Experiment("overlap", overlap_cases, no_bars, units={None: "ms"},
               axis={None: "operations of 4 bytes"},
               paper="figure 6: passive targets overlap with either thread and not without; active "
                     "ones do not overlap"),
    Experiment("interop", interop_cases, interop_bars, units={"latency": "ns", None: "us"},
               axis={"latency": "10,000 operations a second, or quiet",
                     "third": "operations of 4 bytes"},
               paper="figure 7: over a network two-sided messages do not slow down INT-ASYNC, and "
                     "the two other models they do; in shared memory all, EXT-ASYNC most"),
    Experiment("stencil", stencil_cases, stencil_bars, units={None: "us"}, axis={None: "ranks"},
               paper="figure 8: either thread costs time, INT-ASYNC less than EXT-ASYNC"),
    Experiment("bfs", bfs_cases, bfs_bars, units={"us": "us", "teps": "edges/s"},
               axis={None: "scale"}, best_of=lambda panel: max if panel == "teps" else min,
               sources=[f"{HERE}/ways.c"] + mpi_models.SOURCES_OF_BFS,
               paper="figure 9, without a thread, 128 to 512 processes: scale 15: am before ddt, "
                     "ddt before default; scale 20: the same but with 512"),
    Experiment("memory", memory_cases, memory_bars, units={None: "KiB"}, axis={None: "bytes"},
               best_of=lambda panel: max,
               sources=[f"{HERE}/heap.c"],
               paper="section III-B: chunks bound the memory of the receiver; no figure"),
)
