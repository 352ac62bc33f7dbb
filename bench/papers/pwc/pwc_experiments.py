"""How each experiment of the paper is measured here."""
import json
import os

import machine
import plan
import pwc_gasnet

HERE = os.path.dirname(os.path.abspath(__file__))
PHOTON, FREE, ODD = "Photon", "Photon, source free", "Photon, odd address"
AM = "Photon, active messages"
NETWORKS = ("tcp", "shm")  # of figure 3 and of figure 4
LINE_BYTES = 64
K, M = 1 << 10, 1 << 20
SIZES = {"tiny": (8, 256, 64 * K), "quick": (8, 128, 256, 2 * K, 4 * K, 32 * K, 64 * K, M),
         "whole": (1, 8, 64, 128, 256, 512, K, 2 * K, 4 * K, 8 * K, 16 * K, 32 * K, 64 * K,
                   256 * K, M)}
# What MPIs need so that a network is used although both ranks are on one host.
OVER_TCP = {
    "mpich": {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "lo", "FI_PROVIDER": "tcp",
              "MPIR_CVAR_NOLOCAL": "1", "MPIR_CVAR_CH3_NOLOCAL": "1"},
    "openmpi": {"OMPI_MCA_pml": "ob1", "OMPI_MCA_osc": "pt2pt", "OMPI_MCA_btl": "tcp,self",
                "OMPI_MCA_btl_tcp_if_include": "lo"}}


def text_of(numbers):
    return ",".join(map(str, numbers))


def photon(bench, ranks, program, *arguments, is_bound=True, **added):
    """What that program of this folder prints."""
    bound = ["--bind"] if is_bound else []
    path = os.path.join(bench.build, "bench/papers", program)
    out = bench.run([f"{bench.bin}/photonrun", "-n", ranks, *bound, path, *arguments], **added)
    try:
        return json.loads(out)["rows"]
    except ValueError:
        raise machine.Failed(f"{program} printed no figures: {out.strip()[:200]}") from None


# Figures 3 and 4

def amounts(bench, network):
    """TIMES, BYTES, RUNS: the paper has 10,000 times and five runs."""
    whole = {"tcp": (2000, 128 * M, 5), "shm": (10000, 256 * M, 5)}[network]
    return bench.pick((50, M, 1), (300, 8 * M, 3), whole)


def moves_of(found, panel, series, is_flood):
    """Rows of a panel; of a flood megabytes a second."""
    rows = []
    for row in found:
        values = {key: row["size"] / row[key] if is_flood else row[key]
                  for key in ("us", "mean_us")}
        rows.append({"panel": panel, "series": series, "x": row["size"], "value": values["us"],
                     "mean": values["mean_us"]})
    return rows


def extra_bytes(found):
    """What a put sends beyond its bytes, by the lines of its records, which carry them."""
    return [{"panel": "extra bytes tcp", "series": PHOTON, "x": row["size"],
             "value": row["lines"] * LINE_BYTES - row["size"]}
            for row in found if row["size"] <= 128]


def photon_moves(bench, verb, network):
    arguments = [text_of(SIZES[bench.mode]), *amounts(bench, network)]

    def ask(question, *more):
        return photon(bench, 2, "pwc_moves", question, *arguments, *more,
                      PHOTON_TRANSPORT=network)
    latency, bandwidth = f"{verb} latency {network}", f"{verb} bandwidth {network}"
    if verb == "put":
        free = ask("put-latency")
        rows = moves_of(free, latency, FREE, False)
        if network == "tcp":  # over shm larger ones are no records
            rows += extra_bytes(free)
        rows += moves_of(ask("landed-latency"), latency, PHOTON, False)
    else:
        rows = moves_of(ask("get-latency"), latency, PHOTON, False)
        rows += moves_of(ask("get-latency", "odd"), latency, ODD, False)
    return rows + moves_of(ask(f"{verb}-bandwidth"), bandwidth, PHOTON, True)


def others_moves(verb, network, series, ask):
    """Of a function that gives the rows of a question."""
    rows = []
    for what in ("latency", "bandwidth"):
        rows += moves_of(ask(f"{verb}-{what}"), f"{verb} {what} {network}", series,
                         what == "bandwidth")
    return rows


def best_of(turns):
    """Of rows of the same panels, series and places: each the fastest."""
    best = {}
    for row in turns:
        key = row["panel"], row["series"], row["x"]
        is_less = not row["panel"].split()[1] == "bandwidth"
        if key not in best or (row["value"] < best[key]["value"]) == is_less:
            best[key] = row
    return list(best.values())


def moves(verb, network):
    def measure(bench):
        arguments = [text_of(SIZES[bench.mode]), *amounts(bench, network)]
        mpis = bench.mpis()
        for mpi in mpis:
            bench.compile_for(mpi, "mpi_moves", [f"{HERE}/mpi_moves.c"])
        gasnet = pwc_gasnet.found(bench, network)
        rows = []
        for _ in range(bench.pick(1, 1, 2)):
            rows += photon_moves(bench, verb, network)
            for mpi in mpis:
                added = OVER_TCP[mpi.flavour] if network == "tcp" else {}
                window = "allocate" if network == "shm" else "create"
                if network == "tcp" and mpi.flavour == "mpich":
                    window = "leave"  # mpi_moves.c says why
                rows += others_moves(verb, network, machine.FLAVOURS[mpi.flavour],
                                     lambda question: bench.mpi_json(
                                         mpi, "mpi_moves", 2, question, *arguments, window,
                                         **added)["rows"])
            if gasnet:
                rows += others_moves(verb, network, pwc_gasnet.NAME,
                                     lambda question: gasnet.rows(question, *arguments))
        return best_of(rows)
    return measure


def moves_steps(mode):
    """The shortest run has a put and a get, each over another network."""
    chosen = {"tiny": (("put", "tcp"), ("get", "shm"))}.get(
        mode, [(verb, network) for network in NETWORKS for verb in ("put", "get")])
    seconds = {"tcp": {"tiny": 3, "quick": 9, "whole": 120},
               "shm": {"tiny": 3, "quick": 4, "whole": 25}}
    return [plan.Step(f"{verb}-{network}", moves(verb, network), seconds[network], cores=2)
            for verb, network in chosen]


# Figure 5

IDS = {"tiny": (2, 8, 64), "quick": (2, 8, 64, 256), "whole": (2, 4, 8, 16, 32, 64, 256, 1024)}
TRIP_SIZES = {"tiny": (8, 1024), "quick": (8, 256, 512, K, 4 * K, 64 * K),
              "whole": (8, 16, 32, 64, 128, 256, 512, K, 2 * K, 4 * K, 8 * K, 16 * K, 32 * K,
                        64 * K, 256 * K, M)}
DEFAULT_ID_BYTES = 8


def series_of_id(id_bytes):
    return f"Photon, ids of {id_bytes} B"


def trips(network):
    def measure(bench):
        times = {"tcp": 2000, "shm": 10000}[network]
        arguments = [text_of(TRIP_SIZES[bench.mode]),
                     *bench.pick((50, M, 1), (300, 8 * M, 3), (times, 256 * M, 5))]
        found = []
        for id_bytes in IDS[bench.mode]:
            longer = {} if id_bytes <= DEFAULT_ID_BYTES else {"PHOTON_MAX_CID_SIZE": str(id_bytes)}
            found.append((series_of_id(id_bytes),
                          photon(bench, 2, "pwc_pingpong", id_bytes, *arguments,
                                 PHOTON_TRANSPORT=network, **longer)))
        found.append((AM, photon(bench, 2, "pwc_pingpong", "am", *arguments,
                                 PHOTON_TRANSPORT=network)))
        gasnet = pwc_gasnet.found(bench, network)
        if gasnet:
            found.append((pwc_gasnet.NAME, gasnet.rows("am-ping-pong", *arguments)))
        rows = []
        for series, each in found:
            rows += moves_of(each, f"latency {network}", series, False)
            both_ways = [dict(row, size=2 * row["size"]) for row in each]
            rows += [dict(row, x=row["x"] // 2) for row in
                     moves_of(both_ways, f"bandwidth {network}", series, True)]
        return rows
    return measure


def trips_steps(mode):
    seconds = {"tcp": {"tiny": 2, "quick": 3, "whole": 45},
               "shm": {"tiny": 2, "quick": 2, "whole": 12}}
    return [plan.Step(network, trips(network), seconds[network], cores=2)
            for network in (NETWORKS if mode != "tiny" else ("shm",))]


# Section V

PARCEL_SIZES = {"tiny": (8, 1024), "quick": (8, 256, 4 * K),
                "whole": (8, 64, 256, K, 4 * K, 16 * K)}
WINDOW = 64
WAYS = {"probe": "probe callbacks", "am": "active messages"}


def parcels(network):
    def measure(bench):
        times = {"tcp": 3000, "shm": 20000}[network]
        arguments = [text_of(PARCEL_SIZES[bench.mode]),
                     *bench.pick((50, M, 1), (500, 8 * M, 3), (times, 256 * M, 5))]
        rows = []
        for way, series in WAYS.items():
            for window, panel in ((1, "round trip"), (WINDOW, "rate")):
                for row in photon(bench, 2, "pwc_parcels", way, window, *arguments,
                                  PHOTON_TRANSPORT=network):
                    value = row["us"] if window == 1 else 1 / row["us"]
                    rows.append({"panel": f"{panel} {network}", "series": series,
                                 "x": row["size"], "value": value})
        return rows
    return measure


def parcels_steps(mode):
    seconds = {"tcp": {"tiny": 1, "quick": 2, "whole": 10},
               "shm": {"tiny": 1, "quick": 1, "whole": 5}}
    return [plan.Step(network, parcels(network), seconds[network], cores=2)
            for network in (NETWORKS if mode != "tiny" else ("shm",))]
