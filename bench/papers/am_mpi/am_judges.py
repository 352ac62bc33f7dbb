"""What the paper on active messages in MPI says of its results, and how our rows are judged. Where
two MPIs are installed a claim has to hold with each of them."""
import statistics

import plan
from plan import Claim

MPIS = ("MPICH", "Open MPI")
COMPARABLE = 1.25  # two times are alike within this factor
SLOWED = 1.1  # this many times as long is "slowed down"
COMPUTED_MS = 20  # what a target computes in the experiment am-overlap
WHOLE, HIDDEN = 0.9, 0.5  # shares of that: nothing overlaps, and it does
KIB_OF_A_MESSAGE = 4 * 64  # four pieces


def here(rows):
    """The MPIs that were measured."""
    found = [mpi for mpi in MPIS if any(row["panel"].startswith(mpi + ",") for row in rows.rows)]
    if not found:
        raise plan.Missing("no MPI was measured")
    return found


def median(values):
    return statistics.median(values.values())


def ratios_of(rows, panels, one, other):
    """{panel: median over all x} of one series over another; panels without both are left out."""
    found = {}
    for panel in panels:
        try:
            found[panel] = median(rows.ratios({"panel": panel, "series": one},
                                              {"panel": panel, "series": other}))
        except plan.Missing:
            continue
    if not found:
        raise plan.Missing(f"no panel with both '{one}' and '{other}'")
    return found


def words_of(ratios):
    low, high = min(ratios.values()), max(ratios.values())
    return f"{low:.2f}" if f"{low:.2f}" == f"{high:.2f}" else f"{low:.2f} to {high:.2f}"


def size_panels(rows, syncs):
    return [f"{mpi}, {sync}, size" for mpi in here(rows) for sync in syncs]


def judge_order(syncs):
    """A put costs least, and an active message most."""
    def judge(rows):
        panels = size_panels(rows, syncs)
        accumulate = ratios_of(rows, panels, "accumulate, ours", "put, ours")
        am = ratios_of(rows, panels, "am, ours", "accumulate, ours")
        ours = (f"an accumulate takes {words_of(accumulate)} times as long as a put, an active "
                f"message {words_of(am)} times as long as an accumulate")
        is_so = min(accumulate.values()) >= 1 and min(am.values()) >= 1
        return plan.confirmed(ours) if is_so else plan.not_confirmed(ours)
    return judge


def judge_on_par(rows):
    ratios = ratios_of(rows, size_panels(rows, ("fence", "exclusive", "shared")),
                       "accumulate, ours", "accumulate, plain")
    ours = f"{words_of(ratios)} of the time without, of accumulates"
    if max(ratios.values()) < 1 / COMPARABLE:
        return plan.better(ours)
    if max(ratios.values()) <= COMPARABLE:
        return plan.confirmed(ours)
    return plan.not_confirmed(ours)


def judge_external(rows):
    ratios = ratios_of(rows, [f"{mpi}, {sync}, count" for mpi in here(rows)
                              for sync in ("fence", "exclusive", "shared")],
                       "accumulate, async", "accumulate, plain")
    ours = f"{words_of(ratios)} of the time without a thread"
    is_so = statistics.median(ratios.values()) > COMPARABLE
    return plan.confirmed(ours) if is_so else plan.not_confirmed(ours)


def of_counts(rows, one, other):
    """{panel: (of one operation, of the most)}: one series over another."""
    found = {}
    for mpi in here(rows):
        for sync in ("fence", "exclusive", "shared"):
            panel = f"{mpi}, {sync}, count"
            try:
                ratios = rows.ratios({"panel": panel, "series": one},
                                     {"panel": panel, "series": other})
            except plan.Missing:
                continue
            found[panel] = ratios[min(ratios)], ratios[max(ratios)]
    if not found:
        raise plan.Missing(f"no panel with both '{one}' and '{other}'")
    return found


def judge_external_grows(rows):
    found = of_counts(rows, "accumulate, async", "accumulate, ours")
    few = statistics.median(few for few, _ in found.values())
    many = statistics.median(many for _, many in found.values())
    ours = f"{few:.1f} times the time of ours with one operation, {many:.1f} times with the most"
    return plan.confirmed(ours) if many > few else plan.not_confirmed(ours)


def judge_many(rows):
    found = of_counts(rows, "accumulate, plain", "accumulate, ours")
    many = {panel: many for panel, (_, many) in found.items()}
    ours = f"without it {words_of(many)} times as long, with the most operations"
    is_so = min(many.values()) > 1
    return plan.confirmed(ours) if is_so else plan.not_confirmed(ours)


def passive_ms(rows, model):
    """{MPI: the longest time of an accumulate's origin}, where that model is."""
    found = {}
    for mpi in here(rows):
        its = rows.where(panel=f"{mpi}, 2 ranks, passive", series=f"accumulate, {model}").rows
        if its:
            found[mpi] = statistics.median(row["value"] for row in its)
    if not found:
        raise plan.Missing(f"no passive epoch of {model}")
    return found


def words_of_ms(found):
    return ", ".join(f"{mpi}: {ms:.3g} ms" for mpi, ms in found.items())


def judge_overlap(rows):
    found = passive_ms(rows, "ours")
    ours = words_of_ms(found) + f" while the target computes for {COMPUTED_MS} ms"
    is_so = max(found.values()) < HIDDEN * COMPUTED_MS
    return plan.confirmed(ours) if is_so else plan.not_confirmed(ours)


def judge_external_overlap(rows):
    found = passive_ms(rows, "async")
    is_so = max(found.values()) < HIDDEN * COMPUTED_MS
    ours = words_of_ms(found)
    return plan.confirmed(ours) if is_so else plan.not_confirmed(
        ours, "two threads spin for each rank, on two cores for both")


def judge_no_overlap(rows):
    """Of each MPI as it is: some progress on one host by themselves."""
    found = passive_ms(rows, "plain")
    without = [mpi for mpi, ms in found.items() if ms >= WHOLE * COMPUTED_MS]
    ours = words_of_ms(found)
    if len(without) == len(found):
        return plan.confirmed(ours)
    if without:
        return plan.confirmed(ours, "of " + " and ".join(without) + "; the other one stores into "
                              "the target's memory itself")
    return plan.not_confirmed(ours)


def judge_gap(rows):
    ours, other = passive_ms(rows, "ours"), passive_ms(rows, "async")
    ratio = max(other[mpi] / ours[mpi] for mpi in other if mpi in ours)
    words = f"the external thread takes {ratio:.1f} times as long as ours"
    return plan.confirmed(words) if not 1 / COMPARABLE < ratio < COMPARABLE else \
        plan.not_confirmed(words)


def judge_active(rows):
    """What the target takes beyond its computation, beside the same without the library."""
    shares = {}
    for mpi in here(rows):
        panel = f"{mpi}, 2 ranks, active"
        ratios = rows.ratios({"panel": panel, "series": "accumulate, ours"},
                             {"panel": panel, "series": "accumulate, plain"})
        shares[mpi] = ratios[max(ratios)]
    ours = ", ".join(f"{mpi}: {share:.2f} of the time without, with the most operations"
                     for mpi, share in shares.items())
    if max(shares.values()) < HIDDEN:
        return plan.better(ours, "operations go out when they are called")
    return plan.confirmed(ours) if min(shares.values()) > WHOLE else plan.better(
        ours, "operations go out when they are called; the other MPI does the same")


def slowdowns(rows, series, model):
    """{MPI: median} of epochs beside a third rank's messages, over those without."""
    return ratios_of(rows, [f"{mpi}, 3 ranks, third" for mpi in here(rows)],
                     f"{series}+ptp, {model}", f"{series}, {model}")


def judge_third(series, model):
    def judge(rows):
        ratios = slowdowns(rows, series, model)
        ours = f"{words_of(ratios)} times as long beside them"
        if max(ratios.values()) <= SLOWED:
            return plan.better(ours)
        return plan.confirmed(ours)
    return judge


def judge_two_sided(rows):
    """A ping-pong with our library and without, when nothing else goes on."""
    ratios = {}
    for mpi in here(rows):
        panel = f"{mpi}, 2 ranks, latency"
        ratios[panel] = rows.value(panel=panel, series="quiet, ours") / \
            rows.value(panel=panel, series="quiet, plain")
    ours = f"{words_of(ratios)} of a ping-pong's time without the library"
    return plan.confirmed(ours) if max(ratios.values()) <= COMPARABLE else plan.not_confirmed(ours)


def stencil_panels(rows):
    return [panel for panel in rows.all("panel") if panel.split(", ")[0] in here(rows)]


def judge_stencil(rows):
    ratios = ratios_of(rows, stencil_panels(rows), "accumulate, ours", "accumulate, plain")
    ours = f"{words_of(ratios)} of the time without, of accumulates"
    if max(ratios.values()) <= COMPARABLE:
        return plan.better(ours)
    return plan.confirmed(ours, "where it is above 1") if min(ratios.values()) > 1 else \
        plan.confirmed(ours, "with some grids, and not with others")


def judge_stencil_external(rows):
    ratios = ratios_of(rows, stencil_panels(rows), "accumulate, async", "accumulate, ours")
    ours = f"the external thread takes {words_of(ratios)} times as long"
    return plan.confirmed(ours) if min(ratios.values()) > 1 else plan.not_confirmed(ours)


def judge_ways(one, other, scale):
    """TEPS of one way over another, at that scale or at the greatest one."""
    def judge(rows):
        found = {}
        for panel in rows.all("panel"):
            if not panel.endswith(", teps"):
                continue
            ratios = rows.ratios({"panel": panel, "series": f"{one}, ours"},
                                 {"panel": panel, "series": f"{other}, ours"})
            if scale not in ratios:
                raise plan.Missing(f"no graph of scale {scale} in this run")
            found[panel] = ratios[scale]
        if not found:
            raise plan.Missing("no search was measured")
        ours = f"{words_of(found)} times as many edges a second"
        return plan.confirmed(ours) if min(found.values()) > 1 else plan.not_confirmed(ours)
    return judge


def judge_memory(rows):
    most = max(row["value"] for row in rows.rows)
    ours = f"{most:.0f} KiB for a message of 64 MiB"
    return plan.confirmed(ours) if most <= KIB_OF_A_MESSAGE else plan.not_confirmed(ours)


def many_processes():
    return plan.cannot("it takes 128 to 512 processes with a core each")


def a_network():
    return plan.cannot("the experiment has one host; over a network of this machine the kernel of "
                       "both ranks would share two cores with them")


CLAIMS = (
    Claim("III-B", "an operation on pieces bounds what the receiver has to buffer", "-",
          "am-memory", judge_memory),
    Claim("IV", "one-sided progress costs two-sided messages next to nothing", "-", "am-interop",
          judge_two_sided),
    Claim("V-A, figure 3", "under fences a put costs least, and an active message most", "-",
          "am-latency", judge_order(("fence",))),
    Claim("V-A", "under locks it is similar", "-", "am-latency",
          judge_order(("exclusive", "shared"))),
    Claim("V-B, figure 4", "a single operation takes as long with the own thread as without", "-",
          "am-latency", judge_on_par),
    Claim("V-B, figures 4 and 5", "an external thread takes longer", "-", "am-latency",
          judge_external),
    Claim("V-B, figure 5", "the more so, the more operations there are", "-", "am-latency",
          judge_external_grows),
    Claim("V-B, figure 5(a)", "in shared memory many operations take less time with the own "
          "engine than without", "-", "am-latency", judge_many),
    Claim("V-C, figure 6", "passive epochs overlap with the own engine", "-", "am-overlap",
          judge_overlap),
    Claim("V-C, figure 6", "and with an external thread", "-", "am-overlap",
          judge_external_overlap),
    Claim("V-C, figure 6", "without either they do not", "-", "am-overlap", judge_no_overlap),
    Claim("V-C, figure 6", "there is a gap between the two threads", "-", "am-overlap",
          judge_gap),
    Claim("V-C", "active epochs do not overlap in any model", "-", "am-overlap", judge_active),
    Claim("V-D, figure 7(a)", "over a network two-sided messages slow down the other two models, "
          "and not the own thread", "-", None, a_network),
    Claim("V-D, figure 7(b)", "in shared memory they slow down the own engine, too", "-",
          "am-interop", judge_third("am", "ours")),
    Claim("V-D, figure 7(b)", "and accumulates without a thread", "-", "am-interop",
          judge_third("accumulate", "plain")),
    Claim("V-E, figure 8", "a stencil takes longer with the own engine than without", "-",
          "am-stencil", judge_stencil),
    Claim("V-E, figure 8", "and longer yet with an external thread", "-", "am-stencil",
          judge_stencil_external),
    Claim("V-E, figure 8", "on up to 20 x 20 processes", "400", None, many_processes),
    Claim("V-F, figure 9(a)", "scale 15: one accumulate for each peer beats one for each edge",
          "-", "am-bfs", judge_ways("ddt", "default", 15)),
    Claim("V-F, figure 9(a)", "scale 15: active messages beat one accumulate for each edge", "-",
          "am-bfs", judge_ways("am", "default", 15)),
    Claim("V-F, figure 9(a)", "scale 15: and one accumulate for each peer", "-", "am-bfs",
          judge_ways("am", "ddt", 15)),
    Claim("V-F, figure 9(b)", "scale 20: the same with 128 and 256 processes, and active messages "
          "fall behind with 512", "128 to 512", None, many_processes),
    Claim("V-F", "128 processes are the best number for scale 20", "128", None, many_processes),
)
