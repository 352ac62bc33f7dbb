"""The experiments of "Towards Asynchronous and MPI-Interoperable Active Messages" (Zhao and others,
2013): active messages inside MPI, by accumulates with operations of the program."""
import am_claims as judge
import am_steps
import plan

RUN = "bench/papers/am_mpi/run --experiment"
MANY_HOSTS = "hundreds of processes on as many cores are needed; this machine has a few cores"


def experiment(name, title, is_spread=False, units=None):
    return plan.Experiment(
        name + ("-network" if is_spread else ""), title,
        f"{RUN} {name}" + (" --two-hosts" if is_spread else ""),
        lambda mode: am_steps.steps_of(name, is_spread)(mode), units or {None: "us"})


EXPERIMENTS = (
    experiment("latency", "An epoch with one operation over its size, and with many of 4 bytes."),
    experiment("latency", "The same between two hosts, over tcp.", is_spread=True),
    experiment("overlap", "Epochs while their target computes for 20 ms (tiny: 2 ms).",
               units={None: "ms"}),
    experiment("overlap", "The same between two hosts, over tcp.", True, {None: "ms"}),
    experiment("interop", "Epochs while a third rank sends messages to their target.",
               units={None: "us", **{f"{mpi}, 2 ranks, latency": "ns"
                                     for mpi in am_steps.NAMES.values()}}),
    experiment("interop", "The same with the target on one host and both others on another one.",
               is_spread=True),
    experiment("stencil", "A step of a stencil of nine points, on a square of ranks."),
    experiment("bfs", "Breadth-first search of a Kronecker graph in four ways.",
               units={None: "us", **{f"{mpi}, {ranks} ranks, teps": "edges/s"
                                     for mpi in am_steps.NAMES.values() for ranks in (2, 4)}}),
    experiment("memory", "By how much the heap of the target of a large message rises.",
               units={None: "KiB"}),
)


def panels(*cases):
    """{panel: title} for each MPI, of "case, quantity"."""
    return {f"{mpi}, {case}": f"{mpi}, {case}" for case in cases
            for mpi in am_steps.NAMES.values()}


def with_network(name, of, caption, axis, cases):
    """A figure of one host and one of two hosts; `cases`: of the experiment and of its network."""
    which, on_one, on_two = cases
    yield plan.Figure(name + "-memory", of, f"{caption} in shared memory.", which, axis,
                      panels(*on_one))
    yield plan.Figure(name + "-network", of, f"{caption} between two hosts, over tcp.",
                      which + "-network", axis, panels(*on_two))


FIGURES = (
    *with_network("figure3", "figures 3 and 4", "One operation over its size, in all models,",
                  "bytes", ("latency", ("fence, size",), ("two hosts, fence, size",))),
    *with_network("figure5", "figure 5", "Operations of 4 bytes over their number, in all models,",
                  "operations", ("latency", ("fence, count",), ("two hosts, fence, count",))),
    *with_network("figure6", "figure 6", "Epochs with operations on a target that computes,",
                  "operations",
                  ("overlap", ("2 ranks, passive", "2 ranks, active"),
                   ("two hosts, 2 ranks, passive", "two hosts, 2 ranks, active"))),
    *with_network("figure7", "figure 7", "Epochs beside two-sided messages (+ptp) and without,",
                  "operations", ("interop", ("3 ranks, third",), ("two hosts, 3 ranks, third",))),
    plan.Figure("figure8", "figure 8", "A step of the stencil over ranks.", "stencil", "ranks",
                drawing="bars"),
    plan.Figure("figure9", "figure 9", "Traversed edges a second over the scale of the graph.",
                "bfs", "scale", panels("2 ranks, teps", "4 ranks, teps"), is_log=(False, True)),
)


def both(where, says, name, judge_of):
    """A claim of the shared memory and of the network; `judge_of`: of the case of an epoch."""
    yield plan.Claim(f"{where}, shared memory", says, "-", name, judge_of("fence"))
    yield plan.Claim(f"{where}, network", says, "-", f"{name}-network",
                     judge_of("two hosts, fence"))


CLAIMS = (
    plan.Claim("III-B", "working on a message chunk by chunk needs less memory at its receiver",
               "-", "memory", judge.chunks_bound_memory),
    *both("V-A, figure 3", "of one operation a put costs least", "latency", judge.put_is_least),
    *both("V-A, figure 3", "and an active message costs most", "latency", judge.am_is_most),
    plan.Claim("V-A", "other synchronisations (locks, PSCW) look alike", "-", "latency",
               judge.locks_do_the_same),
    *both("V-B, figure 4", "over sizes the own thread (INT) is about on par with none (NON)",
          "latency", lambda case: judge.on_par(case, "size")),
    *both("V-B, figure 4", "the external thread (EXT) is slower than both", "latency",
          lambda case: judge.external_is_behind(case, "size")),
    plan.Claim("V-B, figure 5, network", "over many operations INT is about on par with NON", "-",
               "latency-network", judge.on_par("two hosts, fence", "count")),
    *both("V-B, figure 5", "EXT falls behind as operations become more", "latency",
          judge.external_falls_behind),
    plan.Claim("V-B, figure 5, shared memory", "INT is faster than NON for many operations", "-",
               "latency", judge.internal_wins_of_many("fence")),
    plan.Claim("V-C, figure 6(a)", "passive target, network: with EXT operations overlap", "-",
               "overlap-network", judge.overlaps("async", "accumulate", "MPICH")),
    plan.Claim("V-C, figure 6(b)", "passive target, shared memory: with EXT operations overlap",
               "-", "overlap", judge.overlaps("async", "accumulate", "MPICH")),
    plan.Claim("V-C, figure 6(a)", "passive target, network: with INT active messages overlap",
               "-", "overlap-network", judge.overlaps("ours", "am")),
    plan.Claim("V-C, figure 6(b)", "passive target, shared memory: with INT they overlap too", "-",
               "overlap", judge.overlaps("ours", "am")),
    plan.Claim("V-C, figure 6(a)", "passive target, network: with NON nothing overlaps", "-",
               "overlap-network", judge.plain_waits),
    plan.Claim("V-C, figure 6(b)", "passive target, shared memory: with NON nothing overlaps", "-",
               "overlap", judge.plain_waits),
    plan.Claim("V-C, figure 6(a)", "network: INT is behind EXT, as its lock is a queue", "-",
               "overlap-network", judge.internal_is_behind_external),
    plan.Claim("V-C, figure 6(b)", "shared memory: INT is behind EXT, as its lock is a queue", "-",
               "overlap", judge.internal_is_behind_external),
    plan.Claim("V-C, shared memory", "active targets do not overlap in any model", "-", "overlap",
               judge.active_waits),
    plan.Claim("V-C, network", "active targets do not overlap in any model", "-",
               "overlap-network", judge.active_waits),
    plan.Claim("V-D, figure 7(a)", "network: two-sided messages slow down NON", "-",
               "interop-network", judge.beside_messages("plain", "accumulate", True, "MPICH")),
    plan.Claim("V-D, figure 7(a)", "network: two-sided messages slow down EXT", "-",
               "interop-network", judge.beside_messages("async", "accumulate", True, "MPICH")),
    plan.Claim("V-D, figure 7(a)", "network: two-sided messages do not slow down INT", "-",
               "interop-network", judge.beside_messages("ours", "am", False)),
    plan.Claim("V-D, figure 7(b)", "shared memory: they slow down NON", "-", "interop",
               judge.beside_messages("plain", "accumulate", True, "MPICH")),
    plan.Claim("V-D, figure 7(b)", "shared memory: they slow down INT", "-", "interop",
               judge.beside_messages("ours", "am", True)),
    plan.Claim("V-D, figure 7(b)", "shared memory: they slow down EXT, and that most", "-",
               "interop", judge.external_is_slowed_most),
    plan.Claim("V-E, figure 8", "a stencil is slower with INT than with NON", "-", "stencil",
               judge.threads_cost_time),
    plan.Claim("V-E, figure 8", "and slower still with EXT", "-", "stencil",
               judge.external_costs_most),
    plan.Claim("V-E, figure 8", "both hold on squares of 4 to 400 processes, 8 on a node", "2x2 to "
               "20x20", None, judge.cannot(MANY_HOSTS)),
    plan.Claim("V-F, figure 9(a)", "scale 15: datatypes (ddt) are faster than single accumulates "
               "(default)", "128 to 512 processes", "bfs", judge.way_before("ddt", "default")),
    plan.Claim("V-F, figure 9(a)", "scale 15: active messages are faster than single accumulates",
               "128 to 512 processes", "bfs", judge.way_before("am", "default")),
    plan.Claim("V-F, figure 9(a)", "scale 15: active messages are faster than datatypes",
               "128 to 512 processes", "bfs", judge.way_before("am", "ddt")),
    plan.Claim("V-F, figure 9(b)", "scale 20: the same order", "128 and 256 processes", None,
               judge.cannot(MANY_HOSTS)),
    plan.Claim("V-F, figure 9(b)", "scale 20: active messages fall behind both other ways",
               "512 processes", None, judge.cannot(MANY_HOSTS)),
    plan.Claim("V-F, figure 9", "at a fixed scale edges a second rise to a peak over processes and "
               "fall behind it; that of scale 20 is at", "128 processes", None,
               judge.cannot(MANY_HOSTS)),
    plan.Claim("abstract", "active messages have a modest overhead", "-", "latency",
               judge.modest_overhead),
    plan.Claim("VII", "performance is competitive with that of an external thread", "-", "latency",
               judge.competitive),
)

PAPER = plan.Paper("am", "Towards Asynchronous and MPI-Interoperable Active Messages", EXPERIMENTS,
                   FIGURES, CLAIMS)
