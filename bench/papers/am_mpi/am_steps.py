"""The experiments on active messages in MPI as steps: one experiment and one MPI each, by `run`
beside this file, whose rows become {panel, series, x, value, state}: panel "MPICH, fence, size",
series "am, ours"."""
import json
import os
import subprocess
import sys

import machine
import plan

HERE = os.path.dirname(os.path.abspath(__file__))
RUN = os.path.join(HERE, "run")
TWO_HOSTS = os.path.join(HERE, "../common/two_hosts")
NAMES = machine.FLAVOURS
LIMIT_S = 900  # of a step; one run of a program has PROGRAM_LIMIT_S
PROGRAM_LIMIT_S = {"tiny": 20, "quick": 20, "whole": 180}
NETWORK_LIMIT_S = {"tiny": 6, "quick": 6, "whole": 60}  # a thread of MPICH may never get on there
TURNS = {"latency": 3, "overlap": 2, "interop": 2}  # of a whole run; others and networks: one
COMPUTED_MS, TINY_MS = 20, 2  # that the target of `overlap` computes; with --tiny

# Seconds of a step on two cores: of the host and of two hosts, by experiment and MPI.
SECONDS = {
    ("latency", "mpich", False): {"tiny": 2, "quick": 5, "whole": 40},
    ("latency", "openmpi", False): {"tiny": 2, "quick": 3, "whole": 12},
    ("overlap", "mpich", False): {"tiny": 2, "quick": 11, "whole": 25},
    ("overlap", "openmpi", False): {"tiny": 2, "quick": 7, "whole": 17},
    ("interop", "mpich", False): {"tiny": 2, "quick": 5, "whole": 85},
    ("interop", "openmpi", False): {"tiny": 2, "quick": 4, "whole": 18},
    ("stencil", "mpich", False): {"tiny": 2, "quick": 3, "whole": 100},
    ("stencil", "openmpi", False): {"tiny": 2, "quick": 2, "whole": 40},
    ("bfs", "mpich", False): {"tiny": 2, "quick": 4, "whole": 150},
    ("bfs", "openmpi", False): {"tiny": 2, "quick": 4, "whole": 110},
    ("memory", "mpich", False): {"tiny": 1, "quick": 1, "whole": 2},
    ("memory", "openmpi", False): {"tiny": 1, "quick": 1, "whole": 2},
    ("latency", "mpich", True): {"tiny": 2, "quick": 8, "whole": 40},
    ("latency", "openmpi", True): {"tiny": 2, "quick": 3, "whole": 20},
    ("overlap", "mpich", True): {"tiny": 2, "quick": 2, "whole": 15},
    ("overlap", "openmpi", True): {"tiny": 2, "quick": 2, "whole": 10},
    ("interop", "mpich", True): {"tiny": 2, "quick": 8, "whole": 10},
    ("interop", "openmpi", True): {"tiny": 2, "quick": 3, "whole": 5},
}
# A moment of everything: each experiment with one MPI.
TINY = {("latency", "mpich", False), ("overlap", "mpich", False),
        ("interop", "openmpi", False), ("stencil", "openmpi", False), ("bfs", "mpich", False),
        ("memory", "openmpi", False), ("latency", "mpich", True), ("overlap", "openmpi", True),
        ("interop", "openmpi", True)}


def row_of(found, added):
    return {"panel": f"{NAMES[found['mpi']]}, {found['case']}, {found['panel']}",
            "series": f"{found['series']}, {found['model']}", "mpi": NAMES[found["mpi"]],
            "case": found["case"], "quantity": found["panel"], "kind": found["series"],
            "model": found["model"], "ranks": found["ranks"], "x": found["x"],
            "value": found["value"], "state": found["state"], **added}


def options_of(name, bench, is_spread):
    turns = TURNS.get(name, 1) if bench.mode == "whole" and not is_spread else 1
    limits_s = NETWORK_LIMIT_S if is_spread else PROGRAM_LIMIT_S
    options = ["--experiment", name, "--turns", turns, "--limit-s", limits_s[bench.mode]]
    if bench.mode == "tiny" and (name != "latency" or is_spread) or name == "bfs":
        options += ["--models", "plain,ours"]  # figure 9 of the paper has no thread
    return (options + (["--two-hosts"] if is_spread else [])
            + {"tiny": ["--tiny"], "quick": ["--quick"], "whole": []}[bench.mode])


def can_measure(flavour, bench, is_spread):
    """If it cannot, there is a note."""
    if flavour not in [mpi.flavour for mpi in bench.mpis()]:
        return False
    if is_spread:
        tried = subprocess.run([TWO_HOSTS, "true"], capture_output=True, text=True, check=False)
        if tried.returncode != 0:
            bench.note(f"no two hosts on this machine: {tried.stderr.strip()}")
            return False
    return True


def measure_of(name, flavour, is_spread):
    def measure(bench):
        if not can_measure(flavour, bench, is_spread):
            return []
        out = os.path.join(bench.folder, f"{name}.json")
        try:
            bench.run([sys.executable, "-B", RUN, bench.lib, "--mpi", flavour, "--no-drawing",
                       "--out", bench.folder, *options_of(name, bench, is_spread)], LIMIT_S)
        except machine.Failed:
            if not os.path.exists(out):
                raise
        with open(out, encoding="utf-8") as text:
            found = json.load(text)
        for trouble in found["troubles"]:
            if f"{flavour}, ours:" in trouble:
                raise machine.Failed(trouble)
            bench.note(f"no figure: {trouble}")  # of an MPI alone
        added = {"cores": len(bench.cores)}
        if name == "overlap":
            added["computed_ms"] = (TINY_MS if bench.mode == "tiny" or
                                    bench.mode == "quick" and is_spread else COMPUTED_MS)
        return [row_of(row, added) for row in found["rows"]]
    return measure


def steps_of(name, is_spread=False):
    def steps(mode):
        return [plan.Step(f"{name}-{flavour}", measure_of(name, flavour, is_spread),
                          SECONDS[name, flavour, is_spread], cores=2)
                for flavour in NAMES
                if mode != "tiny" or (name, flavour, is_spread) in TINY]
    return steps
