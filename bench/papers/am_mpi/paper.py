"""The experiments of "Towards Asynchronous and MPI-Interoperable Active Messages" (Zhao and others,
2013). They are measured by the script `run` beside this file, which has the programs, the models
and the bars; here its rows become figures and verdicts of a page."""
import functools
import json
import os
import sys

import am_judges as judges
import plan

HERE = os.path.dirname(os.path.abspath(__file__))
NAMES = {"mpich": "MPICH", "openmpi": "Open MPI"}
SYNCS = ("fence", "exclusive", "shared")

# About how long a step takes, in seconds: tiny, quick, whole.
SECONDS = {"am-latency": (2, 8, 24), "am-overlap": (2, 12, 36), "am-interop": (3, 3, 70),
           "am-stencil": (3, 3, 90), "am-bfs": (2, 3, 150), "am-memory": (1, 2, 4)}
TURNS = {"am-latency": 3, "am-overlap": 3, "am-interop": 2, "am-memory": 3}  # whole run; else 1
NOT_TINY = ("am-latency", "am-overlap", "am-memory")  # of a quick run


def options_of(name, mode):
    if mode == "tiny":
        return ["--tiny", "--models", "plain,ours"]
    if mode == "quick":
        return ["--turns", "1", "--models", "plain,ours"] + ([] if name in NOT_TINY else ["--tiny"])
    return ["--turns", str(TURNS.get(name, 1))]


def row_of(row):
    """As plan.py has them. `runs` is the figure of each turn, of which `value` is the best one."""
    panel = ", ".join((NAMES.get(row["mpi"], row["mpi"]), row["case"], row["panel"]))
    return {"panel": panel, "series": f"{row['series']}, {row['model']}", "x": row["x"],
            "value": row["value"], "state": row["state"], "runs": row["runs"]}


def measure(name, flavour, bench):
    if flavour not in [mpi.flavour for mpi in bench.mpis()]:
        return []
    if bench.mode != "whole":
        bench.note("The external thread (async) is part of whole runs alone.")
    elif name == "am-stencil" and len(bench.cores) < 9:
        bench.note("The external thread (async) is left out where ranks outnumber the cores.")
    out = os.path.join(bench.folder, "out")
    bench.run([sys.executable, "-B", os.path.join(HERE, "run"), bench.lib, "--experiment",
               name.removeprefix("am-"), "--mpi", flavour, "--out", out, "--no-picture",
               *options_of(name, bench.mode)], 3600)
    with open(os.path.join(out, name.removeprefix("am-") + ".json"), encoding="utf-8") as found:
        return [row_of(row) for row in json.load(found)["rows"]]


def steps_of(name, mode):
    seconds = dict(zip(plan.MODES, SECONDS[name]))
    flavours = ("mpich",) if mode == "tiny" else NAMES
    return [plan.Step(flavour, functools.partial(measure, name, flavour), seconds, cores=2)
            for flavour in flavours]


def experiment(name, title, units):
    return plan.Experiment(name, title,
                           f"bench/papers/am_mpi/run --experiment {name.removeprefix('am-')}",
                           functools.partial(steps_of, name), units)


def panels(cases, *names):
    """{panel: title} of both MPIs; those that were not measured are left out of a figure."""
    return {f"{mpi}, {case}, {name}": f"{mpi}, {case}" for name in names for mpi in NAMES.values()
            for case in cases}


EXPERIMENTS = (
    experiment("am-latency", "An epoch with one operation of 4 bytes to 1 MiB, or with many of 4 "
               "bytes, whose target waits in MPI.", {None: "us"}),
    experiment("am-overlap", "An epoch whose target computes for 20 ms meanwhile. Passive: the "
               "time of the origin; active: what the target takes beyond the computation.",
               {None: "ms"}),
    experiment("am-interop", "One-sided and two-sided messages to the same target at a time.",
               {f"{mpi}, 2 ranks, latency": "ns" for mpi in NAMES.values()} | {None: "us"}),
    experiment("am-stencil", "A step of nine points in two dimensions, under fences.",
               {None: "us"}),
    experiment("am-bfs", "Breadth-first search through a Kronecker graph, in four ways.",
               {f"{mpi}, {ranks} ranks, teps": "edges/s" for mpi in NAMES.values()
                for ranks in (2, 4)} | {None: "us"}),
    experiment("am-memory", "How far an active message of 64 MiB raises the heap of its target.",
               {None: "KiB"}),
)

BY_HANDLER = tuple(f"{series}, {model}" for model in ("plain", "ours")
                   for series in ("put", "accumulate", "am"))
BY_MODEL = ("accumulate, plain", "accumulate, async", "accumulate, ours", "am, ours")
FIGURES = (
    plan.Figure("am-figure3", "figure 3", "What a handler costs: a put, an accumulate with an "
                "operation of MPI and an active message, of one size.", "am-latency", "bytes",
                panels(SYNCS, "size"), series=BY_HANDLER),
    plan.Figure("am-figure4", "figure 4", "Latency of a single operation in the three models.",
                "am-latency", "bytes", panels(SYNCS, "size"), series=BY_MODEL),
    plan.Figure("am-figure5", "figure 5", "Latency of an epoch of many operations of 4 bytes.",
                "am-latency", "operations", panels(SYNCS, "count"), series=BY_MODEL),
    plan.Figure("am-figure6", "figure 6", "Time of an epoch whose target computes for 20 ms.",
                "am-overlap", "operations",
                {f"{mpi}, 2 ranks, {panel}": f"{mpi}, {panel}" for panel in ("passive", "active")
                 for mpi in NAMES.values()}),
    plan.Figure("am-figure7", "figure 7", "An epoch beside two-sided messages of a third rank "
                "(+ptp), and without.", "am-interop", "operations", panels(("3 ranks",), "third")),
    plan.Figure("am-figure8", "figure 8", "A step of the stencil over the number of ranks.",
                "am-stencil", "ranks",
                {f"{mpi}, fence, {size}": f"{mpi}, {size}" for size in
                 ("8 x 8", "32 x 32", "256 x 256") for mpi in NAMES.values()}, drawing="bars"),
    plan.Figure("am-figure9", "figure 9", "Traversed edges a second.", "am-bfs", "scale",
                panels(("2 ranks", "4 ranks"), "teps"), drawing="bars"),
)

PAPER = plan.Paper("am", "Towards Asynchronous and MPI-Interoperable Active Messages", EXPERIMENTS,
                   FIGURES, judges.CLAIMS)
