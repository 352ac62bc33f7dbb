"""The experiments of "Photon: Remote Memory Access Middleware for High-Performance Runtime
Systems" (Kissel and Swany, 2016): put and get with completion."""
import plan
import pwc_experiments as measured
import pwc_judges as judges
import pwc_scaling as scaling
import pwc_scaling_judges as growth

K = 1 << 10
ROOT = "photonrun -n 2 --bind build/release/bench/papers/"

EXPERIMENTS = (
    plan.Experiment(
        "moves", "Puts and gets with ids of 8 bytes beside one-sided calls of both MPIs, and "
        "GASNet-EX where it is installed: one at a time, and flooded.",
        ROOT + "pwc_moves landed-latency 8,1024 10000 268435456 5", measured.moves_steps,
        {**{f"{verb} latency {network}": "us" for verb in ("put", "get")
            for network in measured.NETWORKS},
         "extra bytes tcp": "B", None: "MB/s"}),
    plan.Experiment(
        "round-trips", "Round trips of puts with ids of some sizes beside active messages.",
        "PHOTON_MAX_CID_SIZE=64 " + ROOT + "pwc_pingpong 64 8,1024 10000 268435456 5",
        measured.trips_steps,
        {**{f"latency {network}": "us" for network in measured.NETWORKS}, None: "MB/s"}),
    plan.Experiment(
        "random-gets", "Gets to random peers, with threads for posting, local and remote ids.",
        "photonrun -n 8 build/release/bench/papers/pwc_random 8,1024 1000 16777216 5",
        scaling.random_steps, {None: "us"}),
    plan.Experiment(
        "simulated-gets", "The same gets in a simulated dragonfly, a rank a node.",
        "bench/papers/run --paper pwc --experiment simulated-gets",
        scaling.simulated_steps, {None: "us"}),
    plan.Experiment(
        "memory", "Memory of a rank for peers: for all it has never met, and for each it has.",
        "build/release/bench/papers/pwc_memory 10,10000; photonrun -n 9 photon-perf memory",
        scaling.memory_steps, {None: "KiB"}),
    plan.Experiment(
        "parcels", "A task runtime of parcels whose progress loop is a probe with a callback.",
        ROOT + "pwc_parcels probe 64 8,1024 20000 268435456 5", measured.parcels_steps,
        {"round trip tcp": "us", "round trip shm": "us", None: "million parcels/s"}))


def panels_of(network):
    return {f"{verb} {what} {network}": f"{what} of {verb}s over {network}"
            for verb in ("put", "get") for what in ("latency", "bandwidth")}


FIGURES = (
    plan.Figure("figure3", "figure 3", "Puts and gets over tcp, the network of higher latency.",
                "moves", "bytes", panels_of("tcp")),
    plan.Figure("figure4", "figure 4", "Puts and gets over shared memory, the network of lower "
                "latency.", "moves", "bytes", panels_of("shm")),
    plan.Figure("figure5", "figure 5", "Round trips with completion ids of 2 bytes and more, "
                "beside active messages.", "round-trips", "bytes of the message",
                {f"{what} {network}": f"{what} over {network}" for network in ("shm", "tcp")
                 for what in ("latency", "bandwidth")}),
    plan.Figure("figure6", "figure 6", "Gets to random peers by processes on this host: time of a "
                "get, and processor time of a get.", "random-gets", "ranks",
                {f"{what} {network}": f"{what} of a get over {network}"
                 for network in ("shm", "tcp") for what in ("latency", "processor")}),
    plan.Figure("figure6-simulated", "figure 6", "Gets to random peers in simulated time.",
                "simulated-gets", "nodes", {"latency": "time of a get"}),
    plan.Figure("memory", "figure 6 (its text)", "Memory for peers: of all that were never met, "
                "and of each that was.", "memory", "peers",
                {"never met": "all peers, never met", "met": "a peer, met"}),
    plan.Figure("section5", "listing 1", "Parcels that a probe's callback runs, beside active "
                "messages.", "parcels", "bytes of a parcel",
                {f"{what} {network}": f"{what} over {network}" for network in ("shm", "tcp")
                 for what in ("round trip", "rate")}))

BACKENDS = (
    plan.Claim("IV-A", "gets off 4-byte boundaries cost one more round trip on one network", "-",
               "moves", judges.needs_alignment("get latency shm")),
    plan.Claim("IV-A", "the NIC's bulk engine takes over at a size that is set",
               "1 KB; GASNet's 4 KB", None,
               lambda: plan.cannot("Aries NICs have that engine; there are none here")),
    plan.Claim("III-E, IV-B", "a source that was packed may be reused before the put has landed",
               "-", "moves", judges.source_is_free))

FIGURE3 = (
    plan.Claim("IV-B, figure 3(a)", "latency of puts is similar to GASNet's across sizes", "-",
               "moves", judges.against_gasnet("put latency tcp", judges.comparable())),
    plan.Claim("IV-B", "a packed put of up to 128 B sends so much besides its bytes",
               "28 bytes", "moves", judges.header_bytes),
    plan.Claim("IV-B, figure 3(b)", "put latency jumps where packing ends", "at 256 B", "moves",
               judges.jumps_at_mode),
    plan.Claim("IV-B, figure 3(b)", "GASNet's put latency rises where inlining ends", "at 128 B",
               "moves", judges.gasnet_jumps("put latency tcp", 64, 128)),
    plan.Claim("IV-B, figure 3", "put latency matches GASNet's and is better for some sizes", "-",
               "moves", judges.against_gasnet("put latency tcp", judges.sometimes_better)),
    plan.Claim("IV-B, figure 3(d)", "get latency keeps to GASNet's more evenly than put latency",
               "-", "moves", judges.against_gasnet("get latency tcp", judges.even)),
    plan.Claim("IV-B, figure 3(e)", "small gets have no modes: their latency has no step", "-",
               "moves", judges.gets_are_even),
    plan.Claim("IV-B, figure 3(a)", "puts fall behind GASNet's and meet them again",
               "2 KB, 32 KB", "moves",
               judges.against_gasnet("put latency tcp", judges.slower_between(2 * K, 32 * K),
                                     2 * K, 32 * K)),
    plan.Claim("IV-B, figure 3(d)", "gets fall behind GASNet's and meet them again",
               "2 KB, 32 KB", "moves",
               judges.against_gasnet("get latency tcp", judges.slower_between(2 * K, 32 * K),
                                     2 * K, 32 * K)),
    plan.Claim("IV-B, figure 3(a)", "small puts of MPI take significantly longer", "-", "moves",
               judges.mpi_is_slow("put latency tcp")),
    plan.Claim("IV-B, figure 3(d)", "small gets of MPI take significantly longer", "-", "moves",
               judges.mpi_is_slow("get latency tcp")),
    plan.Claim("IV-B, figure 3(a)", "put latency of MPI converges with Photon's", "64 KB", "moves",
               judges.mpi_converges("put latency tcp")),
    plan.Claim("IV-B, figure 3(d)", "get latency of MPI converges with Photon's", "64 KB", "moves",
               judges.mpi_converges("get latency tcp")),
    plan.Claim("IV-B, figure 3(c)", "bandwidth of small puts lags behind MPI's", "-", "moves",
               judges.lags("put bandwidth tcp")),
    plan.Claim("IV-B, figure 3(c)", "bandwidth of small puts lags behind GASNet's", "-", "moves",
               judges.against_gasnet("put bandwidth tcp", judges.falls_behind, 0, K)),
    plan.Claim("IV-B, figure 3(f)", "bandwidth of small gets lags behind MPI's", "-", "moves",
               judges.lags("get bandwidth tcp")),
    plan.Claim("IV-B, figure 3(f)", "bandwidth of small gets lags behind GASNet's", "-", "moves",
               judges.against_gasnet("get bandwidth tcp", judges.falls_behind, 0, K)),
    plan.Claim("IV-B, figure 3(c)", "bandwidth of puts catches up", "4 KB", "moves",
               judges.catches_up("put bandwidth tcp", 4 * K)),
    plan.Claim("IV-B, figure 3(f)", "bandwidth of gets catches up", "64 KB", "moves",
               judges.catches_up("get bandwidth tcp", 64 * K)))

FIGURE4 = (
    plan.Claim("IV-C, figure 4", "latency is much lower on the second network", "-", "moves",
               judges.faster_network),
    plan.Claim("IV-C, figure 4", "small puts take longer than GASNet's", "0.25 to 0.5 us", "moves",
               judges.against_gasnet("put latency shm",
                                     judges.behind_by(0.25, 0.5, "put latency shm"), 0, K)),
    plan.Claim("IV-C, figure 4", "small gets take longer than GASNet's", "0.25 to 0.5 us", "moves",
               judges.against_gasnet("get latency shm",
                                     judges.behind_by(0.25, 0.5, "get latency shm"), 0, K)),
    plan.Claim("IV-C, figure 4", "gets that are not aligned cost more", "-", "moves",
               judges.needs_alignment("get latency shm")),
    plan.Claim("IV-C, figure 4", "GASNet's puts have a spike", "after 16 KB", "moves",
               judges.gasnet_jumps("put latency shm", 16 * K, 32 * K, 2 * judges.JUMP)),
    plan.Claim("IV-C, figure 4", "GASNet's gets have a spike", "after 8 KB", "moves",
               judges.gasnet_jumps("get latency shm", 8 * K, 16 * K, 2 * judges.JUMP)),
    plan.Claim("IV-C, figure 4", "bandwidth of puts follows the trend of the first network", "-",
               "moves", judges.same_trend),
    plan.Claim("IV-C, figure 4", "gets are pipelined better than on the first network", "-",
               "moves", judges.gets_pipeline_better),
    plan.Claim("IV-C, note 4", "one-sided MPI is significantly slower there: puts", "-", "moves",
               judges.mpi_is_slow("put latency shm")),
    plan.Claim("IV-C, note 4", "one-sided MPI is significantly slower there: gets", "-", "moves",
               judges.mpi_is_slow("get latency shm")))

FIGURE5 = (
    plan.Claim("IV-C, figure 5", "puts with ids of 8 bytes beat active messages", "up to 256 B",
               "round-trips", judges.beats_messages),
    plan.Claim("IV-C, figure 5", "ids of 2 bytes cost more than ids of 64", "-", "round-trips",
               judges.two_bytes_cost_more),
    plan.Claim("IV-C, figure 5", "latency of active messages jumps", "at 1 KB", "round-trips",
               judges.messages_jump),
    plan.Claim("IV-C, figure 5", "it stays above that of puts with ids of any size from there on",
               "1 KB", "round-trips", judges.messages_stay_higher),
    plan.Claim("IV-C, figure 5", "latency and bandwidth of puts with ids rise smoothly", "-",
               "round-trips", judges.is_smooth))

FIGURE6 = (
    plan.Claim("IV-D, figure 6", "latency of gets is consistent as nodes become more",
               "2,048 nodes, 49,152 cores", "simulated-gets",
               growth.stays("latency", 16, 2048, growth.FLAT)),
    plan.Claim("IV-D, figure 6", "the same, by processes: processor time of a get over shm",
               "2,048 nodes", "random-gets",
               growth.stays("processor shm", 2, 64, growth.FLAT_PROCESSOR, False)),
    plan.Claim("IV-D, figure 6", "the same, by processes: processor time of a get over tcp",
               "2,048 nodes", "random-gets",
               growth.stays("processor tcp", 2, 64, growth.FLAT_PROCESSOR, False)),
    plan.Claim("IV-D", "figures vary from run to run (its threads are not pinned)", "-",
               "random-gets", growth.varies),
    plan.Claim("IV-D", "it is expected to scale further", "10,000 nodes", "simulated-gets",
               growth.stays("latency", 2048, 10240, growth.FLAT)),
    plan.Claim("IV-D", "number and size of ledger buffers are still to be dealt with at that scale",
               "10,000 nodes", "memory", growth.memory_is_small))

RUNTIME = (
    plan.Claim("V", "a probe's callback runs tasks with low overhead: round trips over shm", "-",
               "parcels", growth.as_cheap_as_messages("round trip shm")),
    plan.Claim("V", "the same: parcels a second over shm", "-", "parcels",
               growth.as_cheap_as_messages("rate shm")),
    plan.Claim("V", "the same: round trips over tcp", "-", "parcels",
               growth.as_cheap_as_messages("round trip tcp")),
    plan.Claim("V", "the same: parcels a second over tcp", "-", "parcels",
               growth.as_cheap_as_messages("rate tcp")),
    plan.Claim("V", "it has become the default network of HPX-5", "-", None,
               lambda: plan.cannot("HPX-5 is no program of this tree")),
    plan.Claim("abstract, VI", "latency is comparable with other one-sided libraries or better, on "
               "two networks", "-", "moves", judges.comparable_overall("latency")),
    plan.Claim("abstract, VI", "so is throughput", "-", "moves",
               judges.comparable_overall("bandwidth")),
    plan.Claim("VI", "as active messages it is comparable or better", "-", "round-trips",
               judges.as_good_as_others))

PAPER = plan.Paper(
    "pwc", "Photon: Remote Memory Access Middleware for High-Performance Runtime Systems",
    EXPERIMENTS, FIGURES, BACKENDS + FIGURE3 + FIGURE4 + FIGURE5 + FIGURE6 + RUNTIME)
