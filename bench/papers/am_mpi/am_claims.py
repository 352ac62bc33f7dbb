"""What section V of the paper on active messages in MPI says, and the judges of it.

A judge looks at each MPI by itself; the verdict is that of the least favourable one. What the paper
says of NON-ASYNC and EXT-ASYNC is of MPICH, so those judges look at MPICH alone. A *typical* ratio
is the geometric mean over all x. Where ranks outnumber the cores ("crowded") figures are of the
scheduler: they stand in the table, but nothing is judged by them.
"""
import math

import plan

ON_PAR = 1.25  # ratios from 1 / ON_PAR to ON_PAR are on par
MARGIN = 1.05  # below it two figures differ by noise
DIFFERS = 1.1  # from here on something is slower than something else, or slowed down
MODEST = 2.0  # an overhead up to here is modest
OVERLAPPED = 0.5  # of the computation at most: what overlaps with it takes no longer
IN_SERIES = 0.9  # of the computation at least: what does not overlap takes so long
SHORTEST_MS = 10  # of a computation with which something may overlap
CHUNKED = 1 / 8  # of a message: what its receiver keeps of it at most, where it comes in chunks
SCALE = 15  # of figure 9(a)
KIB = 1024
CROWDED = "ranks outnumber the cores, so that figures are of the scheduler"
RANK = {plan.BETTER: 0, plan.CONFIRMED: 1, plan.CANNOT: 2, plan.NOT_CONFIRMED: 3}


def typical(ratios):
    return math.exp(sum(map(math.log, ratios.values())) / len(ratios))


def of_mpis(rows, judge, only=None):
    """The verdict over all MPIs (`only`: or over that one): `judge` gets the rows of each."""
    names = [name for name in rows.all("mpi") if only in (None, name)]
    if not names:
        raise plan.Missing(f"no rows of {only}")
    verdicts, missing = {}, []
    for name in names:
        try:
            verdicts[name] = judge(rows.where(mpi=name))
        except plan.Missing as why:
            missing.append(f"{name}: {why}")
    if not verdicts:
        raise plan.Missing("; ".join(missing))
    ours = "; ".join(f"{name}: {verdict.ours}" for name, verdict in verdicts.items())
    worst = max(verdicts.values(), key=lambda verdict: RANK[verdict.word])
    reasons = [worst.why] + [f"not measured with {each}" for each in missing]
    return plan.Verdict(worst.word, ours, "; ".join(filter(None, reasons)))


def unless_crowded(rows, verdict):
    if "crowded" in rows.all("state"):
        return plan.cannot(CROWDED, verdict.ours)
    return verdict


def of_external(rows, verdict):
    """A verdict on EXT-ASYNC, which has a second thread for each rank that spins as well."""
    is_short = any(row["cores"] < 2 * row["ranks"] for row in rows.rows)
    why = "its threads share cores with ranks here" if is_short else ""
    return plan.Verdict(verdict.word, verdict.ours, why)


def least_or_most(rows, case, quantity="size"):
    """Typical ratios of accumulate to put, of am to put and of am to accumulate, in ours."""
    def ratio(one, other):
        keys = {"case": case, "quantity": quantity, "model": "ours"}
        return typical(rows.ratios(dict(keys, kind=one), dict(keys, kind=other)))
    return ratio("accumulate", "put"), ratio("am", "put"), ratio("am", "accumulate")


def put_is_least(case):
    def one(rows):
        accumulate, am, _ = least_or_most(rows, case)
        text = f"accumulate {accumulate:.2f}x, am {am:.2f}x of a put"
        is_least = min(accumulate, am) >= 1 / MARGIN
        return (plan.confirmed if is_least else plan.not_confirmed)(text)
    return lambda rows: of_mpis(rows, one)


def am_is_most(case):
    def one(rows):
        _, to_put, to_accumulate = least_or_most(rows, case)
        text = f"am {to_put:.2f}x of a put, {to_accumulate:.2f}x of an accumulate"
        is_most = min(to_put, to_accumulate) > MARGIN
        return (plan.confirmed if is_most else plan.better)(text)
    return lambda rows: of_mpis(rows, one)


def locks_do_the_same(rows):
    def one(rows):
        texts, holds = [], True
        for case in ("exclusive", "shared"):
            accumulate, am, to_accumulate = least_or_most(rows, case)
            holds = holds and min(accumulate, am) >= 1 / MARGIN and to_accumulate > MARGIN
            texts.append(f"{case} lock: accumulate {accumulate:.2f}x, am {am:.2f}x of a put")
        return (plan.confirmed if holds else plan.not_confirmed)(", ".join(texts))
    verdict = of_mpis(rows, one)
    return plan.Verdict(verdict.word, verdict.ours,
                        "; ".join(filter(None, [verdict.why, "PSCW is no part of the experiment"])))


def between(rows, case, quantity, one, other, kind="accumulate"):
    keys = {"case": case, "quantity": quantity, "kind": kind}
    return rows.ratios(dict(keys, model=one), dict(keys, model=other))


def on_par(case, quantity):
    """INT-ASYNC beside NON-ASYNC: an accumulate, as plain MPIs have no active messages."""
    def one(rows):
        ratio = typical(between(rows, case, quantity, "ours", "plain"))
        text = f"accumulate, ours: {ratio:.2f}x of plain"
        if ratio > ON_PAR:
            return plan.not_confirmed(text)
        return (plan.confirmed if ratio >= 1 / ON_PAR else plan.better)(text)
    return lambda rows: of_mpis(rows, one, "MPICH")


def external_is_behind(case, quantity):
    def one(rows):
        to_plain = typical(between(rows, case, quantity, "async", "plain"))
        to_ours = typical(between(rows, case, quantity, "async", "ours"))
        text = f"accumulate, async: {to_plain:.2f}x of plain, {to_ours:.2f}x of ours"
        is_behind = min(to_plain, to_ours) > DIFFERS
        return of_external(rows, (plan.confirmed if is_behind else plan.not_confirmed)(text))
    return lambda rows: of_mpis(rows, one, "MPICH")


def external_falls_behind(case):
    """By how many microseconds, of few operations and of many."""
    def one(rows):
        keys = {"case": case, "quantity": "count", "kind": "accumulate"}
        external, plain = (rows.values(**keys, model=model) for model in ("async", "plain"))
        first, last = min(plain), max(plain)
        lost = {x: external[x] - plain[x] for x in (first, last)}
        text = (f"async takes {lost[first]:.3g} us more for {first} operations and "
                f"{lost[last]:.3g} us more for {last}")
        grows = lost[last] > max(lost[first], (DIFFERS - 1) * plain[last])
        return of_external(rows, (plan.confirmed if grows else plan.not_confirmed)(text))
    return lambda rows: of_mpis(rows, one, "MPICH")


def internal_wins_of_many(case):
    def one(rows):
        ratios = between(rows, case, "count", "ours", "plain")
        last = max(ratios)
        text = f"{last} accumulates, ours: {ratios[last]:.2f}x of plain"
        return (plan.confirmed if ratios[last] < 1 / DIFFERS else plan.not_confirmed)(text)
    return lambda rows: of_mpis(rows, one, "MPICH")


def check_computation(rows):
    if min(rows.all("computed_ms")) < SHORTEST_MS:
        raise plan.Missing(f"a computation of less than {SHORTEST_MS} ms is too short to judge by")


def share_of_computation(rows, model, kind):
    """Of an epoch at its origin: the median over counts."""
    check_computation(rows)
    its = rows.where(quantity="passive", model=model, kind=kind).rows
    if not its:
        raise plan.Missing(f"no epochs of {kind}, {model}")
    shares = sorted(row["value"] / row["computed_ms"] for row in its)
    return shares[len(shares) // 2]


def overlaps(model, kind, only=None):
    def one(rows):
        share = share_of_computation(rows, model, kind)
        text = f"{kind}, {model}: {share:.3f} of the computation"
        return (plan.confirmed if share <= OVERLAPPED else plan.not_confirmed)(text)
    return lambda rows: of_mpis(rows, one, only)


def plain_waits(rows):
    def one(rows):
        share = share_of_computation(rows, "plain", "accumulate")
        text = f"accumulate, plain: {share:.3f} of the computation"
        return (plan.confirmed if share >= IN_SERIES else plan.not_confirmed)(text)
    return of_mpis(rows, one, "MPICH")


def internal_is_behind_external(rows):
    def one(rows):
        check_computation(rows)
        keys = {"quantity": "passive", "kind": "accumulate"}
        ratio = typical(rows.ratios(dict(keys, model="ours"), dict(keys, model="async")))
        text = f"passive accumulates, ours: {ratio:.2f}x of async"
        return (plan.confirmed if ratio > DIFFERS else plan.better)(text)
    return of_mpis(rows, one, "MPICH")


def active_waits(rows):
    """Of most operations: what the target's epoch takes beyond the computation, over their time."""
    def one(rows):
        check_computation(rows)
        keys = {"model": "ours", "kind": "am"}
        beyond, passive = (rows.values(**keys, quantity=each) for each in ("active", "passive"))
        last = max(beyond)
        computed = rows.rows[0]["computed_ms"]
        work = passive[last] if passive[last] < computed else passive[last] - computed
        text = (f"{last} am, ours: {beyond[last]:.3g} ms after the computation, "
                f"{work:.3g} ms alone")
        return (plan.confirmed if beyond[last] >= OVERLAPPED * work else plan.better)(text)
    return of_mpis(rows, one)


def slowed(rows, model, kind):
    """Epochs while a third rank sends messages to the target, over those without."""
    keys = {"quantity": "third", "model": model}
    return typical(rows.ratios(dict(keys, kind=f"{kind}+ptp"), dict(keys, kind=kind)))


NO_EXTERNAL = "two threads would spin for each rank, and ranks alone outnumber the cores"


def is_without_external(rows):
    crowded = rows.where(state="crowded")
    return bool(crowded) and not crowded.where(model="async")


def beside_messages(model, kind, is_slowed, only=None):
    """`is_slowed`: as the paper says."""
    def one(rows):
        if model == "async" and is_without_external(rows):
            return plan.cannot(NO_EXTERNAL)
        ratio = slowed(rows, model, kind)
        verdict = plan.confirmed if (ratio > DIFFERS) == is_slowed else plan.not_confirmed
        if verdict == plan.not_confirmed and is_slowed and model == "ours":
            verdict = plan.better
        return unless_crowded(rows, verdict(f"{kind}, {model}: {ratio:.2f}x beside messages"))
    return lambda rows: of_mpis(rows, one, only)


def external_is_slowed_most(rows):
    def one(rows):
        if is_without_external(rows):
            return plan.cannot(NO_EXTERNAL)
        external = slowed(rows, "async", "accumulate")
        others = slowed(rows, "plain", "accumulate"), slowed(rows, "ours", "am")
        text = f"async {external:.2f}x, plain {others[0]:.2f}x, am, ours {others[1]:.2f}x"
        is_most = external > max(*others, DIFFERS)
        return of_external(rows, (plan.confirmed if is_most else plan.not_confirmed)(text))
    return of_mpis(rows, one, "MPICH")


def steps_of_stencil(rows, one, other):
    """Typical ratio of two models, of steps by puts."""
    ratios = {}
    for quantity in rows.all("quantity"):
        for x, ratio in between(rows, "fence", quantity, one, other, "put").items():
            ratios[quantity, x] = ratio
    return typical(ratios)


def threads_cost_time(rows):
    def one(rows):
        ratio = steps_of_stencil(rows, "ours", "plain")
        text = f"a step by puts, ours: {ratio:.2f}x of plain"
        verdict = (plan.confirmed if ratio > DIFFERS else plan.better)(text)
        return unless_crowded(rows, verdict)
    return of_mpis(rows, one, "MPICH")


def external_costs_most(rows):
    def one(rows):
        if is_without_external(rows):
            return plan.cannot(NO_EXTERNAL)
        ratio = steps_of_stencil(rows, "async", "ours")
        text = f"a step by puts, async: {ratio:.2f}x of ours"
        return of_external(rows, (plan.confirmed if ratio > MARGIN else plan.not_confirmed)(text))
    return of_mpis(rows, one, "MPICH")


def way_before(faster, slower):
    """By searches of ours at SCALE, over the numbers of ranks for which there are cores."""
    def one(rows):
        mine = rows.where(quantity="us", model="ours", x=SCALE)
        if not mine:
            raise plan.Missing(f"no searches of ours at scale {SCALE}")
        ratios = {case: mine.value(case=case, kind=slower) / mine.value(case=case, kind=faster)
                  for case in mine.all("case")}
        roomy = [case for case in ratios if "crowded" not in mine.where(case=case).all("state")]
        text = ", ".join(f"{case}: {slower} takes {ratio:.2f}x of {faster}"
                         for case, ratio in ratios.items())
        if not roomy:
            return plan.cannot(CROWDED, text)
        is_faster = min(ratios[case] for case in roomy) > MARGIN
        why = f"by {' and '.join(roomy)} of one host alone"
        return (plan.confirmed if is_faster else plan.not_confirmed)(text, why)
    return lambda rows: of_mpis(rows, one)


def chunks_bound_memory(rows):
    def one(rows):
        [row] = rows.where(model="ours").rows
        text = f"{row['value']:.0f} KiB for a message of {row['x'] // KIB} KiB"
        is_bound = row["value"] * KIB <= CHUNKED * row["x"]
        return (plan.confirmed if is_bound else plan.not_confirmed)(text)
    return of_mpis(rows, one)


def modest_overhead(rows):
    def one(rows):
        _, _, ratio = least_or_most(rows, "fence")
        text = f"am, ours: {ratio:.2f}x of an accumulate"
        return (plan.confirmed if ratio <= MODEST else plan.not_confirmed)(text)
    return of_mpis(rows, one)


def competitive(rows):
    def one(rows):
        ratio = typical(between(rows, "fence", "size", "ours", "async"))
        text = f"accumulate, ours: {ratio:.2f}x of async"
        if ratio > ON_PAR:
            return plan.not_confirmed(text)
        return (plan.confirmed if ratio >= 1 / ON_PAR else plan.better)(text)
    return of_mpis(rows, one, "MPICH")


def cannot(why):
    return lambda: plan.cannot(why)
