"""What section 4 and the tables of the paper on zero-copy messages say, and the judges of it.

A *speed-up* is the time of a regular message over that of a zero-copy one. The *threshold* of a way
is the smallest size from which on all speed-ups are above 1.
"""
import plan

ON_PAR = 1.25  # speed-ups from 1 / ON_PAR to ON_PAR are alike
MUCH = 2.0  # a speed-up from here on is a large one; and so many times less memory is less
RISING = 0.75  # of pairs of sizes at least: where a speed-up grows with the size
NEAR_THRESHOLD = 2  # a threshold up to so many times the paper's is confirmed
LARGE = 1 << 20  # sizes from here on are large ones
SMALL = 1 << 10  # and up to here small ones
NO_NIC = "this machine has no network card that reads and writes memory (RDMA)"

# Tables 2 (within a host) and 3 (between hosts): machine, way, least and most speed-up, threshold.
TABLE_2 = (("Stampede2", "CMA", 1.2, 3.72, 8 << 10), ("Stampede2", "ofi", 1.4, 3.7, 16 << 10),
           ("Cori", "CMA", 1.13, 3.5, 1 << 10), ("Cori", "gni", 1.2, 5.8, 16 << 10),
           ("workstation", "CMA", 1.3, 26, 512))
TABLE_3 = (("iForge", "ucx", 1.1, 11.4, 16 << 10), ("iForge", "verbs", 1.2, 8.4, 32 << 10),
           ("Stampede2", "ofi", 1.3, 11.5, 32 << 10), ("Cori", "gni", 1.2, 7.8, 16 << 10),
           ("Cori", "mpi", 1.07, 4.7, 32 << 10))


def size_text(size):
    for shift, unit in ((20, " MiB"), (10, " KiB")):
        if size >= 1 << shift:
            return f"{size >> shift}{unit}"
    return f"{size} bytes"


def speed_ups(rows, way):
    return rows.ratios({"way": way, "series": "regular"}, {"way": way, "series": "zero-copy"})


def threshold_of(ratios):
    threshold = None
    for size in sorted(ratios, reverse=True):
        if ratios[size] <= 1:
            break
        threshold = size
    return threshold


def range_text(ratios):
    threshold = threshold_of(ratios)
    if threshold is None:
        return f"no threshold up to {size_text(max(ratios))}"
    gains = [ratio for size, ratio in ratios.items() if size >= threshold]
    return f"{min(gains):.2f}x to {max(gains):.2f}x, from {size_text(threshold)} on"


def require_large(ratios):
    if max(ratios) < LARGE:
        raise plan.Missing(f"no sizes from {size_text(LARGE)} on")
    return ratios


def gain(way, paper_most):
    """The largest speed-up."""
    def judge(rows):
        ratios = require_large(speed_ups(rows, way))
        most, text = max(ratios.values()), range_text(ratios)
        if most > ON_PAR * paper_most:
            return plan.better(text)
        return (plan.confirmed if most >= paper_most / ON_PAR else plan.not_confirmed)(text)
    return judge


def threshold(way, paper_threshold):
    def judge(rows):
        ratios = require_large(speed_ups(rows, way))
        ours = threshold_of(ratios)
        if ours is None:
            return plan.not_confirmed(range_text(ratios))
        if ours * NEAR_THRESHOLD <= paper_threshold:
            return plan.better(size_text(ours))
        is_near = ours <= NEAR_THRESHOLD * paper_threshold
        return (plan.confirmed if is_near else plan.not_confirmed)(size_text(ours))
    return judge


def no_nic(way, name):
    """What stands nearest is told all the same."""
    return lambda rows: plan.cannot(NO_NIC, f"{name}: {range_text(speed_ups(rows, way))}")


def never():
    return plan.cannot(NO_NIC)


def of_ways(ways, one):
    """The verdict over those ways; `one`: of speed-ups, a word and a text."""
    def judge(rows):
        found = {way: one(speed_ups(rows, way)) for way in ways}
        text = "; ".join(f"{way}: {words}" for way, (_, words) in found.items())
        words = [word for word, _ in found.values()]
        for word in (plan.NOT_CONFIRMED, plan.CONFIRMED):
            if word in words:
                return plan.Verdict(word, text)
        return plan.better(text)
    return judge


def regular_wins_small(ratios):
    size = min(ratios)
    word = plan.CONFIRMED if ratios[size] < 1 else plan.BETTER
    return word, f"{ratios[size]:.2f}x at {size_text(size)}"


def zero_copy_wins_large(ratios):
    require_large(ratios)
    word = plan.NOT_CONFIRMED if threshold_of(ratios) is None else plan.CONFIRMED
    return word, range_text(ratios)


def grows(ratios):
    sizes = sorted(require_large(ratios))
    pairs = [(small, large) for i, small in enumerate(sizes) for large in sizes[i + 1:]]
    share = sum(ratios[large] > ratios[small] for small, large in pairs) / len(pairs)
    word = plan.CONFIRMED if share >= RISING else plan.NOT_CONFIRMED
    return word, f"in {100 * share:.0f}% of pairs of sizes"


def offer_is_constant(rows):
    """Zero-copy times of small sizes, which are those of the messages around the array."""
    times = [value for size, value in rows.values(way="cma", series="zero-copy").items()
             if size <= SMALL]
    spread = max(times) / min(times)
    text = f"{min(times):.2f} to {max(times):.2f} us up to {size_text(SMALL)}, with CMA"
    return (plan.confirmed if spread <= ON_PAR else plan.not_confirmed)(text)


def copies_are_alike(rows):
    ratios = {size: ratio for size, ratio in require_large(speed_ups(rows, "served")).items()
              if size >= LARGE}
    low, high = min(ratios.values()), max(ratios.values())
    text = f"{low:.2f}x to {high:.2f}x from {size_text(LARGE)} on"
    if low < 1 / ON_PAR:
        return plan.not_confirmed(text)
    return (plan.confirmed if high <= ON_PAR else plan.better)(text)


def cma_is_much_better(rows):
    ratios = require_large(speed_ups(rows, "cma"))
    most = max(ratio for size, ratio in ratios.items() if size >= LARGE)
    text = f"up to {most:.2f}x from {size_text(LARGE)} on"
    return (plan.confirmed if most >= MUCH else plan.not_confirmed)(text)


def improvement(paper_share):
    def judge(rows):
        share = 1 - 1 / max(require_large(speed_ups(rows, "hosts")).values())
        word = plan.confirmed if share >= paper_share else plan.not_confirmed
        return word(f"{100 * share:.0f}%")
    return judge


def memory_improves(rows):
    grown = {row["series"]: row["value"] for row in rows.rows}
    buffers = [value for series, value in grown.items() if "message" not in series]
    messages = [value for series, value in grown.items() if "message" in series]
    if not buffers or not messages:
        raise plan.Missing("no buffers or no message")
    text = ", ".join(f"{series}: {value:.1f} MiB" for series, value in grown.items())
    is_less = MUCH * max(buffers) <= min(messages)
    return (plan.confirmed if is_less else plan.not_confirmed)(text)
