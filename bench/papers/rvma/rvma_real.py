"""What this machine's transports say to sections III to V.A: experiments with two processes."""
import json
import math
import os
import re

import plan
import rvma_simulated

TRANSPORTS = ("shm", "tcp", "ofi")
# The ways of mailbox_ways.cpp, and what they are called in pictures.
COUNTED, BY_ID = "counted put (RVMA)", "put told by its id (order kept)"
BEHIND, FENCED = "put, message behind", "put, fence, message"
ACKNOWLEDGED = "put, acknowledged, message"
WAYS = {"counted": COUNTED, "put-id": BY_ID, "put-behind": BEHIND, "put-fence": FENCED,
        "put-ack": ACKNOWLEDGED}
ORDERS = ("forwards", "backwards", "shuffled")
MARGIN = 0.03  # set-up is amortised when it is so much of the exchanges' time: the paper's 3%
STATIC = {"put-id": "static: " + BY_ID}
ADAPTIVE = {"put-behind": "adaptive: " + BEHIND, "put-ack": "adaptive: " + ACKNOWLEDGED}
SETUP_TIME = " set-up"  # the panel with the time behind that of the exchanges

FEW, SOME, ALL = rvma_simulated.FEW, rvma_simulated.SOME, rvma_simulated.ALL
PIECED = ((65536,), (64, 1024, 16384, 262144, 4 << 20), tuple(64 << k for k in range(17)))


def is_usable(bench, transport):
    """Else it is noted."""
    if re.search(rf"^ +{transport} +usable", bench.run([f"{bench.bin}/photon-info"]), re.M):
        return True
    bench.note(f"{transport}: not usable here (`photon-info` says why)")
    return False


def times(bench, transport, ways, sizes):
    """The lines of mailbox_ways. Nothing where the transport is not usable."""
    if not is_usable(bench, transport):
        return []
    turns, batch_us = bench.pick((3, 200), (9, 500), (101, 1000))
    out = bench.photonrun(2, "bench/papers/mailbox_ways", "--ways", ",".join(ways), "--sizes",
                          ",".join(map(str, sizes)), "--turns", turns, "--batch_us", batch_us,
                          limit_s=600, PHOTON_TRANSPORT=transport)
    return [json.loads(line) for line in out.splitlines()]


def row_of(line, panel, series):
    return {"panel": panel, "series": series, "x": line["size_bytes"], "value": line["us"],
            "least": line["least_us"], "most": line["most_us"], "messages": line["messages"]}


def each_transport(measure, seconds, tiny=TRANSPORTS[:2], cores=2):
    """The steps of an experiment that is asked of each transport: measure(bench, transport). In the
    tests those of `tiny`."""
    def steps(mode):
        return [plan.Step(transport, lambda bench, it=transport: measure(bench, it), seconds,
                          cores) for transport in (tiny if mode == "tiny" else TRANSPORTS)]
    return steps


def latency(bench, transport):
    lines = times(bench, transport, WAYS, bench.pick(FEW, SOME, ALL))
    return [row_of(line, transport, WAYS[line["way"]]) for line in lines]


def order(bench, transport):
    lines = times(bench, transport, ORDERS, bench.pick(*PIECED))
    return [row_of(line, transport, line["way"]) for line in lines]


def exchanges(setup_us, message_us):
    """So many until the set-up is at most 3% of what they take."""
    return max(1, math.ceil(setup_us / (MARGIN * message_us)))


def setup(bench, transport):
    ways = {**STATIC, **ADAPTIVE}
    lines = times(bench, transport, ["setup", *ways], bench.pick(FEW, SOME, ALL))
    setups = {line["size_bytes"]: line["us"] for line in lines if line["way"] == "setup"}
    rows = [row_of(line, transport + SETUP_TIME, "ask, register, answer") for line in lines
            if line["way"] == "setup"]
    for line in lines:
        if line["way"] in ways:
            count = exchanges(setups[line["size_bytes"]], line["us"])
            rows.append({"panel": transport, "series": ways[line["way"]],
                         "x": line["size_bytes"], "value": count})
    return rows


def setup_simulated(bench):
    """What asking a peer for its addresses adds to the first put, over that of later ones."""
    if not rvma_simulated.is_there(bench):
        return []
    rows = []
    names = {"rdma-put": "static: rdma-put", "rdma-put-behind": "adaptive: rdma-put-behind",
             "rdma-put-ack": "adaptive: rdma-put-ack"}
    for size in bench.pick(FEW, SOME, ALL):
        for card, series in names.items():
            known = rvma_simulated.pair_us(bench, card, size, {"nic.addresses": "known"})
            asked = rvma_simulated.pair_us(bench, card, size, {"nic.addresses": "asked"})
            rows.append({"panel": "simulated", "series": series, "x": size,
                         "value": exchanges(asked - known, known)})
            rows.append({"panel": "simulated" + SETUP_TIME, "series": card, "x": size,
                         "value": asked - known})
    return rows


def setup_steps(mode):
    simulated = plan.Step("simulated", setup_simulated, {"tiny": 1, "quick": 3, "whole": 5})
    return each_transport(setup, {"tiny": 1, "quick": 4, "whole": 60})(mode) + [simulated]


def first(bench, transport):
    """Of photon-perf mailbox-setup, which knows shm and tcp."""
    if not is_usable(bench, transport):
        return []
    sizes = bench.pick("64", "64,4K,64K", "16,64,512,4K,16K,64K")
    more = ["--iterations", "50"] if bench.mode == "tiny" else []
    found = bench.perf("mailbox-setup", "--transport", transport, "--sizes", sizes, *more)
    return [{"panel": transport, "series": series, "x": row["size_bytes"], "value": value / 1000}
            for row in found for series, value in (
                ("message to a mailbox", row["latency_ns"]["p50"]), (row["limit_name"],
                                                                     row["limit"]))]


def first_steps(_mode):
    return [plan.Step(transport, lambda bench, it=transport: first(bench, it),
                      {"tiny": 1, "quick": 4, "whole": 20}, cores=2)
            for transport in TRANSPORTS[:2]]


def promises(bench, transport):
    if not is_usable(bench, transport):
        return []
    messages = bench.pick(16, 64, 1024)
    out = bench.photonrun(2, "bench/papers/mailbox_promises", messages, PHOTON_TRANSPORT=transport)
    found = [json.loads(line) for line in out.splitlines()]
    return [{"panel": transport, "series": each["promise"], "x": messages, "value": each["found"],
             "expected": each["expected"]} for each in found]


def rewind(bench):
    """examples/rewind without and with the loss of a rank: the results are compared."""
    program = os.path.join(bench.build, "examples/rewind")
    if not os.access(program, os.X_OK):
        bench.note("examples/rewind: not built (PHOTON_BUILD_EXAMPLES)")
        return []
    steps = bench.pick(20, 50, 500)
    base = [f"{bench.bin}/photonrun", "--keep-going", "-n", "4", program, "--steps", str(steps),
            "--output"]
    bench.run([*base, f"{bench.folder}/undisturbed"])
    # 137: a rank was killed, as it had to be; anything else is a failure.
    said = bench.run(["/bin/sh", "-c", '"$@"; test $? = 137', "rewind", *base,
                      f"{bench.folder}/disturbed", "--kill", "1", "--at", str(steps // 2),
                      "--behind", "1"])
    results = []
    for name in ("undisturbed", "disturbed"):
        with open(os.path.join(bench.folder, name), "rb") as result:
            results.append(result.read())
    differing = (sum(one != other for one, other in zip(*results))
                 + abs(len(results[0]) - len(results[1])))
    lost = re.search(r"go on from step (\d+)", said)
    return [{"panel": "rewind", "series": "bytes of the result", "x": steps,
             "value": len(results[0])},
            {"panel": "rewind", "series": "bytes that differ", "x": steps, "value": differing},
            {"panel": "rewind", "series": "ranks lost", "x": steps, "value": 1 if lost else 0}]


def promises_steps(mode):
    step = plan.Step("rewind", rewind, {"tiny": 1, "quick": 1, "whole": 2})
    return each_transport(promises, {"tiny": 1, "quick": 1, "whole": 3}, cores=1)(mode) + [step]


def memory(bench):
    more = bench.pick(["--iterations", "1000"], ["--iterations", "100000"], [])
    return [{"panel": "memory", "series": row["mode"], "x": row["iterations"],
             "value": row["size_bytes"]} for row in bench.perf("mailbox-memory", *more)]


def memory_steps(_mode):
    return [plan.Step("memory", memory, {"tiny": 1, "quick": 1, "whole": 4})]


LATENCY = plan.Experiment(
    "rvma-latency", "Half a round trip of a message that its receiver reads, by five ways.",
    "photonrun -n 2 build/release/bench/papers/mailbox_ways --sizes 8,4096",
    each_transport(latency, {"tiny": 1, "quick": 5, "whole": 75}, TRANSPORTS),
    {None: "us, one way"})
SETUP = plan.Experiment(
    "rvma-setup", "Exchanges until asking for registered memory is at most 3% of their time.",
    "photonrun -n 2 build/release/bench/papers/mailbox_ways --ways setup,put-id,put-behind,put-ack",
    setup_steps, {None: "exchanges",
                  **{each + SETUP_TIME: "us" for each in (*TRANSPORTS, "simulated")}})
FIRST = plan.Experiment(
    "rvma-first", "A message into memory that none has come into before, one way.",
    "photonrun -n 2 photon-perf mailbox-setup", first_steps, {None: "us"})
ORDER = plan.Experiment(
    "rvma-order", "A message in 16 pieces to a mailbox that counts bytes, by the order of pieces.",
    "photonrun -n 2 build/release/bench/papers/mailbox_ways --ways forwards,backwards,shuffled",
    each_transport(order, {"tiny": 1, "quick": 2, "whole": 30}), {None: "us, one way"})
PROMISES = plan.Experiment(
    "rvma-promises", "The promises of mailboxes to their owners, counted by messages and bytes.",
    "photonrun -n 2 build/release/bench/papers/mailbox_promises 64", promises_steps,
    {None: "count"})
MEMORY = plan.Experiment(
    "rvma-memory", "Bytes of a mailbox and of its buffers.",
    "photonrun -n 2 photon-perf mailbox-memory",
    memory_steps, {None: "bytes"})
ALL_OF_THEM = (LATENCY, SETUP, FIRST, ORDER, PROMISES, MEMORY)
