# The layers of photon_netsim, lowest first. The network knows no card, cards know no network, and
# motifs know neither; only run/ sees them all. Read by the build and by the check alone.
photon_layer(netsim/clock LIBRARY netsim)
photon_layer(netsim/queue LIBRARY netsim USES netsim/clock)
photon_layer(netsim/net   LIBRARY netsim USES netsim/clock netsim/queue)
photon_layer(netsim/nic   LIBRARY netsim USES netsim/clock)
photon_layer(netsim/motif LIBRARY netsim USES netsim/clock)
photon_layer(netsim/run   LIBRARY netsim USES netsim/clock netsim/queue netsim/net netsim/nic
  netsim/motif)
