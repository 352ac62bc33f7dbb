"""How the experiments on LibPhotonNBC are measured: rows for paper.py. Ours and both MPIs by
bench/coll_vs_mpi, the classic API by nbc_classic.cpp, MPI's overlap by nbc_overlap.c."""
import json
import os
import sys
import tempfile

import machine

HERE = os.path.dirname(os.path.abspath(__file__))
BESIDE_MPI = os.path.join(machine.ROOT, "bench/coll_vs_mpi/run")
SERIES = {"begin": "Photon", "Open MPI nonblocking": "Open MPI", "MPICH nonblocking": "MPICH"}
CLASSIC = {"nbc": "Photon, classic calls", "pwc": "Photon, the paper's way"}
SMALL, LARGE = 8, 512 << 10
SMALL_CLASSIC = 4  # of which the sums of photon-perf, of doubles, are not
SLICES = 10  # of a computation with looks in between
PWC_MOST_RANKS_LARGE = 8  # beyond them 512 KiB in slots of 4 KiB take very long


def text_of(size):
    return f"{size >> 20}M" if size >= 1 << 20 else f"{size >> 10}K" if size >= 1024 else str(size)


def sizes_text(sizes):
    return ",".join(map(text_of, sizes))


def beside_mpi(bench, kinds, sizes, ranks, iterations):
    """[(kind, bytes, series, us, state)] of non-blocking operations; without an MPI ours alone.
    Buffers are rewritten before each operation."""
    if bench.mpis():
        with tempfile.NamedTemporaryFile(suffix=".json", dir=bench.folder) as out:
            bench.run([sys.executable, "-B", BESIDE_MPI, bench.bin, "--kinds", ",".join(kinds),
                       "--sizes", sizes_text(sizes), "--ranks", ranks, "--buffers", "fresh",
                       "--turns", 1, "--iterations", iterations, "--json", out.name], 900)
            rows = json.load(open(out.name, encoding="utf-8"))
        return [(row["kind"], row["size_bytes"], SERIES[column], ns / 1000, row["state"])
                for row in rows for column, ns in row["p50_ns"].items() if column in SERIES]
    more = ["--iterations", iterations] if iterations else []
    return [(kind, row["size_bytes"], "Photon", row["latency_ns"]["p50"] / 1000,
             row["machine"]["state"])
            for kind in kinds
            for row in bench.perf("coll", "--kind", kind, "--call", "begin", "--buffers", "fresh",
                                  "--memory", "malloc", "--no-limit", "--sizes", sizes_text(sizes),
                                  *more, ranks=ranks)]


def board_of_ranks(bench):
    """An empty file, in memory if there is such a folder, for ranks to meet in."""
    shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else bench.folder
    return tempfile.NamedTemporaryFile(dir=shared)


def classic(bench, way, size, ranks, iterations, slices=0):
    """The line of JSON that nbc_classic prints."""
    program = "bench/papers/nbc_classic"
    if not os.access(os.path.join(bench.build, program), os.X_OK):
        raise machine.Failed(f"{program} has not been built: the target paper_nbc_classic")
    with board_of_ranks(bench) as board:
        said = bench.photonrun(ranks, program, board.name, way, size, iterations, slices)
    return json.loads(said)


def over_ranks(ranks):
    """Figures 4 to 6: one number and 512 KiB."""
    def measure(bench):
        is_crowded = ranks > len(bench.cores)
        iterations = bench.pick(10, 10, 40) if is_crowded else bench.pick(50, 100, 0)
        found = beside_mpi(bench, ("allreduce", "bcast"), (SMALL, LARGE), ranks, iterations)
        rows = [{"panel": f"{kind} {'small' if size == SMALL else 'large'}", "series": series,
                 "x": ranks, "value": us, "bytes": size, "state": state,
                 "shares_cores": is_crowded}
                for kind, size, series, us, state in found]
        for way, series in CLASSIC.items():
            for panel, size in (("small", SMALL_CLASSIC), ("large", LARGE)):
                if (way, panel) == ("pwc", "large") and ranks > PWC_MOST_RANKS_LARGE:
                    bench.note(f"{series}: left out with {text_of(size)} and more than "
                               f"{PWC_MOST_RANKS_LARGE} ranks, where it would take too long")
                    continue
                count = (bench.pick(2, 3, 5) if panel == "large" and is_crowded
                         else bench.pick(20, 100, 400))
                us = classic(bench, way, size, ranks, count)["p50_ns"] / 1000
                rows.append({"panel": f"allreduce {panel}", "series": series, "x": ranks,
                             "value": us, "bytes": size, "shares_cores": is_crowded})
        return rows
    return measure


def over_sizes(kind, ranks, sizes):
    """Figure 7."""
    def measure(bench):
        crowded = ranks > len(bench.cores)
        iterations = bench.pick(5, 5, 10) if crowded else bench.pick(10, 30, 0)
        return [{"panel": f"{kind}, {ranks} ranks", "series": series, "x": size, "value": us,
                 "ranks": ranks, "state": state}
                for _, size, series, us, state in beside_mpi(bench, (kind,), sizes, ranks,
                                                             iterations)]
    return measure


def overlap_row(panel, series, size, alone_ns, visible_ns):
    percent = min(max(100 * (1 - visible_ns / alone_ns), 0), 100)
    return {"panel": panel, "series": series, "x": size, "value": percent,
            "alone_us": alone_ns / 1000, "visible_us": visible_ns / 1000}


def overlap_ours(sizes):
    def measure(bench):
        count = bench.pick(20, 200, 400)
        rows = [overlap_row("untouched", "Photon", row["size_bytes"], row["limit"],
                            row["latency_ns"]["p50"])
                for row in bench.perf("coll-overlap", "--kind", "allreduce", "--memory", "malloc",
                                      "--buffers", "fresh", "--iterations", count,
                                      "--sizes", sizes_text(sizes))]
        for size in sizes:
            found = classic(bench, "nbc", size, 2, count, SLICES)
            rows.append(overlap_row("looks", CLASSIC["nbc"], size, found["alone_ns"],
                                    found["visible_ns"]))
        return rows
    return measure


def overlap_mpi(sizes):
    def measure(bench):
        rows, count = [], bench.pick(20, 200, 400)
        for mpi in bench.mpis():
            name = machine.FLAVOURS[mpi.flavour]
            bench.compile_for(mpi, "nbc_overlap", [os.path.join(HERE, "nbc_overlap.c")])
            ways = [("untouched", name, "plain", 0, count), ("looks", name, "plain", SLICES, count)]
            if mpi.flavour == "mpich":  # whose threads have no core of their own
                ways.append(("untouched", name + ", its thread", "async", 0,
                             bench.pick(5, 20, 100)))
            for panel, series, model, slices, some in ways:
                for size in sizes:
                    found = bench.mpi_json(mpi, "nbc_overlap", 2, size, some, slices, model=model)
                    rows.append(overlap_row(panel, series, size, found["alone_ns"],
                                            found["visible_ns"]))
        return rows
    return measure


def prepared(bench):
    """What it costs to begin an operation, and what is left of that when it was prepared."""
    rows = []
    more = ["--iterations", "200"] if bench.mode == "tiny" else []
    for call in ("begin", "start"):
        for row in bench.perf("coll", "--kind", "allreduce", "--call", call, "--buffers", "same",
                              "--memory", "malloc", "--no-limit",
                              "--sizes", sizes_text((SMALL, LARGE)), *more):
            series = row["mode"].split(", ")[-1]
            rows.append({"panel": "call", "series": series, "x": row["size_bytes"],
                         "value": row["latency_ns"]["p50"] / 1000})
    return rows


def bare(bench):
    """An allreduce beside that of two bare processes: what is above it is the library's."""
    rows = []
    more = ["--iterations", "20"] if bench.mode == "tiny" else []
    for row in bench.perf("coll", "--kind", "allreduce", "--call", "begin", "--buffers", "fresh",
                          "--memory", "malloc", "--sizes", sizes_text((SMALL, LARGE)), *more):
        state = row["machine"]["state"]
        rows += [{"panel": "bare", "series": series, "x": row["size_bytes"], "value": ns / 1000,
                  "state": state}
                 for series, ns in (("Photon", row["latency_ns"]["p50"]),
                                    ("two bare processes", row["limit"]))]
    return rows
