"""What the paper on LibPhotonNBC says of its results, and how our rows are judged."""
import nbc_profile
import plan
from nbc_measure import CLASSIC, LARGE, SMALL, SMALL_CLASSIC

MPIS = ("Open MPI", "MPICH")
LIBNBC = "Open MPI"  # whose non-blocking operations are LibNBC's, as a component
COMPARABLE = 1.25  # two times are alike within this factor
MARGIN = 1.05  # below it two figures differ by noise
CLOSE = 2  # and one follows the other closely within this one
SIGNIFICANT = 25  # percent of the time
HIDDEN = 50  # percent of an operation
SLOWDOWN = (15, 20)  # the paper's, of small operations
LARGE_SLOWDOWN = 1.5


def over_best_mpi(rows, panel, series="Photon"):
    """{x: our time over that of the faster MPI}."""
    best = {}
    for mpi in MPIS:
        for row in rows.where(panel=panel, series=mpi).rows:
            best[row["x"]] = min(best.get(row["x"], row["value"]), row["value"])
    ours = rows.values(panel=panel, series=series)
    ratios = {x: us / best[x] for x, us in ours.items() if x in best}
    if not ratios:
        raise plan.Missing(f"no figures of an MPI beside ours in '{panel}'")
    return ratios


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def words_of(ratios):
    x, few = max(ratios, key=ratios.get), min(ratios)
    return (f"{ratios[few]:.2f} of the faster MPI's time with {few} ranks, at most {ratios[x]:.2f} "
            f"(with {x})")


def why_of(rows, panel, ratios, limit):
    """If it would hold for ranks that have a core each, that is the reason."""
    crowded = {row["x"] for row in rows.where(panel=panel).rows if row["shares_cores"]}
    others = [ratio for x, ratio in ratios.items() if x not in crowded]
    return ("where ranks share cores; not where each has its own" if others
            and max(others) <= limit else "")


def judge_slowdown(panel, series="Photon"):
    """The greatest one: is it the paper's 15 to 20?"""
    def judge(rows):
        ratios = over_best_mpi(rows, panel, series)
        worst, ours = max(ratios.values()), words_of(ratios)
        if worst < SLOWDOWN[0] / COMPARABLE:
            return plan.better(ours)
        if worst <= SLOWDOWN[1] * COMPARABLE:
            return plan.confirmed(ours)
        return plan.not_confirmed(ours, why_of(rows, panel, ratios, SLOWDOWN[1] * COMPARABLE))
    return judge


def judge_large(series="Photon"):
    def judge(rows):
        ratios = over_best_mpi(rows, "allreduce large", series)
        average = mean(ratios.values())
        ours = f"{average:.2f} times the faster MPI's time on average: " + words_of(ratios)
        if average < LARGE_SLOWDOWN / COMPARABLE:
            return plan.better(ours)
        if average <= LARGE_SLOWDOWN * COMPARABLE:
            return plan.confirmed(ours)
        return plan.not_confirmed(ours, why_of(rows, "allreduce large", ratios,
                                               LARGE_SLOWDOWN * COMPARABLE))
    return judge


def judge_large_gains(series="Photon"):
    """512 KiB against one number, beside MPI."""
    def judge(rows):
        small = over_best_mpi(rows, "allreduce small", series)
        large = over_best_mpi(rows, "allreduce large", series)
        both = [x for x in small if x in large]
        if not both:
            raise plan.Missing(f"{series} has no number of ranks with both sizes")
        few, much = mean(small[x] for x in both), mean(large[x] for x in both)
        ours = f"{few:.2f} of the faster MPI's time for one number, {much:.2f} for 512 KiB"
        if MARGIN * much < few:
            return plan.confirmed(ours)
        if max(few, much) <= COMPARABLE:
            return plan.better(ours, "small operations are not behind, either")
        return plan.not_confirmed(ours)
    return judge


def judge_follows(mpi):
    """Figure 7: near it at all sizes, and behind it at all sizes."""
    def judge(rows):
        panels = [panel for panel in rows.all("panel") if panel.startswith("allreduce")]
        ratios, words = [], []
        for panel in panels:
            some = rows.ratios({"panel": panel, "series": "Photon"},
                               {"panel": panel, "series": mpi}).values()
            ratios += some
            words.append(f"{min(some):.3g} to {max(some):.3g} ({panel})")
        low, high = min(ratios), max(ratios)
        ours = f"of {mpi}'s time over size: " + ", ".join(words)
        if high <= MARGIN:
            return plan.better(ours)
        if high > CLOSE:
            return plan.not_confirmed(ours, f"farther than {CLOSE} times it at some size")
        if low >= 1 / MARGIN:
            return plan.confirmed(ours)
        return plan.better(ours, "close where it is slower, and not slower everywhere")
    return judge


def judge_hiding(rows):
    """Of operations of 512 KiB and more, the best of what a caller may do."""
    shares = {panel: mean(row["value"] for row in rows.rows if row["panel"] == panel
                          and row["series"].startswith("Photon") and row["x"] >= LARGE)
              for panel in ("untouched", "looks")
              if any(row["panel"] == panel and row["x"] >= LARGE
                     and row["series"].startswith("Photon") for row in rows.rows)}
    if not shares:
        raise plan.Missing(f"no operation of {LARGE >> 10} KiB")
    theirs = [row["value"] for row in rows.rows if row["series"] in MPIS and row["x"] >= LARGE]
    ours = (", ".join(f"{share:.0f} % hidden ({panel})" for panel, share in shares.items())
            + (f"; the MPIs {min(theirs):.0f} to {max(theirs):.0f} %" if theirs else ""))
    if max(shares.values()) >= HIDDEN:
        return plan.confirmed(ours)
    return plan.not_confirmed(ours, "within a host an operation is copies and sums, done by cores "
                              "that compute")


def judge_bandwidth(rows):
    """The larger operation is nearer to what two bare processes do. That is the effect; there are
    no figures of the causes that the paper names."""
    ratios = rows.ratios({"series": "Photon"}, {"series": "two bare processes"})
    ours = (f"{ratios[SMALL]:.2f} times the bare exchange with {SMALL} bytes, "
            f"{ratios[LARGE]:.2f} with 512 KiB")
    if MARGIN * ratios[LARGE] < ratios[SMALL]:
        return plan.confirmed(ours, "that large operations do better; the causes were not measured")
    return plan.not_confirmed(ours)


def judge_room(rows):
    ratio = rows.ratios({"series": "Photon"}, {"series": "two bare processes"})[SMALL]
    ours = (f"{ratio:.2f} times the bare exchange with {SMALL} bytes: at most "
            f"{max(100 * (1 - 1 / ratio), 0):.0f} % of the time are the library's")
    if ratio <= COMPARABLE:
        return plan.better(ours, "little is left to improve")
    return plan.confirmed(ours)


def shares(rows):
    """{series: {group: percent}}; a note of rows says why there are none."""
    found = {}
    for row in rows.where(panel="profile").rows:
        found.setdefault(row["series"], {})[row["x"]] = row["value"]
    if not found:
        raise plan.Missing("no profile")
    return found


def judge_testing(rows):
    found = shares(rows)
    both = {series: each["testing"] + each["matching"] for series, each in found.items()}
    ours = ", ".join(f"{share:.0f} % ({series})" for series, share in both.items())
    if min(both.values()) >= SIGNIFICANT:
        return plan.confirmed(ours, "waiting for the other rank is part of testing")
    if max(both.values()) < SIGNIFICANT:
        return plan.better(ours)
    return plan.not_confirmed(ours, "in some ways only")


def judge_matching(rows):
    found = {series: each["matching"] for series, each in shares(rows).items()
             if series != nbc_profile.PAPERS_WAY}
    ours = ", ".join(f"{share:.1f} % ({series})" for series, share in found.items())
    if max(found.values()) < SIGNIFICANT:
        return plan.better(ours)
    return plan.confirmed(ours)


def judge_lookup(rows):
    """The library, whose steps are found by indexing, beside the paper's way, whose slots are
    matched. They differ in more than that."""
    one = {"panel": "allreduce small", "series": CLASSIC["pwc"]}
    ratios = rows.ratios(one, {"panel": "allreduce small", "series": CLASSIC["nbc"]})
    ours = (f"{min(ratios.values()):.1f} to {max(ratios.values()):.1f} times faster than the "
            f"paper's way with {SMALL_CLASSIC} bytes, by the same calls")
    if min(ratios.values()) > COMPARABLE:
        return plan.confirmed(ours, "by this and all else in which the two designs differ")
    return plan.not_confirmed(ours)


def judge_schedules(rows):
    """Beginning costs as much as starting what was prepared."""
    begun = rows.value(series="begin", x=SMALL)
    started = rows.value(series="start", x=SMALL)
    ours = f"{begun:.3f} us begun, {started:.3f} us prepared, {SMALL} bytes"
    return (plan.confirmed if begun <= COMPARABLE * started else plan.not_confirmed)(ours)


def judge_returns(rows):
    call, whole = rows.value(series="start alone", x=LARGE), rows.value(series="start", x=LARGE)
    ours = f"the call takes {call:.3f} us of {whole:.0f} us, 512 KiB"
    return (plan.confirmed if call <= 0.1 * whole else plan.not_confirmed)(ours)


def cannot_reach(*_):
    return plan.cannot("that takes 14 hosts and InfiniBand; ranks here are processes of one host")


CLAIMS = (
    plan.Claim("III, figure 4", "a small non-blocking allreduce is many times slower than MPI's",
               "15 to 20 times, at most", "ranks", judge_slowdown("allreduce small")),
    plan.Claim("III, figure 4", "the same, of the paper's own way (slots and 64-bit ids)",
               "15 to 20 times, at most", "ranks",
               judge_slowdown("allreduce small", CLASSIC["pwc"])),
    plan.Claim("III, figure 6", "a small non-blocking broadcast is many times slower than MPI's",
               "15 to 20 times, at most", "ranks", judge_slowdown("bcast small")),
    plan.Claim("III, figure 5", "with 512 KiB an allreduce comes near to MPI's",
               "1.5 times, on average", "ranks", judge_large()),
    plan.Claim("III, figure 5", "the same, of the paper's own way", "1.5 times, on average",
               "ranks", judge_large(CLASSIC["pwc"])),
    plan.Claim("III and IV, figures 4 and 5",
               "large operations do better than small ones, beside MPI", "-", "ranks",
               judge_large_gains()),
    plan.Claim("III, figures 4 and 5", "the same, of the paper's own way", "-", "ranks",
               judge_large_gains(CLASSIC["pwc"])),
    plan.Claim("III, figure 7", "over size an allreduce stays close to MPI's and behind it", "-",
               "sizes", judge_follows("MPICH")),
    plan.Claim("III, figure 7", "it stays close to LibNBC's and behind it (here: Open MPI's "
               "component of that descent)", "-", "sizes", judge_follows(LIBNBC)),
    plan.Claim("III", "large operations do better because latency is hidden and the bandwidth used",
               "-", "matching", judge_bandwidth),
    plan.Claim("I and III", "a computation hides the operation", "-", "overlap", judge_hiding),
    plan.Claim("III", "much of the time goes into testing requests and into matching", "-",
               "matching", judge_testing),
    plan.Claim("III", "matching alone takes much of the time", "-", "matching", judge_matching),
    plan.Claim("III and IV", "small operations can be made faster", "-", "matching", judge_room),
    plan.Claim("IV", "tags in completions and better look-ups make it faster", "-", "ranks",
               judge_lookup),
    plan.Claim("I", "schedules that come again cost next to nothing", "-", "prepared",
               judge_schedules),
    plan.Claim("II-A", "a collective's call returns at once", "-", "prepared", judge_returns),
    plan.Claim("III, figures 4 to 7", "this holds on up to 14 hosts with 224 cores over InfiniBand",
               "14 hosts", None, cannot_reach),
)
