"""Judges of the paper's claims: each looks at rows and says confirmed, better or not. Where the
paper compares with GASNet and that is not installed, its claim cannot be tested, and the figure
beside the better MPI stands there for information."""
import math
import statistics

import plan
import pwc_gasnet
from pwc_experiments import AM, FREE, K, ODD, PHOTON, series_of_id

COMPARABLE = 1.25  # within it, two figures are comparable
JUMP = 1.2         # a step of a latency from one size to the next that shows
MUCH = 2.0         # "significantly" more
SMALL = 1 * K      # bytes; small messages
MARGIN = 1.05        # below it two figures differ by noise
MPIS = ("MPICH", "Open MPI")
GASNET = pwc_gasnet.NAME


def better_mpi(rows, panel):
    """{x: (the better value)} of those that are there; bandwidths are better if larger."""
    pick = max if " bandwidth " in panel else min
    found = {}
    for row in rows.where(panel=panel).rows:
        if row["series"] in MPIS:
            found.setdefault(row["x"], []).append(row["value"])
    if not found:
        raise plan.Missing("no rows of an MPI")
    return {x: pick(values) for x, values in found.items()}


def cost_ratios(rows, panel, other, series=PHOTON):
    """{x: by how much Photon's cost is that of the other}: of bandwidths the inverse."""
    ours = rows.values(panel=panel, series=series)
    theirs = better_mpi(rows, panel) if other is MPIS else rows.values(panel=panel, series=other)
    shared = [x for x in ours if x in theirs]
    if not shared:
        raise plan.Missing(f"{panel}: no size that both have")
    is_rate = " bandwidth " in panel
    return {x: theirs[x] / ours[x] if is_rate else ours[x] / theirs[x] for x in shared}


def some(ratios, low=0, high=float("inf")):
    found = [value for x, value in ratios.items() if low <= x <= high]
    if not found:
        raise plan.Missing(f"no sizes from {low} to {high}")
    return statistics.median(found)


def has(rows, panel, series):
    return bool(rows.where(panel=panel, series=series))


def has_gasnet(rows, panel):
    if not rows.where(panel=panel):
        raise plan.Missing(f"no rows of {panel}")
    return has(rows, panel, GASNET)


def beside_mpi(rows, panel, low=0, high=float("inf")):
    ratio = some(cost_ratios(rows, panel, MPIS), low, high)
    return f"{ratio:.2f} x the cost of the better MPI"


def against_gasnet(panel, judge, low=0, high=float("inf")):
    """`judge` gets the rows and ratios of Photon's cost to GASNet's."""
    def judged(rows):
        if has_gasnet(rows, panel):
            return judge(rows, cost_ratios(rows, panel, GASNET))
        try:
            ours = beside_mpi(rows, panel, low, high)
        except plan.Missing:
            ours = "-"
        return plan.cannot("GASNet-EX is not installed", ours)
    return judged


def comparable(low=0, high=float("inf")):
    """Photon is as good as the other, or better."""
    def judge(_, ratios):
        ratio = some(ratios, low, high)
        text = f"{ratio:.2f} x GASNet's cost"
        if ratio < 1 / COMPARABLE:
            return plan.better(text)
        return plan.confirmed(text) if ratio <= COMPARABLE else plan.not_confirmed(text)
    return judge


def falls_behind(_, ratios):
    """Small messages cost Photon more."""
    ratio = some(ratios, 0, SMALL)
    text = f"{ratio:.2f} x GASNet's cost"
    return plan.confirmed(text) if ratio > COMPARABLE else plan.better(text)


def sometimes_better(_, ratios):
    least = min(ratios.values())
    text = f"{least:.2f} to {max(ratios.values()):.2f} x GASNet's cost"
    return plan.confirmed(text) if least < 1 / MARGIN else plan.not_confirmed(text)


def even(_, ratios):
    spread = max(ratios.values()) / min(ratios.values())
    text = f"the ratio to GASNet varies by {spread:.2f}"
    return plan.confirmed(text) if spread <= COMPARABLE else plan.not_confirmed(text)


def slower_between(low, high):
    """Photon falls behind from `low` on and has caught up at `high`."""
    def judge(_, ratios):
        middle = some(ratios, low, high - 1)
        after = some(ratios, high)
        text = f"{middle:.2f} x GASNet's cost in between, then {after:.2f}"
        if middle <= COMPARABLE:
            return plan.better(text)
        return plan.confirmed(text) if after <= COMPARABLE else plan.not_confirmed(text)
    return judge


def behind_by(low_us, high_us, panel):
    def judge(rows, _):
        ours, theirs = rows.values(panel=panel, series=PHOTON), rows.values(panel=panel,
                                                                             series=GASNET)
        more = statistics.median(ours[x] - theirs[x] for x in ours if x <= SMALL and x in theirs)
        text = f"{more:+.3f} us"
        if more < low_us:
            return plan.better(text)
        return plan.confirmed(text) if more <= high_us else plan.not_confirmed(text)
    return judge


def gasnet_jumps(panel, before, after, factor=JUMP):
    def judge(rows):
        if not has_gasnet(rows, panel):
            return plan.cannot("GASNet-EX is not installed")
        at = rows.where(panel=panel, series=GASNET)
        jump = at.value(x=after) / at.value(x=before)
        text = f"{jump:.2f} x from {before} to {after} B"
        return plan.confirmed(text) if jump >= factor else plan.not_confirmed(text)
    return judge


# Photon alone

def jumps_at_mode(rows):
    """From the largest put that a record carries to the next size."""
    at = rows.where(panel="put latency tcp", series=PHOTON)
    jump = at.value(x=256) / at.value(x=128)
    text = f"{jump:.2f} x from 128 to 256 B"
    return plan.confirmed(text) if jump >= JUMP else plan.better(text, "no step is seen")


def needs_alignment(panel):
    """What ours takes stands beside it: a copy by processors asks for no alignment."""
    def judge(rows):
        ratio = some(rows.ratios({"panel": panel, "series": ODD},
                                 {"panel": panel, "series": PHOTON}), 0, SMALL)
        return plan.cannot("it is about Aries NICs", f"{ratio:.2f} x at odd addresses")
    return judge


def header_bytes(rows):
    """Photon's record has lines of 64 bytes."""
    extra = rows.values(panel="extra bytes tcp", series=PHOTON)
    most, least = max(extra.values()), min(extra.values())
    text = f"{least:.0f} to {most:.0f} bytes"
    return (plan.better if most < 28 else plan.confirmed if least <= 28 * COMPARABLE else
            plan.not_confirmed)(text, "a record is whole lines of 64 bytes")


def gets_are_even(rows):
    found = rows.values(panel="get latency tcp", series=PHOTON)
    small = [value for x, value in found.items() if 8 <= x <= 256]
    if len(small) < 2:
        raise plan.Missing("fewer than two small sizes")
    spread = max(small) / min(small)
    text = f"8 to 256 B: within {spread:.2f} x"
    return plan.confirmed(text) if spread <= COMPARABLE else plan.not_confirmed(text)


def mpi_is_slow(panel):
    """Small messages: even the better MPI takes significantly longer."""
    def judge(rows):
        ratio = 1 / some(cost_ratios(rows, panel, MPIS), 0, SMALL)
        text = f"the better MPI takes {ratio:.2f} x as long"
        return plan.confirmed(text) if ratio >= MUCH else plan.not_confirmed(text)
    return judge


def mpi_converges(panel):
    def judge(rows):
        ratio = some(cost_ratios(rows, panel, MPIS), 64 * K)
        text = f"Photon takes {ratio:.2f} x as long from 64 KiB on"
        if ratio < 1 / COMPARABLE:
            return plan.better(text)
        return plan.confirmed(text) if ratio <= COMPARABLE else plan.not_confirmed(text)
    return judge


def lags(panel):
    """Small messages: Photon's bandwidth is below that of the better MPI."""
    def judge(rows):
        share = 1 / some(cost_ratios(rows, panel, MPIS), 0, SMALL)
        text = f"{share:.2f} of the better MPI's, up to {SMALL} B"
        return plan.confirmed(text) if share < 1 / COMPARABLE else plan.better(text)
    return judge


def catches_up(panel, from_bytes):
    def judge(rows):
        share = 1 / some(cost_ratios(rows, panel, MPIS), from_bytes)
        text = f"{share:.2f} of the better MPI's from {from_bytes // K} KiB on"
        if share > COMPARABLE:
            return plan.better(text)
        return plan.confirmed(text) if share >= 1 / COMPARABLE else plan.not_confirmed(text)
    return judge


def same_trend(rows):
    share = 1 / some(cost_ratios(rows, "put bandwidth shm", MPIS), 0, SMALL)
    after = 1 / some(cost_ratios(rows, "put bandwidth shm", MPIS), 4 * K)
    text = f"{share:.2f} of the better MPI's when small, then {after:.2f}"
    if share >= 1 / COMPARABLE and after >= 1 / COMPARABLE:
        return plan.better(text)
    return plan.confirmed(text) if after >= 1 / COMPARABLE else plan.not_confirmed(text)


def gets_pipeline_better(rows):
    """How many times as many gets a second there are when all are posted at once."""
    gains = {}
    for network in ("tcp", "shm"):
        us = rows.values(panel=f"get latency {network}", series=PHOTON)
        MBps = rows.values(panel=f"get bandwidth {network}", series=PHOTON)
        gains[network] = some({x: us[x] * MBps[x] / x for x in us if x in MBps}, 0, SMALL)
    text = (f"many at once: {gains['shm']:.1f} x the rate of one by one over shm, "
            f"{gains['tcp']:.1f} x over tcp")
    is_so = gains["shm"] > MARGIN * gains["tcp"]
    return plan.confirmed(text) if is_so else plan.not_confirmed(text)


def faster_network(rows):
    faster = [rows.value(panel=f"{verb} latency tcp", series=PHOTON, x=8)
              / rows.value(panel=f"{verb} latency shm", series=PHOTON, x=8)
              for verb in ("put", "get")]
    text = f"8 B over shm: put {faster[0]:.0f} x, get {faster[1]:.0f} x as fast as over tcp"
    return plan.confirmed(text) if min(faster) >= MUCH else plan.not_confirmed(text)


def source_is_free(rows):
    ratio = some(rows.ratios({"panel": "put latency tcp", "series": FREE},
                             {"panel": "put latency tcp", "series": PHOTON}), 0, 128)
    text = f"{ratio:.2f} x the time until the bytes have landed"
    return plan.confirmed(text) if ratio <= 1 / COMPARABLE else plan.not_confirmed(text)


def comparable_overall(what):
    """Against both MPIs, over both networks, puts and gets."""
    def judge(rows):
        panels = [f"{verb} {what} {network}" for verb in ("put", "get")
                  for network in ("tcp", "shm")]
        found = {panel: some(cost_ratios(rows, panel, MPIS)) for panel in panels}
        worst = max(found, key=found.get)
        wins = sum(ratio < 1 / MARGIN for ratio in found.values())
        text = (f"{wins} of {len(found)} are faster than the better MPI; worst: {worst}, "
                f"{found[worst]:.2f} x its cost")
        if wins == len(found):
            return plan.better(text)
        return plan.confirmed(text) if found[worst] <= COMPARABLE else plan.not_confirmed(text)
    return judge


# Figure 5: over shm, the network of lower latency

TRIPS = "latency shm"


def messages_of(rows):
    """GASNet's active messages, or else Photon's own, and words for them."""
    if has_gasnet(rows, TRIPS):
        return GASNET, "GASNet's active messages"
    return AM, "Photon's own active messages (GASNet-EX is not installed)"


def beats_messages(rows):
    series, words = messages_of(rows)
    ratio = some(rows.ratios({"panel": TRIPS, "series": series_of_id(8)},
                             {"panel": TRIPS, "series": series}), 0, 256)
    text = f"{ratio:.2f} x the time of {words}"
    return plan.confirmed(text) if ratio < 1 / MARGIN else plan.not_confirmed(text)


def as_good_as_others(rows):
    """Puts with ids of 8 bytes, of all sizes, beside the active messages of another library."""
    if has_gasnet(rows, TRIPS):
        ratios = rows.ratios({"panel": TRIPS, "series": series_of_id(8)},
                             {"panel": TRIPS, "series": GASNET})
        return comparable()(rows, ratios)
    return plan.cannot("GASNet-EX is not installed", beats_messages(rows).ours)


def two_bytes_cost_more(rows):
    ratio = some(rows.ratios({"panel": TRIPS, "series": series_of_id(2)},
                             {"panel": TRIPS, "series": series_of_id(64)}), 0, 256)
    text = f"2 B: {ratio:.2f} x the time of 64 B"
    return plan.confirmed(text) if ratio > MARGIN else plan.better(text)


def messages_jump(rows):
    series, words = messages_of(rows)
    at = rows.where(panel=TRIPS, series=series)
    jump = at.value(x=1024) / at.value(x=512)
    text = f"{jump:.2f} x from 512 B to 1 KiB: {words}"
    if series != GASNET:
        return plan.cannot("GASNet-EX is not installed", text)
    return plan.confirmed(text) if jump >= JUMP else plan.not_confirmed(text)


def ids_of(rows):
    return [series for series in rows.where(panel=TRIPS).all("series") if " ids of " in series]


def messages_stay_higher(rows):
    series, words = messages_of(rows)
    ratios = {ids: some(rows.ratios({"panel": TRIPS, "series": series},
                                    {"panel": TRIPS, "series": ids}), K) for ids in ids_of(rows)}
    text = (f"from 1 KiB on they take {min(ratios.values()):.2f} to {max(ratios.values()):.2f} x "
            f"as long: {words}")
    is_so = min(ratios.values()) > MARGIN
    return plan.confirmed(text) if is_so else plan.not_confirmed(text)


def steps_in(points):
    """Sizes at which a line of latencies falls, or rises more than its size, or rises by more a
    doubling than on either side."""
    points = sorted(points.items())
    slopes = [math.log(after / before) / math.log(large / small)
              for (small, before), (large, after) in zip(points, points[1:])]
    found = []
    for i, slope in enumerate(slopes):
        grown = points[i + 1][1] / points[i][1]
        beside = slopes[max(i - 1, 0):i] + slopes[i + 1:i + 2]
        stands_out = all(2 ** (slope - each) > JUMP for each in beside) and grown > JUMP
        if (grown < 1 / COMPARABLE or grown > COMPARABLE * points[i + 1][0] / points[i][0]
                or stands_out):
            found.append((points[i + 1][0], grown))
    return found


def is_smooth(rows):
    """Latencies by `steps_in`; no bandwidth falls."""
    rough = []
    for ids in ids_of(rows):
        name = ids.split(",")[1].strip()
        rough += [f"{name}, latency at {size} B: {grown:.2f} x"
                  for size, grown in steps_in(rows.values(panel=TRIPS, series=ids))]
        rates = sorted(rows.values(panel="bandwidth shm", series=ids).items())
        rough += [f"{name}, bandwidth at {size} B: {after / before:.2f} x"
                  for (_, before), (size, after) in zip(rates, rates[1:])
                  if after < before / COMPARABLE]
    text = "; ".join(rough[:3]) or "no step in any line"
    if len(rough) > 3:
        text += f"; and {len(rough) - 3} more"
    return plan.not_confirmed(text) if rough else plan.confirmed(text)
