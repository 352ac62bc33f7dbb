"""Verdicts on what the paper on RVMA says, from the rows of rvma_real.py and rvma_simulated.py."""
import statistics

import plan
import rvma_real
import rvma_simulated

NEAR = 0.1  # numbers agree that differ by at most a tenth
COMPARABLE = 1.25  # times are comparable up to this ratio
LITTLE, MUCH = 1.1, 1.5  # what matters little, or much: ratios of times
OVERHEAD = 1.01  # none while it takes at most so many times as long; faster: by more than that
LARGE_NUMBER = 10  # of exchanges, at sizes up to:
SMALL_BYTES = 4096
CONTEMPORARY_GBPS = 400  # at most
PAPERS_RDMA = ("rdma-usual", "rdma-put-ack", rvma_simulated.ASKING, "rdma-put-behind")
WHICH = "the paper does not say which RDMA stood beside it"


def is_near(value, number):
    return number * (1 - NEAR) <= value <= number * (1 + NEAR)


def texts(found, unit=""):
    return "; ".join(f"{name} {value:.3g}{unit}" for name, value in found.items())


def agreeing(found, number, unit=""):
    """A verdict on {what RDMA: our number}: confirmed if ours is near the paper's whichever RDMA it
    is, better if it is so or more for all; else what it agrees for is named."""
    near = [name for name, value in found.items() if is_near(value, number)]
    enough = [name for name, value in found.items() if value >= number * (1 - NEAR)]
    ours = texts(found, unit)
    if len(near) == len(found):
        return plan.confirmed(ours)
    if len(enough) == len(found):
        return plan.better(ours)
    also = f"within 10% only beside {' and '.join(near)}" if near else "beside none within 10%"
    above = [name for name in enough if name not in near]
    also += f"; more beside {' and '.join(above)}" if above else ""
    return plan.not_confirmed(ours, f"{also}; {WHICH}")


def holding(found, holds, unit=""):
    """The same for what holds or not: {what RDMA: figure}."""
    fulfilled = [name for name, value in found.items() if holds(value)]
    if len(fulfilled) == len(found):
        return plan.confirmed(texts(found, unit))
    which = f"only with {' and '.join(fulfilled)}" if fulfilled else "with none"
    return plan.not_confirmed(texts(found, unit), which)


# ---- Latency


def most_saved(rows, panels, rvma, other):
    """Percent of that way's latency, at the size where it is most."""
    ratios = [ratio for panel in panels if rows.where(panel=panel) for ratio in rows.ratios(
        {"panel": panel, "series": rvma}, {"panel": panel, "series": other}).values()]
    if not ratios:
        raise plan.Missing("no rows of " + " and ".join(panels))
    return 100 * (1 - min(ratios))


def saves(number, panels, rvma, others):
    """`others`: the ways of RDMA that keep to its rules where order is not kept."""
    def judge(rows):
        return agreeing({other: most_saved(rows, panels, rvma, other) for other in others}, number,
                        "%")
    return judge


REAL_OTHERS = (rvma_real.BEHIND, rvma_real.ACKNOWLEDGED)
SIMULATED_OTHERS = ("rdma-put-behind", "rdma-put-ack")


def real_saves(number, panels):
    return saves(number, panels, rvma_real.COUNTED, REAL_OTHERS)


def simulated_saves(number):
    return saves(number, tuple(rvma_simulated.PAIRS), rvma_simulated.RVMA, SIMULATED_OTHERS)


def is_superior(rvma, others):
    """At every size of every panel, to each of them."""
    def judge(rows):
        sizes, won = {}, {}
        for panel in rows.all("panel"):
            for other in others:
                ratios = rows.ratios({"panel": panel, "series": rvma},
                                     {"panel": panel, "series": other}).values()
                name = f"{panel}, {other}"
                sizes[name], won[name] = len(ratios), sum(ratio < 1 / OVERHEAD for ratio in ratios)
        ours = "less at " + "; ".join(f"{won[name]} of {sizes[name]} sizes ({name})"
                                      for name in sizes)
        return plan.confirmed(ours) if won == sizes else plan.not_confirmed(ours)
    return judge


def is_comparable(rvma, other):
    """The median over sizes; panels in which `other` does not rely on order are no matter here."""
    def judge(rows):
        found = {panel: statistics.median(rows.ratios(
            {"panel": panel, "series": rvma}, {"panel": panel, "series": other}).values())
                 for panel in rows.all("panel")}
        ours = "times the latency, median of the sizes: " + texts(found)
        if all(value <= 1 / COMPARABLE for value in found.values()):
            return plan.better(ours)
        slow = [panel for panel, value in found.items() if value > COMPARABLE]
        if not slow:
            return plan.confirmed(ours)
        return plan.not_confirmed(ours, f"more than {COMPARABLE} on {', '.join(slow)}")
    return judge


# ---- Set-up


def takes_many_exchanges(rows):
    found = {}
    for panel in rows.all("panel"):
        if panel.endswith(rvma_real.SETUP_TIME):
            continue
        counts = [row["value"] for row in rows.where(panel=panel).rows if row["x"] <= SMALL_BYTES]
        found[panel] = min(counts), max(counts)
    ours = (f"up to {SMALL_BYTES} B: "
            + "; ".join(f"{panel} {least} to {most}" for panel, (least, most) in found.items()))
    if all(least >= LARGE_NUMBER for least, _ in found.values()):
        return plan.confirmed(ours)
    return plan.not_confirmed(ours, f"fewer than {LARGE_NUMBER} somewhere")


def starts_without_setup(rows):
    found = {}
    for panel in rows.all("panel"):
        others = [name for name in rows.where(panel=panel).all("series") if "mailbox" not in name]
        found[panel] = max(rows.ratios({"panel": panel, "series": "message to a mailbox"},
                                       {"panel": panel, "series": others[0]}).values())
    ours = "of the time of a request, a reply and a put, at most: " + texts(found)
    return plan.confirmed(ours) if max(found.values()) < 1 else plan.not_confirmed(ours)


# ---- Promises


def order_is_free(rows):
    found = {}
    for panel in rows.all("panel"):
        ratios = [ratio for order in rvma_real.ORDERS[1:] for ratio in rows.ratios(
            {"panel": panel, "series": order}, {"panel": panel, "series": "forwards"}).values()]
        found[panel] = statistics.median(ratios)
    ours = "times the forward order's, median of sizes and orders: " + texts(found)
    return (plan.confirmed(ours) if max(found.values()) <= LITTLE else plan.not_confirmed(ours))


def promised(*names):
    """What was found is what must be, on each transport."""
    def judge(rows):
        meant = [row for row in rows.rows if row["series"] in names]
        if not meant:
            raise plan.Missing("no rows of " + ", ".join(names))
        wrong = [f"{row['panel']}, {row['series']}" for row in meant
                 if row["value"] != row["expected"]]
        last = {row["series"]: row for row in meant}
        ours = "; ".join(f"{name.split(': ')[1]} {row['value']} (must be {row['expected']})"
                         for name, row in last.items())
        ours += " on each of " + ", ".join(dict.fromkeys(row["panel"] for row in meant))
        return plan.not_confirmed(ours, "not so: " + "; ".join(wrong)) if wrong else \
            plan.confirmed(ours)
    return judge


def goes_back(rows):
    lost = rows.value(panel="rewind", series="ranks lost")
    differing = rows.value(panel="rewind", series="bytes that differ")
    size = rows.value(panel="rewind", series="bytes of the result")
    ours = f"{lost} rank lost, {differing} of {size} bytes of the result differ"
    good = lost == 1 and differing == 0 and size > 0
    return plan.confirmed(ours, "by software, of the whole job") if good else \
        plan.not_confirmed(ours)


ENTRY_BYTES = 24


def entry_is_small(rows):
    found = {row["series"]: row["value"] for row in rows.rows}
    ours = texts(found, " B")
    if max(found.values()) <= ENTRY_BYTES:
        return plan.confirmed(ours)
    return plan.not_confirmed(ours, "a mailbox of a library also keeps epochs, early messages and "
                              "lists; the paper's entry of a NIC has three addresses")


# ---- Motifs


def main_rows(rows, number):
    """Of the main form and the largest number of nodes of which no place is missing."""
    form = rvma_simulated.FORMS[number][0]
    meant = rows.where(form=form)
    if not meant:
        raise plan.Missing(f"no rows of {form}")
    places = {nodes: len(meant.where(nodes=nodes, series=rvma_simulated.RVMA).rows)
              for nodes in meant.all("nodes")}
    return meant.where(nodes=max(nodes for nodes, count in places.items()
                                 if count == max(places.values())))


def speed_ups(number, judge_of, where=lambda row: True):
    """A judge of {card: [speed-ups of places that are meant]}."""
    def judge(rows):
        meant = main_rows(rows, number)
        found = {card: [row["value"] for row in meant.where(series=card).rows if where(row)]
                 for card in PAPERS_RDMA}
        if not all(found.values()):
            raise plan.Missing("no cells of such places")
        verdict = judge_of(found)
        nodes = meant.rows[0]["nodes"]
        return plan.Verdict(verdict.word, f"{nodes} nodes: {verdict.ours}", verdict.why)
    return judge


def mean_is(papers):
    return lambda found: agreeing({card: statistics.mean(values)
                                   for card, values in found.items()}, papers)


def least_is(number):
    return lambda found: holding({card: min(values) for card, values in found.items()},
                                 lambda value: value >= number)


def is_contemporary(row):
    return row["Gbps"] <= CONTEMPORARY_GBPS


def is_adaptive(row):
    return row["routing"] != "static"


def place(topology, routing, Gbps):
    return lambda row: (row["topology"], row["routing"], row["Gbps"]) == (topology, routing, Gbps)


def ratios_of_times(meant, card, groups, compared):
    """The greatest over the least time in each group of places."""
    times = {}
    for row in meant.where(series=card).rows:
        if compared(row):
            times.setdefault(tuple(row[key] for key in groups), []).append(row["last_ns"])
    ratios = {group: max(each) / min(each) for group, each in times.items() if len(each) > 1}
    if not ratios:
        raise plan.Missing("no places to compare")
    return ratios


def routing_matters_little(rows):
    meant = main_rows(rows, 7)
    found = {card: max(ratios_of_times(meant, card, ("topology", "Gbps"), lambda row: True)
                       .values()) for card in (rvma_simulated.RVMA, *PAPERS_RDMA)}
    return holding(found, lambda value: value <= LITTLE)


def topology_matters_much(rows):
    """By rate: the least ratio of any card."""
    meant = main_rows(rows, 8)
    found = {}
    for card in (rvma_simulated.RVMA, *PAPERS_RDMA):
        for (Gbps,), ratio in ratios_of_times(
                meant, card, ("Gbps",), lambda row: not is_adaptive(row)).items():
            found[f"{Gbps} Gbps"] = min(ratio, found.get(f"{Gbps} Gbps", ratio))
    return holding(found, lambda value: value >= MUCH)


HYPERX = "hyperx static"


def best_is_hyperx(found_rows):
    """The greatest speed-up at a rate is that of HyperX with dimension order."""
    meant, found = main_rows(found_rows, 8), {}
    for card in PAPERS_RDMA:
        for Gbps in (400, 2000):
            rows = [row for row in meant.where(series=card).rows if row["Gbps"] == Gbps]
            if not rows:
                raise plan.Missing(f"no cells of {Gbps} Gbps")
            values = {row["x"]: row["value"] for row in rows}
            best = max(values, key=values.get)
            is_it = values.get(HYPERX, 0) * OVERHEAD >= values[best]  # or not less, but for 1%
            found[f"{card}, {Gbps} Gbps"] = HYPERX if is_it else best
    ours = "; ".join(f"{name}: {best}" for name, best in found.items())
    good = [best == HYPERX for best in found.values()]
    return plan.confirmed(ours) if all(good) else \
        plan.not_confirmed(ours, f"{sum(good)} of {len(good)} are it")


def by_rate(number, holds):
    """RVMA's time at 100 Gbps over that at 2,000, the mean of all places."""
    def judge(rows):
        meant = main_rows(rows, number).where(series=rvma_simulated.RVMA)
        slow, fast = ({row["x"]: row["last_ns"] for row in meant.rows if row["Gbps"] == Gbps}
                      for Gbps in (100, 2000))
        both = [slow[x] / fast[x] for x in slow if x in fast]
        if not both:
            raise plan.Missing("no cells of 100 and 2,000 Gbps")
        ratio = statistics.mean(both)
        ours = f"20 times the rate makes it {ratio:.2f} times as fast (mean of all places)"
        return plan.confirmed(ours) if holds(ratio) else plan.not_confirmed(ours)
    return judge


def gains_are_coordination(rows):
    """What each step of coordination costs: the mean of its time over that without it."""
    meant = main_rows(rows, 7)
    ack, asking, behind = (statistics.mean(row["value"] for row in meant.where(series=card).rows)
                           for card in ("rdma-put-ack", rvma_simulated.ASKING, "rdma-put-behind"))
    found = {"asking for buffers": asking / ack, "waiting, then telling": ack,
             "telling without waiting": behind}
    return holding(found, lambda value: value >= LITTLE)


def has_no_overhead(rows):
    """At no place of any form and number of nodes does RVMA take longer than the fastest card."""
    others = [row for row in rows.rows if row["series"] != rvma_simulated.RVMA]
    least = min(others, key=lambda row: row["value"])
    most = 1 / least["value"]
    ours = f"at most {most:.3f} times as long ({least['series']}, {least['panel']}, {least['x']})"
    return plan.confirmed(ours) if most <= OVERHEAD else plan.not_confirmed(ours)


def gains_more_with_less_pcie(rows):
    found = {}
    for form in rows.all("panel"):
        for card in PAPERS_RDMA:
            by_ns = rows.values(panel=form, series=card)
            found[f"{card}, {form}"] = by_ns[min(by_ns)] / by_ns[max(by_ns)]
    verdict = holding(found, lambda value: value >= 1)
    return plan.Verdict(verdict.word, "speed-up at 30 ns over that at 150 ns: " + verdict.ours,
                        verdict.why)


def cannot(why):
    return lambda: plan.cannot(why)
