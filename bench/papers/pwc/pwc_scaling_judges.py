"""Judges of the claims on figure 6 and section V; those of figures 3 to 5 are in pwc_judges.py."""
import statistics

import plan
from pwc_experiments import K
from pwc_judges import COMPARABLE, MARGIN, some

FLAT = 1.5                  # a latency stays as it is over nodes if its largest is within so much
FLAT_PROCESSOR = 2.0        # the same of processor time
FEW_PEER_BYTES = 64 * K     # of one that was met
FEW_BYTES = 4 * K * K       # of 10,000 that were not


def spread_of(rows, panel, low, high):
    """{series: the largest over the smallest} of ranks from `low` to `high`."""
    found = {}
    for series in rows.where(panel=panel).all("series"):
        values = [value for x, value in rows.values(panel=panel, series=series).items()
                  if low <= x <= high]
        if len(values) > 1:
            found[series] = max(values) / min(values)
    if not found:
        raise plan.Missing(f"{panel}: fewer than two numbers of ranks from {low} to {high}")
    return found


def stays(panel, low, high, factor, is_needed=True):
    """`is_needed`: rows of `high` itself are."""
    def judge(rows):
        ranks = rows.where(panel=panel).all("x")
        if is_needed and high not in ranks:
            raise plan.Missing(f"no rows of {high}")
        found = spread_of(rows, panel, low, high)
        worst = max(found, key=found.get)
        text = (f"within {found[worst]:.2f} x from {min(x for x in ranks if x >= low)} to "
                f"{max(x for x in ranks if x <= high)}; the worst: {worst}")
        if found[worst] > factor:
            return plan.not_confirmed(text)
        return plan.confirmed(text, "" if high in ranks else
                              f"as far as {max(ranks)} processes of one host can tell")
    return judge


def varies(rows):
    """The slowest run of a size beside the fastest one, of all numbers of ranks."""
    found = [row["most"] / row["least"] for row in rows.where(panel="latency shm").rows]
    typical, off = statistics.median(found), max(found)
    if off == 1:
        raise plan.Missing("there was one run")
    text = f"the slowest run takes {typical:.2f} x the fastest, at most {off:.2f} x"
    return plan.confirmed(text) if typical > MARGIN else plan.better(text)


def memory_is_small(rows):
    unknown = max(row["value"] for row in rows.where(panel="never met", x=10000).rows) * K
    each = max(row["value"] for row in rows.where(panel="met").rows) * K
    text = (f"{unknown / K:.0f} KiB for 10,000 that were not met; {each / K:.0f} KiB for each "
            "that was")
    if unknown <= FEW_BYTES and each <= FEW_PEER_BYTES:
        return plan.better(text, f"10,000 that were all met take {each * 10000 / 1e6:.0f} MB")
    return plan.confirmed(text)


# Section V

def as_cheap_as_messages(panel):
    def judge(rows):
        is_rate = panel.startswith("rate")
        ratios = rows.ratios({"panel": panel, "series": "probe callbacks"},
                             {"panel": panel, "series": "active messages"})
        ratio = 1 / some(ratios) if is_rate else some(ratios)
        text = f"{ratio:.2f} x the cost of active messages"
        if ratio < 1 / COMPARABLE:
            return plan.better(text)
        return plan.confirmed(text) if ratio <= COMPARABLE else plan.not_confirmed(text)
    return judge
