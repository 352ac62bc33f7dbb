# The layers of interop/mpi, lowest first (docs/mpi.md). Read by the build and by the check alone.
photon_layer(interop/mpi/lock OUTSIDE LIBRARY mpi USES sync)
