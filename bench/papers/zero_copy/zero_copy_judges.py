"""What the paper on zero-copy messages says of its results, and how our rows are judged."""
import functools

import plan
from plan import Claim

REGULAR, ZERO_COPY = "regular", "zero-copy"
WAYS = {"process": "within a process", "mapped": "one host, memory that both have mapped",
        "cma": "one host, with CMA", "served": "one host, copies between processes forbidden",
        "tcp": "tcp, loopback", "hosts": "tcp, between two network namespaces"}
ALIKE = 1.25  # two times are alike within this factor
MUCH = 1.5  # and this many times as fast is "much better"
LATER = 2  # a threshold is as good as another one up to this many times that


def size_text(size):
    for shift, unit in ((20, "M"), (10, "K")):
        if size >= 1 << shift and size % (1 << shift) == 0:
            return f"{size >> shift}{unit}"
    return str(size)


def gains(rows, way):
    """{bytes: regular over zero-copy}: above 1 zero-copy is faster."""
    panel = WAYS[way]
    return rows.ratios({"panel": panel, "series": REGULAR}, {"panel": panel, "series": ZERO_COPY})


def threshold_of(found):
    """The smallest size from which on zero-copy is faster at all sizes; None if there is none."""
    threshold = None
    for size in sorted(found, reverse=True):
        if found[size] <= 1:
            break
        threshold = size
    return threshold


def words_of(found):
    threshold = threshold_of(found)
    if threshold is None:
        return f"at no size (at most {max(found.values()):.2f}x)"
    its = [gain for size, gain in found.items() if size >= threshold]
    return f"{min(its):.2f}x to {max(its):.2f}x from {size_text(threshold)} on"


def present(rows, ways):
    """{way: gains} of those that were measured."""
    found = {}
    for way in ways:
        try:
            found[way] = gains(rows, way)
        except plan.Missing:
            continue
    if not found:
        raise plan.Missing("none of these ways was measured")
    return found


def judge_small(ways, rows):
    found = {WAYS[way]: its[min(its)] for way, its in present(rows, ways).items()}
    ours = "; ".join(f"{name}: {gain:.2f}x" for name, gain in found.items())
    is_so = max(found.values()) < 1
    return plan.confirmed(ours) if is_so else plan.better(ours, "zero-copy loses nothing there") \
        if min(found.values()) >= 1 else plan.not_confirmed(ours)


def judge_large(ways, rows):
    """From some size on zero-copy wins, and by more at the largest."""
    found = present(rows, ways)
    ours = "; ".join(f"{WAYS[way]}: {words_of(its)}" for way, its in found.items())
    for its in found.values():
        threshold = threshold_of(its)
        if threshold is None or its[max(its)] < its[threshold]:
            return plan.not_confirmed(ours)
    return plan.confirmed(ours)


def judge_entry(way, most, threshold, rows):
    """An entry of table 2."""
    its = gains(rows, way)
    own = threshold_of(its)
    if own is None or own > LATER * threshold or max(its.values()) < most / ALIKE:
        return plan.not_confirmed(words_of(its))
    if own < threshold and max(its.values()) > most:
        return plan.better(words_of(its))
    return plan.confirmed(words_of(its))


def without(hardware, way, rows):
    """It takes a network that is not here; ours by tcp stands beside it where it was measured."""
    try:
        ours = f"{WAYS[way]}: {words_of(gains(rows, way))}"
    except plan.Missing:
        ours = "-"
    return plan.cannot(f"it takes {hardware}", ours)


def judge_copies_alike(rows):
    its = gains(rows, "served")
    ours = f"{its[max(its)]:.2f}x with {size_text(max(its))}"
    if its[max(its)] > ALIKE:
        return plan.better(ours)
    return plan.confirmed(ours) if its[max(its)] > 1 / ALIKE else plan.not_confirmed(ours)


def judge_copies_small(rows):
    return judge_small(("served",), rows)


def judge_cma_over_copies(rows):
    """Both of zero-copy, at the sizes from the middle on."""
    ratios = rows.ratios({"panel": WAYS["served"], "series": ZERO_COPY},
                         {"panel": WAYS["cma"], "series": ZERO_COPY})
    largest = max(ratios)
    ours = f"CMA {ratios[largest]:.2f} times as fast with {size_text(largest)}"
    if ratios[largest] >= MUCH:
        return plan.confirmed(ours)
    return plan.not_confirmed(ours, "here the copies of two processes through a shared ring, which "
                              "stays in their caches, keep up with one copy of the kernel")


def judge_memory(rows):
    buffers = max(rows.value(series=f"{side} of a buffer") for side in ("put", "get"))
    message = rows.value(series="message")
    ours = f"{message:.1f} MiB as a message, at most {buffers:.1f} MiB as a buffer"
    return plan.confirmed(ours) if message > LATER * buffers else plan.not_confirmed(ours)


HOST, NETWORK = ("cma", "served", "mapped"), ("tcp", "hosts")
EXPERIMENT = "zero-copy-ways"
CLAIMS = (
    Claim("1", "messages that are copied take memory of their own", "-", "zero-copy-memory",
          judge_memory),
    Claim("3.1", "within a process a copy by the processor is best", "-", EXPERIMENT,
          functools.partial(judge_large, ("process",))),
    Claim("4, figure 4", "within a host regular messages are faster where they are small", "-",
          EXPERIMENT, functools.partial(judge_small, HOST)),
    Claim("4, figure 4", "within a host zero-copy is faster from some size on, and the more so, "
          "the larger the message", "-", EXPERIMENT, functools.partial(judge_large, HOST)),
    Claim("4, figure 5", "over a network regular messages are faster where they are small", "-",
          EXPERIMENT, functools.partial(judge_small, NETWORK)),
    Claim("4, figure 5", "over a network zero-copy is faster from some size on, and the more so, "
          "the larger the message", "-", EXPERIMENT, functools.partial(judge_large, NETWORK)),
    Claim("table 2", "speed-up and threshold by CMA on Stampede2", "1.2x to 3.72x from 8K on",
          EXPERIMENT, functools.partial(judge_entry, "cma", 3.72, 8 << 10)),
    Claim("table 2", "and on Cori", "1.13x to 3.5x from 1K on", EXPERIMENT,
          functools.partial(judge_entry, "cma", 3.5, 1 << 10)),
    Claim("table 2", "and on the workstation", "1.3x to 26x from 512 on", EXPERIMENT,
          functools.partial(judge_entry, "cma", 26, 512)),
    Claim("table 2", "by ofi, within a host of Stampede2", "1.4x to 3.7x from 16K on", EXPERIMENT,
          functools.partial(without, "Omni-Path", "served")),
    Claim("table 2", "by gni, within a host of Cori", "1.2x to 5.8x from 16K on", EXPERIMENT,
          functools.partial(without, "Aries", "served")),
    Claim("table 3", "by ucx, between hosts of iForge", "1.1x to 11.4x from 16K on", EXPERIMENT,
          functools.partial(without, "InfiniBand", "hosts")),
    Claim("table 3", "by verbs, between hosts of iForge", "1.2x to 8.4x from 32K on", EXPERIMENT,
          functools.partial(without, "InfiniBand", "hosts")),
    Claim("table 3", "by ofi, between hosts of Stampede2", "1.3x to 11.5x from 32K on", EXPERIMENT,
          functools.partial(without, "Omni-Path", "hosts")),
    Claim("table 3", "by gni, between hosts of Cori", "1.2x to 7.8x from 16K on", EXPERIMENT,
          functools.partial(without, "Aries", "hosts")),
    Claim("table 3", "by mpi, between hosts of Cori", "1.07x to 4.7x from 32K on", EXPERIMENT,
          functools.partial(without, "Aries", "hosts")),
    Claim("4", "within a host CMA beats RDMA at most sizes on Stampede2, and on Cori up to some "
          "size", "-", None, functools.partial(plan.cannot, "it takes a NIC with RDMA")),
    Claim("4, figure 4(c)", "by copies, without RDMA, zero-copy is slower where messages are "
          "small", "-", EXPERIMENT, judge_copies_small),
    Claim("4, figure 4(c)", "by copies it is as fast as regular messages where they are large", "-",
          EXPERIMENT, judge_copies_alike),
    Claim("4, figure 4(c)", "and by CMA it is much faster", "-", EXPERIMENT, judge_cma_over_copies),
)
