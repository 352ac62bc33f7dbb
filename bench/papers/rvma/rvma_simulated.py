"""What photon-netsim says to section V: messages between two nodes, and the motifs of figures 7
and 8."""
import glob
import json
import os

import machine
import plan

RVMA = "rvma"
PAIR_CARDS = (RVMA, "rdma-put", "rdma-put-imm", "rdma-put-behind", "rdma-put-ack")
# Two nodes of the paper's 100 Gbps, behind one router, and across a HyperX that chooses ways.
PAIRS = {"one way": {}, "adaptive ways": {
    "network.topology": "hyperx", "network.shape": "4x4", "network.hosts_per_router": 4,
    "network.width": 2, "network.routing": "adaptive", "run.placement": "0,63"}}
# Sizes, in bytes: for the tests, of a quick run, and of a whole one: 2 B to 4 MiB.
FEW, SOME = (8, 65536), tuple(2 * 4 ** k for k in range(11)) + (4 << 20,)
ALL = tuple(2 << k for k in range(22))

RATES = (100, 200, 400, 2000)
FORMS = {7: ("sweep3d, minimal compute", "sweep3d, 11.2 us of compute a block",
             "sweep3d, minimal compute, 32 ranks a node"), 8: ("halo3d", "halo3d26")}
ASKING = "rdma-put-ack, asking"
# rdma-equal and rdma-put-imm stand for themselves nowhere: their cell is that of rvma.
CARDS = (RVMA, "rdma-usual", "rdma-put", "rdma-put-behind", "rdma-put-ack", ASKING)
MOST_JOBS = 8  # a cell of 8,192 nodes takes up to some GB
PART_S = 600  # so long a step simulates at most; what is left then is the next one's


def netsim(bench, *arguments, limit_s=300):
    return bench.run([f"{bench.bin}/photon-netsim", *arguments], limit_s)


def is_there(bench):
    """Else it is noted."""
    if os.access(f"{bench.bin}/photon-netsim", os.X_OK):
        return True
    bench.note("photon-netsim: not built (toml++ and nlohmann-json)")
    return False


def simulate(bench, settings):
    words = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    return json.loads(netsim(bench, "run", *words, "--json", "-"))


def pair_us(bench, card, size, settings):
    """From the post of a message until its receiver has it; its buffers were registered before."""
    found = simulate(bench, {"motif.name": "pair", "motif.bytes": size, "nic.protocol": card,
                             "nic.registration_ns": 0, **settings})
    return found["completion_ps"][1] / 1e6


def pairs(bench):
    if not is_there(bench):
        return []
    rows = []
    for panel, settings in PAIRS.items():
        for card in PAIR_CARDS:
            is_held = card == "rdma-put" and panel != "one way"  # else it is refused
            order = {"nic.order": "hold"} if is_held else {}
            rows += [{"panel": panel, "series": card, "x": size, "value": pair_us(
                bench, card, size, {"nic.addresses": "known", **settings, **order})}
                     for size in bench.pick(FEW, SOME, ALL)]
    return rows


def panel_of(nodes, form, Gbps):
    return f"{nodes} nodes, {form}, {Gbps} Gbps"


def card_row(place, card, last_ns, speed_up):
    """`place`: nodes, form, topology, routing, Gbps."""
    return {"panel": panel_of(place["nodes"], place["form"], place["Gbps"]), "series": card,
            "x": f"{place['topology']} {place['routing']}", "value": speed_up,
            "last_ns": last_ns, **place}


def form_of(settings):
    """The motif of a cell, in words."""
    if settings["motif.name"] != "sweep3d":
        return settings["motif.name"]
    if settings["run.ranks_per_node"] > 1:
        return FORMS[7][2]
    return FORMS[7][0 if settings["motif.compute_ns"] < 2 else 1]


def card_of(settings):
    asks = settings["nic.protocol"] == "rdma-put-ack" and settings["nic.addresses"] == "asked"
    return ASKING if asks else settings["nic.protocol"]


def figure_rows(nodes, folder):
    """Of the cells that are there."""
    found = {}
    for path in glob.glob(os.path.join(folder, "*.json")):
        with open(path, encoding="utf-8") as cell:
            result = json.load(cell)
        settings = result["settings"]
        place = (form_of(settings), settings["network.topology"], settings["network.routing"],
                 round(settings["network.link_GBps"] * 8))
        found.setdefault(place, {})[card_of(settings)] = result["last_ps"] / 1000
    rows = []
    for (form, topology, routing, Gbps), cards in sorted(found.items()):
        place = {"nodes": nodes, "form": form, "topology": topology, "routing": routing,
                 "Gbps": Gbps}
        if RVMA in cards:
            rows += [card_row(place, card, ns, ns / cards[RVMA]) for card, ns in cards.items()
                     if card in CARDS]
    return sorted(rows, key=lambda row: CARDS.index(row["series"]))


def figure(bench, number, nodes, is_last):
    """The cells lie in a lasting folder, so that an interrupted figure goes on behind the last one:
    they are a function of their settings, whatever machine they were simulated on."""
    if not is_there(bench):
        return []
    into = os.path.join(bench.build, "papers", "netsim", f"figure{number}-{nodes}")
    os.makedirs(into, exist_ok=True)
    try:
        netsim(bench, "paper", "--figure", str(number), "--nodes", str(nodes), "--into", into,
               "--jobs", str(min(len(bench.cores), MOST_JOBS)), limit_s=PART_S)
    except machine.OutOfTime:
        if is_last:
            bench.note(f"{nodes} nodes: not all cells of figure {number} were simulated in the "
                       f"time of its steps; `photon-netsim paper --figure {number} --nodes {nodes} "
                       "--into DIR` simulates all")
    return figure_rows(nodes, into) if is_last else []


def card_settings(card):
    if card == ASKING:
        return {"nic.protocol": "rdma-put-ack", "nic.addresses": "asked"}
    return {"nic.protocol": card, "nic.addresses": "known"}


MOTIFS = {7: {"motif.name": "sweep3d", "motif.ranks": "8x8", "motif.compute_ns": 1},
          8: {"motif.name": "halo3d", "motif.ranks": "4x4x4", "motif.nx": 32, "motif.ny": 32,
              "motif.nz": 32, "motif.compute_ns": 0}}
NETWORKS = {("dragonfly", "static"): {"network.shape": "2:4:1:8"},
            ("dragonfly", "ugal"): {"network.shape": "2:4:1:8"},
            ("hyperx", "static"): {"network.shape": "4x4", "network.hosts_per_router": 4,
                                   "network.width": 2}}


def one_place(bench, number, place, more):
    """{card: ns} of 64 nodes, as `photon-netsim paper` sets them up, but for what `more` says."""
    topology, routing = place["topology"], place["routing"]
    settings = {"network.topology": topology, "network.routing": routing,
                "network.flit_bytes": 64, "network.link_GBps": place["Gbps"] / 8,
                **NETWORKS[topology, routing], **MOTIFS[number], **more}
    cards = [card for card in CARDS if card != "rdma-put"]  # which some networks refuse
    return {card: simulate(bench, {**settings, **card_settings(card)})["last_ps"] / 1000
            for card in cards}


def some_places(bench, number):
    if not is_there(bench):
        return []
    rows = []
    for topology, routing in NETWORKS:
        for Gbps in (400, 2000):
            place = {"nodes": 64, "form": FORMS[number][0], "topology": topology,
                     "routing": routing, "Gbps": Gbps}
            found = one_place(bench, number, place, {})
            rows += [card_row(place, card, ns, ns / found[RVMA]) for card, ns in found.items()]
    return rows


def figure_steps(number, parts, seconds):
    """`parts`: so many steps of up to PART_S for each number of nodes; `seconds`: of each."""
    nodes_of = {"quick": (64,), "whole": (512, 8192)}

    def step_of(mode, nodes, part):
        words = f"{nodes}-nodes" + (f"-{part}-of-{parts[nodes]}" if parts[nodes] > 1 else "")
        return plan.Step(words, lambda bench: figure(bench, number, nodes, part == parts[nodes]),
                         {mode: seconds[nodes]})

    def steps(mode):
        if mode == "tiny":
            return [plan.Step("some-places", lambda bench: some_places(bench, number), {mode: 2})]
        return [step_of(mode, nodes, part) for nodes in nodes_of[mode]
                for part in range(1, parts[nodes] + 1)]
    return steps


PCIE_NS = (150, 75, 30)


def pcie(bench):
    """Sweep3D and Halo3D of 64 nodes on an adaptive dragonfly, by the latency of the host bus."""
    if not is_there(bench):
        return []
    place = {"topology": "dragonfly", "routing": "ugal", "Gbps": 400}
    rows = []
    for number in (7, 8):
        for ns in bench.pick(PCIE_NS[::2], PCIE_NS, PCIE_NS):
            found = one_place(bench, number, place, {"nic.pcie_ns": ns})
            rows += [{"panel": FORMS[number][0], "series": card, "x": ns,
                      "value": time / found[RVMA]} for card, time in found.items()]
    return rows


def one_step(name, measure, seconds):
    return lambda _mode: [plan.Step(name, measure, seconds)]


UNIT = {None: "time over that of rvma"}
LATENCY = plan.Experiment(
    "rvma-latency-simulated", "The same between two simulated nodes of 100 Gbps, by cards.",
    "photon-netsim run --set motif.name=pair --set nic.protocol=rvma --set motif.bytes=64",
    one_step("pairs", pairs, {"tiny": 1, "quick": 4, "whole": 6}), {None: "us"})
SWEEP = plan.Experiment(
    "rvma-sweep3d", "Sweep3D by topology, routing and rate: how many times as long cards take.",
    "photon-netsim paper --figure 7 --nodes 512 --into f7 --jobs 2",
    figure_steps(7, {64: 1, 512: 2, 8192: 4}, {64: 12, 512: 180, 8192: PART_S}), UNIT)
HALO = plan.Experiment(
    "rvma-halo3d", "Halo3D by topology, routing and rate: how many times as long cards take.",
    "photon-netsim paper --figure 8 --nodes 512 --into f8 --jobs 2",
    figure_steps(8, {64: 1, 512: 1, 8192: 2}, {64: 2, 512: 60, 8192: 500}), UNIT)
PCIE = plan.Experiment(
    "rvma-pcie", "The speed-up on 64 nodes by the latency of the host bus.",
    "photon-netsim run --set nic.pcie_ns=30 (and the settings of rvma_simulated.py)",
    one_step("pcie", pcie, {"tiny": 2, "quick": 2, "whole": 2}), UNIT)
ALL_OF_THEM = (LATENCY, SWEEP, HALO, PCIE)
