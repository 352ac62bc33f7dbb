"""The experiments of "Enabling support for zero copy semantics in an Asynchronous Task-based
Programming Model" (Bhat, White and Kalé). The ping-pong is that of the script `run` beside this
file, which starts it on each way; here its rows become figures and verdicts of a page."""
import functools
import json
import os
import sys

import plan
import zero_copy_judges as judges
from zero_copy_judges import REGULAR, WAYS, ZERO_COPY

HERE = os.path.dirname(os.path.abspath(__file__))
SMALLEST, LARGEST = 64, {"tiny": 4 << 10, "quick": 4 << 20, "whole": 64 << 20}
EFFORT = {"tiny": ["--turns", "1", "--batches", "1", "--trips", "20"],
          "quick": ["--turns", "1", "--batches", "3", "--trips", "300"], "whole": []}
SECONDS = {"tiny": 1, "quick": 5, "whole": 100}


def sizes(mode):
    size = SMALLEST
    while size <= LARGEST[mode]:
        yield size
        size *= 2


def measure_way(way, bench):
    """By the script, which says of the namespaces why they cannot be made."""
    bench.run([sys.executable, "-B", os.path.join(HERE, "run"), bench.bin, "--ways", way, "--from",
               SMALLEST, "--to", LARGEST[bench.mode], "--output", bench.folder, "--no-picture",
               *EFFORT[bench.mode]], 1800)
    with open(os.path.join(bench.folder, "zero_copy.json"), encoding="utf-8") as found:
        said = json.load(found)
    for name, why in said["left out"].items():
        bench.note(f"{WAYS[name]}: {why}")
    return [{"panel": WAYS[way], "series": series, "x": row["size_bytes"], "value": row[key],
             "state": row["state"]}
            for row in said["ways"].get(way, ())
            for series, key in ((REGULAR, "regular_us"), (ZERO_COPY, "zero_copy_us"))]


def measure_mapped(bench):
    """By photon-perf: memory of ph_alloc, which both processes have mapped. Of the two directions
    the better one stands for zero-copy."""
    more = ["--iterations", "20"] if bench.mode == "tiny" else []
    found = bench.perf("task-zero-copy", "--memory", "alloc", "--sizes",
                       ",".join(map(str, sizes(bench.mode))), *more, limit_s=900)
    times = {(row["mode"], row["size_bytes"]): row["latency_ns"]["p50"] / 1000 for row in found}
    rows = []
    for size in sizes(bench.mode):
        buffers = [times[mode, size] for mode in ("put of a buffer", "get of a buffer")]
        for series, value in ((REGULAR, times["message", size]), (ZERO_COPY, min(buffers))):
            rows.append({"panel": WAYS["mapped"], "series": series, "x": size, "value": value})
    return rows


def steps_of_ways(mode):
    return [plan.Step(way, measure_mapped if way == "mapped" else
                      functools.partial(measure_way, way), SECONDS, cores=2) for way in WAYS]


def measure_memory(bench):
    size = bench.pick(16 << 20, 64 << 20, 64 << 20)
    return [{"panel": "memory", "series": row["mode"], "x": size,
             "value": row["size_bytes"] / (1 << 20)}
            for row in bench.perf("task-memory", "--sizes", size)]


def steps_of_memory(_):
    return [plan.Step("memory", measure_memory, {"tiny": 1, "quick": 2, "whole": 2}, cores=2)]


EXPERIMENTS = (
    plan.Experiment("zero-copy-ways", "One way of an array between two PEs, as a message that is "
                    "copied in and out, and as a buffer that nobody copies.",
                    "bench/papers/zero_copy/run", steps_of_ways, {None: "us"}),
    plan.Experiment("zero-copy-memory", "By how much a process grows beyond both arrays while an "
                    "array goes to and fro.", "photonrun -n 2 photon-perf task-memory",
                    steps_of_memory, {None: "MiB"}),
)

FIGURES = (
    plan.Figure("zero-copy-figure4", "figure 4", "One way within a host: the regular and the "
                "zero-copy interface over the size.", "zero-copy-ways", "bytes",
                {WAYS[way]: WAYS[way] for way in ("process", "mapped", "cma", "served")}),
    plan.Figure("zero-copy-figure5", "figure 5", "One way over a network.", "zero-copy-ways",
                "bytes", {WAYS[way]: WAYS[way] for way in ("tcp", "hosts")}),
    plan.Figure("zero-copy-memory", "section 1", "Memory beyond the arrays, at most.",
                "zero-copy-memory", "bytes of the array", drawing="bars", is_log=(True, False)),
)

PAPER = plan.Paper("zero-copy", "Enabling support for zero copy semantics in an Asynchronous "
                   "Task-based Programming Model", EXPERIMENTS, FIGURES, judges.CLAIMS)
