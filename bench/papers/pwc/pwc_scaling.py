"""Figure 6: gets to random peers, by processes here and by a simulated network, and the memory that
peers take."""
import os
import random

import plan
from pwc_experiments import K, M, NETWORKS, photon, text_of

RANKS = {"tiny": (2, 4), "quick": (2, 4, 8, 16), "whole": (2, 4, 8, 16, 32, 64)}
SIZES = {"tiny": (8, K), "quick": (8, K, 16 * K), "whole": (8, K, 16 * K, 64 * K)}


def bytes_text(size_bytes):
    return f"{size_bytes // K} KiB" if size_bytes >= K else f"{size_bytes} B"


def random_gets(network, ranks):
    def measure(bench):
        whole = {"tcp": (1000, 16 * M, 5), "shm": (10000, 64 * M, 5)}[network]
        quick = {"tcp": (200, 4 * M, 3), "shm": (2000, 16 * M, 3)}[network]
        amounts = bench.pick((50, M, 1), quick, whole)
        rows = []
        for row in photon(bench, ranks, "pwc_random", text_of(SIZES[bench.mode]), *amounts,
                          is_bound=False, PHOTON_TRANSPORT=network):
            series = bytes_text(row["size"])
            rows += [{"panel": f"latency {network}", "series": series, "x": ranks,
                      "value": row["us"], "mean": row["mean_us"], "least": row["least_us"],
                      "most": row["most_us"]},
                     {"panel": f"processor {network}", "series": series, "x": ranks,
                      "value": row["cpu_us"]}]
        return rows
    return measure


def random_steps(mode):
    steps = []
    for network in NETWORKS:
        for ranks in RANKS[mode]:
            whole = (0.1 if network == "shm" else 0.4) * ranks + 1
            seconds = {"tiny": 0.4, "quick": 0.5 + 0.05 * ranks, "whole": whole}
            steps.append(plan.Step(f"{network}-{ranks}", random_gets(network, ranks), seconds))
    return steps


# Simulated

NODES = {  # a dragonfly's hosts of a router : routers of a group : links to each group : groups
    16: "1:2:1:8", 72: "2:4:1:9", 512: "4:8:2:16", 2048: "8:8:1:32", 10240: "8:16:1:80"}
SIMULATED = {"tiny": (16, 72), "quick": tuple(NODES), "whole": tuple(NODES)}
SIMULATED_SIZES = {"tiny": (8,), "quick": (8, 8 * K),
                   "whole": (8, K, 8 * K, 64 * K, 256 * K)}
MOST_BYTES = 10240 * 64 * K  # of all nodes' gets, one each
FLOOD, REQUEST_BYTES, NOTICE_BYTES, SEED = 8, 64, 8, 1


def schedule(nodes, size_bytes):
    """Each rank draws a neighbour and floods it with gets: a request, the bytes, and a notice to
    the owner when they have come."""
    draw = random.Random(SEED)
    lines = [[] for _ in range(nodes)]
    for rank in range(nodes):
        peer = (rank + 1 + draw.randrange(nodes - 1)) % nodes
        for i in range(FLOOD):
            tag = 3 * i
            lines[rank] += [f"{rank}: ask{i} send {peer} {REQUEST_BYTES} {tag}",
                            f"{rank}: got{i} receive {peer} {size_bytes} {tag + 1}",
                            f"{rank}: told{i} send {peer} {NOTICE_BYTES} {tag + 2} after got{i}"]
            name = f"{rank}.{i}"
            lines[peer] += [f"{peer}: asked{name} receive {rank} {REQUEST_BYTES} {tag}",
                            f"{peer}: sent{name} send {rank} {size_bytes} {tag + 1} "
                            f"after asked{name}",
                            f"{peer}: read{name} receive {rank} {NOTICE_BYTES} {tag + 2}"]
    return "\n".join([f"ranks {nodes}", *(line for own in lines for line in own), ""])


def simulated(nodes):
    def measure(bench):
        program = os.path.join(bench.bin, "photon-netsim")
        if not os.access(program, os.X_OK):
            bench.note("photon-netsim: not built")
            return []
        rows = []
        for size_bytes in SIMULATED_SIZES[bench.mode]:
            if size_bytes * nodes > MOST_BYTES:
                bench.note(f"{nodes} nodes with {bytes_text(size_bytes)}: left out, they take "
                           "minutes")
                continue
            path = os.path.join(bench.folder, "gets.txt")
            with open(path, "w", encoding="utf-8") as out:
                out.write(schedule(nodes, size_bytes))
            settings = {"network.topology": "dragonfly", "network.shape": NODES[nodes],
                        "network.routing": "ugal", "nic.protocol": "rdma-put-imm",
                        "nic.addresses": "known", "motif.name": "schedule", "motif.file": path,
                        "run.seed": SEED}
            out = bench.run([program, "run", *(word for key, value in settings.items()
                                               for word in ("--set", f"{key}={value}"))])
            done = [line.split()[3] for line in out.splitlines() if line.startswith("mean rank")]
            rows.append({"panel": "latency", "series": bytes_text(size_bytes), "x": nodes,
                         "value": float(done[0]) / 1000 / FLOOD})
        return rows
    return measure


def simulated_steps(mode):
    seconds = {16: 0.2, 72: 0.4, 512: 4, 2048: 18, 10240: 55}
    quick = {16: 0.1, 72: 0.1, 512: 0.5, 2048: 2, 10240: 11}
    return [plan.Step(f"nodes-{nodes}", simulated(nodes),
                      {"tiny": 0.1, "quick": quick[nodes], "whole": seconds[nodes]})
            for nodes in SIMULATED[mode]]


# Memory

PEERS = {"tiny": (10, 1000, 10000), "quick": (10, 100, 1000, 10000),
         "whole": (10, 100, 1000, 2000, 5000, 10000)}
MET = {"tiny": (3,), "quick": (3, 9), "whole": (3, 9, 33, 65)}


def never_met(bench):
    return [{"panel": "never met", "series": network, "x": row["peers"],
             "value": row["bytes"] / K}
            for network in NETWORKS
            for row in photon(bench, 1, "pwc_memory", text_of(PEERS[bench.mode]), is_bound=False,
                              PHOTON_TRANSPORT=network)]


def met(ranks):
    def measure(bench):
        rows = []
        for network in NETWORKS:
            for row in bench.perf("memory", ranks=ranks, PHOTON_TRANSPORT=network):
                if row["mode"] == "contacted":
                    rows.append({"panel": "met", "series": network, "x": ranks - 1,
                                 "value": row["size_bytes"] / K})
        return rows
    return measure


def memory_steps(mode):
    steps = [plan.Step("never-met", never_met, {"tiny": 0.2, "quick": 0.2, "whole": 0.5})]
    return steps + [plan.Step(f"met-{ranks}", met(ranks),
                              {"tiny": 2, "quick": 2, "whole": 2 + ranks / 10})
                    for ranks in MET[mode]]
