"""The experiments of "RVMA: Remote Virtual Memory Access" (Grant, Levenhagen, Dosanjh and Widener):
mailboxes that count. rvma_real.py and rvma_simulated.py measure, rvma_judges.py judges."""
import plan
import rvma_judges as judges
import rvma_real as real
import rvma_simulated as simulated

NODES = (64, 512, 8192)


def panels_of(number, forms):
    """Titles of those that may be there."""
    return {simulated.panel_of(nodes, form, Gbps): simulated.panel_of(nodes, form, Gbps)
            for nodes in NODES for form in forms for Gbps in simulated.RATES}


def motif_figure(name, number, forms, caption):
    experiment = simulated.SWEEP if number == 7 else simulated.HALO
    return plan.Figure(name, f"figure {number}", caption, experiment.name, "topology, routing",
                       panels_of(number, forms), drawing="bars", is_log=(False, False))


TRANSPORT_PANELS = {each: each for each in real.TRANSPORTS}
FIGURES = (
    plan.Figure("figure4-5", "figures 4 and 5",
                "Latency over size: a counted put beside RDMA with and without order.",
                real.LATENCY.name, "bytes", TRANSPORT_PANELS),
    plan.Figure("figure4-5-simulated", "figures 4 and 5",
                "The same between two simulated nodes; rdma-put relies on order, and on adaptive "
                "ways its card holds early packets back.",
                simulated.LATENCY.name, "bytes"),
    plan.Figure("figure6", "figure 6", "Exchanges until set-up is amortised to 3%.",
                real.SETUP.name, "bytes", {each: each for each in (*real.TRANSPORTS, "simulated")}),
    plan.Figure("figure6-setup", "figure 6", "The set-up itself: ask, register, answer.",
                real.SETUP.name, "bytes",
                {each + real.SETUP_TIME: each for each in (*real.TRANSPORTS, "simulated")}),
    plan.Figure("first-message", "figure 6", "A first message, with and without set-up.",
                real.FIRST.name, "bytes"),
    plan.Figure("order", "section IV-D", "A message in 16 pieces, by the order of its pieces.",
                real.ORDER.name, "bytes", TRANSPORT_PANELS),
    motif_figure("figure7", 7, simulated.FORMS[7][:1],
                 "Sweep3D with minimal compute: the time of each card over that of rvma."),
    motif_figure("figure7-more", 7, simulated.FORMS[7][1:],
                 "Sweep3D with more compute, and with 32 ranks a node."),
    motif_figure("figure8", 8, simulated.FORMS[8][:1],
                 "Halo3D (faces): the time of each card over that of rvma."),
    motif_figure("figure8-more", 8, simulated.FORMS[8][1:], "Halo3D with edges and corners."),
    plan.Figure("pcie", "section V-B", "Speed-ups by the latency of the host bus.",
                simulated.PCIE.name, "ns", is_log=(False, False)),
)

FIGURE4, FIGURE5 = "V-A1, figure 4", "V-A2, figure 5"
REAL_CLAIMS = (
    plan.Claim(FIGURE4, "a counted put saves so much of the latency of RDMA that sends a message "
               "behind each put; here over shm and tcp", "up to 65.8%", real.LATENCY.name,
               judges.real_saves(65.8, ("shm", "tcp"))),
    plan.Claim(FIGURE4, "the same, simulated", "up to 65.8%", simulated.LATENCY.name,
               judges.simulated_saves(65.8)),
    plan.Claim(FIGURE5, "the same over a portable layer; here libfabric", "45.8%",
               real.LATENCY.name, judges.real_saves(45.8, ("ofi",))),
    plan.Claim(FIGURE5, "the same, simulated", "45.8%", simulated.LATENCY.name,
               judges.simulated_saves(45.8)),
    plan.Claim("V-A, figures 4 and 5", "it is faster than RDMA that needs the message, at all "
               "sizes", "-", real.LATENCY.name,
               judges.is_superior(real.COUNTED, judges.REAL_OTHERS)),
    plan.Claim("V-A, figures 4 and 5", "the same, simulated", "-", simulated.LATENCY.name,
               judges.is_superior(simulated.RVMA, judges.SIMULATED_OTHERS)),
    plan.Claim(FIGURE4, "its latency is comparable to that of RDMA which relies on order", "-",
               real.LATENCY.name, judges.is_comparable(real.COUNTED, real.BY_ID)),
    plan.Claim(FIGURE4, "the same, simulated, whether routing is static or adaptive", "-",
               simulated.LATENCY.name, judges.is_comparable(simulated.RVMA, "rdma-put")),
    plan.Claim("V-A2, figure 6", "many exchanges are needed until the set-up of a buffer is within "
               "3%, with static and with adaptive routing", "-", real.SETUP.name,
               judges.takes_many_exchanges),
    plan.Claim("V-A2, figure 6", "transfers begin without asking for a buffer first, which RDMA "
               "has to do", "-", real.FIRST.name, judges.starts_without_setup),
)

SWEEP, HALO = simulated.SWEEP.name, simulated.HALO.name
FIGURE7, FIGURE8 = "V-B1, figure 7", "V-B1, figure 8"
MOTIF_CLAIMS = (
    plan.Claim(FIGURE7, "the mean speed-up of Sweep3D over all topologies and rates", "3.56x",
               SWEEP, judges.speed_ups(7, judges.mean_is(3.56))),
    plan.Claim(FIGURE7, "on contemporary networks (here up to 400 Gbps) the speed-up is at least "
               "this", "2x", SWEEP,
               judges.speed_ups(7, judges.least_is(2), judges.is_contemporary)),
    plan.Claim("V-B1, figure 7; abstract", "on a dragonfly with adaptive routing at 2 Tbps", "4.4x",
               SWEEP, judges.speed_ups(7, judges.mean_is(4.4),
                                       judges.place("dragonfly", "ugal", 2000))),
    plan.Claim(FIGURE7, "with adaptive routing RVMA clearly wins on every topology (here by a "
               "tenth at least)", "-", SWEEP,
               judges.speed_ups(7, judges.least_is(judges.LITTLE), judges.is_adaptive)),
    plan.Claim(FIGURE7, "most routings perform alike (here: within a tenth)", "-", SWEEP,
               judges.routing_matters_little),
    plan.Claim(FIGURE7, "the gain comes from what senders need not do: coordinate buffers, and "
               "tell that data are complete (here: each costs a tenth or more)", "-", SWEEP,
               judges.gains_are_coordination),
    plan.Claim(FIGURE7, "RVMA has no overhead over RDMA", "-", SWEEP, judges.has_no_overhead),
    plan.Claim(FIGURE7, "Sweep3D depends mostly on latency (here: 20 times the rate makes it less "
               "than 4.5 times as fast)", "-", SWEEP, judges.by_rate(7, lambda it: it < 20 ** 0.5)),
    plan.Claim(FIGURE8, "Halo3D profits from bandwidth (here: 20 times the rate makes it at least "
               "twice as fast)", "-", HALO, judges.by_rate(8, lambda it: it >= 2)),
    plan.Claim(FIGURE8, "the mean speed-up of Halo3D over all topologies and rates", "1.57x", HALO,
               judges.speed_ups(8, judges.mean_is(1.57))),
    plan.Claim(FIGURE8, "RVMA is faster everywhere (here: by more than 1%)", "-", HALO,
               judges.speed_ups(8, judges.least_is(judges.OVERHEAD))),
    plan.Claim(FIGURE8, "on HyperX with dimension-order routing at 400 Gbps", "1.64x", HALO,
               judges.speed_ups(8, judges.mean_is(1.64), judges.place("hyperx", "static", 400))),
    plan.Claim(FIGURE8, "the same at 2 Tbps", "1.89x", HALO,
               judges.speed_ups(8, judges.mean_is(1.89), judges.place("hyperx", "static", 2000))),
    plan.Claim(FIGURE8, "that place has the greatest speed-up at its rate", "-", HALO,
               judges.best_is_hyperx),
    plan.Claim(FIGURE8, "topology matters much (here: by half at each rate)", "-", HALO,
               judges.topology_matters_much),
    plan.Claim(FIGURE8, "RVMA has no overhead over RDMA", "-", HALO, judges.has_no_overhead),
    plan.Claim("V-B", "a host bus of less latency makes RVMA gain more", "-", simulated.PCIE.name,
               judges.gains_more_with_less_pcie),
    plan.Claim("V-B", "the models are validated with hardware", "-", None,
               judges.cannot("no such hardware here; docs/netsim-router.md holds the router to "
                             "SST's merlin")),
    plan.Claim("V-B1", "the lookup adds little to the cost of manufacturing a NIC", "< 0.1%", None,
               judges.cannot("nothing is manufactured here")),
)

PROMISES = real.PROMISES.name
DESIGN_CLAIMS = (
    plan.Claim("III-B, IV-D", "a buffer is complete by its count, in whatever order its bytes "
               "come; backwards costs no more", "-", real.ORDER.name, judges.order_is_free),
    plan.Claim("III-B, IV-A", "a sender knows a mailbox's address alone; buffers change without "
               "its hearing of it", "-", PROMISES,
               judges.promised("bucket: buffers complete in order", "bucket: wrong messages")),
    plan.Claim("III-C, IV", "a receiver that closes its mailbox keeps late writers out", "-",
               PROMISES, judges.promised("late: messages refused", "late: bytes changed after it",
                                         "late: bytes that had come")),
    plan.Claim("III-C", "a receiver can take a buffer before it is complete; the rest lands in the "
               "next one", "-", PROMISES,
               judges.promised("early: bytes in the one taken back",
                               "early: parts in a wrong buffer")),
    plan.Claim("IV-B", "a receiver may also place messages itself, one behind the other", "-",
               PROMISES, judges.promised("managed: bytes landed", "managed: wrong messages")),
    plan.Claim("IV-E, IV-F", "earlier epochs are kept, so that communication goes back to a known "
               "state after a failure", "-", PROMISES, judges.goes_back),
    plan.Claim("IV-A", "an entry of the table takes this much memory", "24 B", real.MEMORY.name,
               judges.entry_is_small),
    plan.Claim("IV-C", "a thread that waits for the pointer by Monitor/MWait wakes within a clock "
               "cycle or some", "1 cycle", None,
               judges.cannot("the library uses no Monitor/MWait: it spins, and then sleeps by the "
                             "kernel")),
)

PAPER = plan.Paper("rvma", "RVMA: Remote Virtual Memory Access",
                   (*real.ALL_OF_THEM[:1], simulated.LATENCY, *real.ALL_OF_THEM[1:],
                    simulated.SWEEP, simulated.HALO, simulated.PCIE), FIGURES,
                   (*REAL_CLAIMS, *MOTIF_CLAIMS, *DESIGN_CLAIMS))
