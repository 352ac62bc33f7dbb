# The layers, lowest first, and what each may include. Read by the build and by the check alone.
# What photonrun links as well, where the library is not: it stands on nothing of ours.
photon_layer(system SOURCES ${PHOTON_SYSTEM_SOURCES})
photon_layer(base          USES system)
photon_layer(sync          USES base)
photon_layer(wire          USES base)
photon_layer(boot          USES base)
photon_layer(transport     USES base sync wire)
photon_layer(transport/shm USES base sync wire boot transport)
photon_layer(transport/sim USES base sync wire boot transport)
# What transports share that carry lines over a network: it knows none of them.
photon_layer(transport/network USES base sync wire boot transport)
photon_layer(transport/tcp USES base sync wire boot transport transport/network)
photon_layer(transport/ofi SOURCES ${PHOTON_OFI_SOURCES}
  USES base sync wire boot transport transport/network)
photon_layer(transport/mixed USES base sync wire boot transport)
# The contract of what stands on the engine, and each service, which sees no other and no engine.
photon_layer(service       USES base sync wire transport)
photon_layer(service/echo  USES base sync wire transport service)
photon_layer(service/rendezvous USES base sync wire transport service)
photon_layer(service/mailbox USES base sync wire transport service)
photon_layer(service/am     USES base sync wire transport service)
# Collectives: what members do, as pure functions, and the arithmetic; the service that does it.
photon_layer(schedule      USES base)
photon_layer(fold          USES base)
photon_layer(service/coll  USES base sync wire transport service schedule fold)
# What the engine is put together of: none of it names the engine.
photon_layer(engine/parts  USES base sync wire transport service)
photon_layer(engine        USES base sync wire boot transport service engine/parts)
photon_layer(api           USES base sync wire boot transport engine/parts engine transport/shm
  transport/sim transport/tcp transport/ofi transport/mixed service/echo service/rendezvous
  service/mailbox service/am service/coll schedule fold)
# Streams: a client of the ABI, too. Of src/ it has containers alone.
photon_layer(stream        USES base)
# The classic API: a client of the ABI within the library. Of src/ it has the atomics alone.
photon_layer(compat OUTSIDE USES sync)

# Message-driven tasks, a library of their own.
include(${PHOTON_SOURCE_ROOT}/task/layers.cmake)
# Converse programs, on top of it.
include(${PHOTON_SOURCE_ROOT}/converse/layers.cmake)

# One-sided MPI (docs/mpi.md): of src/ it has the atomics alone, as compat/.
include(${PHOTON_SOURCE_ROOT}/interop/mpi/layers.cmake)

# The network simulator, a library of its own.
include(${PHOTON_SOURCE_ROOT}/netsim/layers.cmake)

photon_check_layers()
photon_lend(system tools/photonrun)
photon_check_public_only(tools examples bench interop/reconverse)
