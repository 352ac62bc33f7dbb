# The layers of interop/mpi, lowest first (docs/mpi.md). Read by the build and by the check alone.
# interop/CMakeLists.txt builds those that stand on MPI, once for each MPI: here they are checked.
list(APPEND PHOTON_LIBRARIES_OFF mpi)
photon_layer(interop/mpi/lock    OUTSIDE LIBRARY mpi USES sync)
photon_layer(interop/mpi/fold    OUTSIDE LIBRARY mpi USES sync)
photon_layer(interop/mpi/real    OUTSIDE LIBRARY mpi USES sync)
photon_layer(interop/mpi/type    OUTSIDE LIBRARY mpi USES sync interop/mpi/fold interop/mpi/real)
photon_layer(interop/mpi/window  OUTSIDE LIBRARY mpi USES sync interop/mpi/lock interop/mpi/fold
  interop/mpi/real interop/mpi/type)
photon_layer(interop/mpi/message OUTSIDE LIBRARY mpi USES sync interop/mpi/real interop/mpi/type
  interop/mpi/window)
photon_layer(interop/mpi/call    OUTSIDE LIBRARY mpi USES sync interop/mpi/fold interop/mpi/real
  interop/mpi/type interop/mpi/window interop/mpi/lock interop/mpi/message)
photon_layer(interop/mpi/mpix    OUTSIDE LIBRARY mpi USES sync interop/mpi/real interop/mpi/call
  interop/mpi/window)
photon_layer(interop/mpi/preload OUTSIDE LIBRARY mpi USES interop/mpi/real interop/mpi/call
  interop/mpi/mpix)
photon_layer(interop/mpi/linked  OUTSIDE LIBRARY mpi USES interop/mpi/real interop/mpi/call
  interop/mpi/mpix)
