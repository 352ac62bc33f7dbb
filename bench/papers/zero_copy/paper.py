"""The experiments of "Enabling support for zero copy semantics in an Asynchronous Task-based
Programming Model" (Bhat, White and Kalé): arrays as messages and as zero-copy buffers."""
import argparse
import importlib.util
import os
from importlib.machinery import SourceFileLoader

import machine
import plan
import zero_copy_claims as judge

HERE = os.path.dirname(os.path.abspath(__file__))
KIB, MIB = 1 << 10, 1 << 20
MOVED = 64 * MIB  # by photon-perf task-memory, to and fro
LARGEST = {"tiny": 4 * KIB, "quick": 4 * MIB, "whole": 64 * MIB}
TURNS = {"tiny": (1, 1), "quick": (1, 1), "whole": (2, 4)}  # and at most, where others run
BATCHES = {"tiny": 1, "quick": 2, "whole": 5}
TRIPS = {"tiny": 4, "quick": 200, "whole": 1000}
SECONDS = {"tiny": 1, "quick": 4, "whole": 75}  # of a way
MEMORY_SECONDS = {"tiny": 3, "quick": 3, "whole": 3}


def load_run():
    """The script `run` beside this file, as a module."""
    loader = SourceFileLoader("zero_copy_run", os.path.join(HERE, "run"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


SCRIPT = load_run()
WAYS = {way[0]: way for way in SCRIPT.WAYS}


def options_of(bench):
    turns, most_turns = TURNS[bench.mode]
    return argparse.Namespace(
        bin_dir=bench.bin, program=os.path.join(bench.build, "bench/papers/zero_copy"), smallest=64,
        largest=LARGEST[bench.mode], turns=turns, most_turns=most_turns,
        batches=BATCHES[bench.mode], trips=TRIPS[bench.mode], is_silent=True)


def measure_of(key):
    def measure(bench):
        why = SCRIPT.why_no_hosts() if key == "hosts" else None
        if why is not None:
            bench.note(f"no two hosts on this machine: {why}")
            return []
        try:
            found, troubles = SCRIPT.measure_all([WAYS[key]], options_of(bench))
        except SCRIPT.NoFigure as why:
            raise machine.Failed(str(why)) from None
        for trouble in troubles.values():
            raise machine.Failed(str(trouble))
        rows = []
        for size, runs in sorted(found[key].items()):
            row = SCRIPT.row_of(size, runs)
            for series, place in (("regular", "regular_us"), ("zero-copy", "zero_copy_us")):
                rows.append({"panel": WAYS[key][1], "way": key, "series": series, "x": size,
                             "value": row[place], "state": row["state"]})
        return rows
    return measure


def steps_of(*keys):
    return lambda mode: [plan.Step(key, measure_of(key), SECONDS, cores=2) for key in keys]


def measure_memory(bench):
    return [{"panel": "growth", "series": row["mode"], "x": MOVED, "value": row["size_bytes"] / MIB}
            for row in bench.perf("task-memory")]


INTRA, INTER = ("process", "mapped", "cma", "served", "tcp"), ("hosts",)
RUN = "bench/papers/zero_copy/run --ways"
EXPERIMENTS = (
    plan.Experiment("intra-node", "One way of an array on one host, by each way there is.",
                    f"{RUN} {','.join(INTRA)}", steps_of(*INTRA), {None: "us"}),
    plan.Experiment("inter-node", "The same between two hosts, over tcp.",
                    f"{RUN} {','.join(INTER)}", steps_of(*INTER), {None: "us"}),
    plan.Experiment("memory", "Resident memory beyond both buffers while 64 MiB go to and fro.",
                    "photonrun -n 2 photon-perf task-memory",
                    lambda mode: [plan.Step("growth", measure_memory, MEMORY_SECONDS, cores=2)],
                    {None: "MiB"}),
)

FIGURES = (
    plan.Figure("figure4", "figure 4", "One way of an array within a host, regular and zero-copy.",
                "intra-node", "bytes"),
    plan.Figure("figure5", "figure 5", "One way of an array between two hosts.", "inter-node",
                "bytes"),
    plan.Figure("memory", "the text (section 1)", "Growth of memory by way.", "memory", "bytes",
                drawing="bars", is_log=(False, False)),
)


def of_table(number, table, name, judged):
    """A claim on the speed-up and one on the threshold, of each column; `judged`: the paper's way
    and ours, what stands beside the other ways, and its name."""
    paper_way, ours, other, other_name = judged
    for place, way, least, most, size in table:
        where, what = f"4, table {number}", f"{place}, {way}"
        is_ours = way == paper_way
        other_judge = judge.no_nic(other, other_name)
        yield plan.Claim(where, f"{what}: speed-up", f"{least}x to {most}x", name,
                         judge.gain(ours, most) if is_ours else other_judge)
        yield plan.Claim(where, f"{what}: threshold", judge.size_text(size), name,
                         judge.threshold(ours, size) if is_ours else other_judge)


def of_figures(says, one):
    yield plan.Claim("4, figure 4", says, "-", "intra-node", judge.of_ways(("mapped", "cma"), one))
    yield plan.Claim("4, figure 5", says, "-", "inter-node", judge.of_ways(("hosts",), one))


CLAIMS = (
    plan.Claim("abstract", "zero-copy improves latency by up to", "91%", "inter-node",
               judge.improvement(0.91)),
    plan.Claim("abstract, 1", "it needs less memory than messages, which are copied", "-", "memory",
               judge.memory_improves),
    *of_figures("small arrays are faster as regular messages", judge.regular_wins_small),
    *of_figures("from a medium size on zero-copy is faster", judge.zero_copy_wins_large),
    *of_figures("and by more the larger an array is", judge.grows),
    plan.Claim("4, figure 4", "what the message about the array costs does not grow with its size",
               "-", "intra-node", judge.offer_is_constant),
    *of_table(2, judge.TABLE_2, "intra-node", ("CMA", "cma", "mapped", "mapped memory")),
    *of_table(3, judge.TABLE_3, "inter-node", (None, None, "hosts", "tcp, two hosts")),
    plan.Claim("4, table 3", "over each network the threshold is small", "16 KiB to 32 KiB",
               "inter-node", judge.threshold("hosts", 32 * KIB)),
    plan.Claim("4, table 3", "over each network large arrays gain several times", "4.7x to 11.5x",
               "inter-node", judge.gain("hosts", 4.7)),
    plan.Claim("4, figure 4(a)", "Stampede2: CMA is faster than RDMA at most sizes, medium ones "
               "above all", "-", None, judge.never),
    plan.Claim("4, figure 4(b)", "Cori: CMA is faster than RDMA up to a size only", "-", None,
               judge.never),
    plan.Claim("4, figure 4(c)", "workstation without CMA: small arrays are slower by the "
               "zero-copy interface, whose bytes are copied", "-", "intra-node",
               judge.of_ways(("served",), judge.regular_wins_small)),
    plan.Claim("4, figure 4(c)", "and large ones are alike in both interfaces", "-", "intra-node",
               judge.copies_are_alike),
    plan.Claim("4, figure 4(c)", "with CMA large arrays are much faster by zero-copy", "-",
               "intra-node", judge.cma_is_much_better),
)

PAPER = plan.Paper("zero-copy", "Enabling support for zero copy semantics in an Asynchronous "
                   "Task-based Programming Model", EXPERIMENTS, FIGURES, CLAIMS)
