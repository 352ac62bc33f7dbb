"""The experiments of "LibPhotonNBC: An RDMA Aware Collective Library on Photon" (Wickramasinghe,
Kissel and Lumsdaine, 2016): non-blocking allreduces and broadcasts beside MPI's."""
import nbc_claims
import nbc_measure
import nbc_profile
import plan
from nbc_measure import LARGE, SMALL

K, M = 1 << 10, 1 << 20
RANKS = {"tiny": (2,), "quick": (2, 4, 6), "whole": (2, 4, 6, 8, 10, 12, 14)}
MANY = {"tiny": None, "quick": 4, "whole": 14}  # as many as the paper has hosts
SIZES = {"tiny": (8, 512 * K), "quick": (8, 4 * K, 64 * K, 512 * K, 8 * M),
         "whole": (8, 32, 128, 512, 2 * K, 8 * K, 32 * K, 128 * K, 512 * K, 2 * M, 8 * M)}
OVERLAP_SIZES = {"tiny": (512 * K,), "quick": (8, 64 * K, 512 * K),
                 "whole": (8, 512, 4 * K, 64 * K, 512 * K, 4 * M)}


def step(name, measure, seconds, cores=1):
    return plan.Step(name, measure, dict(zip(plan.MODES, seconds)), cores)


def rank_steps(mode):
    return [step(f"{ranks} ranks", nbc_measure.over_ranks(ranks),
                 (3, 2 + 2 * ranks, 6 + 5 * ranks), 2 if ranks == 2 else 1)
            for ranks in RANKS[mode]]


def size_steps(mode):
    sizes, many = SIZES[mode], MANY[mode]
    steps = [step(f"{kind}, 2 ranks", nbc_measure.over_sizes(kind, 2, sizes), (1, 10, 60), 2)
             for kind in ("allreduce", "bcast") if mode == "whole" or kind == "allreduce"]
    if many:
        steps.append(step(f"allreduce, {many} ranks",
                          nbc_measure.over_sizes("allreduce", many, sizes), (0, 8, 120)))
    return steps


def overlap_steps(mode):
    sizes = OVERLAP_SIZES[mode]
    return [step("Photon", nbc_measure.overlap_ours(sizes), (0.5, 1, 10), 2),
            step("MPI", nbc_measure.overlap_mpi(sizes), (1.5, 6, 30), 2)]


def prepared_steps(_):
    return [step("calls", nbc_measure.prepared, (1, 1.5, 2), 2)]


def matching_steps(_):
    return [step("bare", nbc_measure.bare, (0.5, 3, 4), 2),
            step("profile", nbc_profile.profile, (2.5, 6, 20), 2)]


EXPERIMENTS = (
    plan.Experiment(
        "ranks", "Non-blocking allreduces and broadcasts of one number and of 512 KiB over ranks.",
        "bench/coll_vs_mpi/run --kinds allreduce,bcast --sizes 8,512K --buffers fresh --ranks N",
        rank_steps, {None: "us"}),
    plan.Experiment(
        "sizes", "The same over the size of the buffers.",
        "bench/coll_vs_mpi/run --kinds allreduce --buffers fresh --ranks 14", size_steps,
        {None: "us"}),
    plan.Experiment(
        "overlap", "How much of an allreduce a computation of the same length hides.",
        "photonrun -n 2 photon-perf coll-overlap --kind allreduce --memory malloc --buffers fresh",
        overlap_steps, {None: "%"}),
    plan.Experiment(
        "prepared", "The cost of beginning an operation, and of starting a prepared one.",
        "photonrun -n 2 photon-perf coll --call start --memory malloc --no-limit", prepared_steps,
        {None: "us"}),
    plan.Experiment(
        "matching", "Where the time of a small allreduce goes: beside two bare processes, and by a "
        "profile of the library's functions.",
        "perf record -e cpu-clock photonrun -n 2 photon-perf coll --sizes 8 --call begin",
        matching_steps, {"bare": "us", "profile": "% of the library's time"}))

FIGURES = (
    plan.Figure("figure4", "figure 4", "Allreduces of one number over ranks (the classic calls: 4 "
                "bytes; all others: 8).", "ranks", "ranks",
                {"allreduce small": "allreduce of one number"}),
    plan.Figure("figure5", "figure 5", "Allreduces of 512 KiB over ranks.", "ranks", "ranks",
                {"allreduce large": "allreduce of 512 KiB"}),
    plan.Figure("figure6", "figure 6", "Broadcasts of 8 bytes over ranks, and of 512 KiB.", "ranks",
                "ranks", {"bcast small": "broadcast of 8 bytes",
                          "bcast large": "broadcast of 512 KiB"}),
    plan.Figure("figure7", "figure 7", "Allreduces over size, and broadcasts in a whole run.",
                "sizes", "bytes"),
    plan.Figure("overlap", "section I", "What part of an allreduce is hidden behind a computation, "
                "two ranks.", "overlap", "bytes",
                {"untouched": "no call meanwhile", "looks": "ten looks meanwhile"},
                is_log=(True, False)),
    plan.Figure("matching", "the profile of section III", "Shares of the library's time in an "
                "allreduce of one number.", "matching", "", {"profile": "by groups of functions"},
                drawing="bars", is_log=(False, False)))

PAPER = plan.Paper("nbc", "LibPhotonNBC: An RDMA Aware Collective Library on Photon", EXPERIMENTS,
                   FIGURES, nbc_claims.CLAIMS)
