# Which MPI libraries are here, by their compilers: one build of interop/mpi for each ABI. A library
# that is built so is not linked with MPI: it finds the program's own when it runs.
#
#   PHOTON_MPI_FLAVOURS: those found, of "mpich", "openmpi" and "mpi5", the ABI of the standard
#   photon_mpi_api_<flavour>: a target with its mpi.h
#   PHOTON_MPICC_<flavour>, PHOTON_MPIEXEC_<flavour>: the compiler, for C, and what starts programs

set(PHOTON_WITH_MPI AUTO CACHE STRING "One-sided MPI that progresses (interop/mpi): AUTO, OFF")
set_property(CACHE PHOTON_WITH_MPI PROPERTY STRINGS AUTO OFF)
# It stands apart, for its other programs have the names of those of the distribution.
set(PHOTON_MPI5_PREFIX /opt/mpich5 CACHE PATH
  "An MPI with the ABI of MPI 5, beside those on the path (scripts/install-deps test)")

function(photon_find_mpi flavour compiler launcher)
  find_program(PHOTON_MPICC_${flavour} ${compiler} HINTS ${ARGN})
  if(NOT PHOTON_MPICC_${flavour})
    message(STATUS "One-sided MPI is left out for ${flavour}: no ${compiler} here "
      "(scripts/install-deps test)")
    return()
  endif()
  cmake_path(GET PHOTON_MPICC_${flavour} PARENT_PATH folder)
  find_program(PHOTON_MPIEXEC_${flavour} ${launcher} HINTS ${folder})
  execute_process(COMMAND ${PHOTON_MPICC_${flavour}} -show
    OUTPUT_VARIABLE line OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(STATUS "One-sided MPI is left out for ${flavour}: ${compiler} -show failed")
    return()
  endif()
  string(REGEX MATCHALL "-I[^ ]+" folders "${line}")
  list(TRANSFORM folders REPLACE "^-I" "")
  string(REGEX MATCHALL "-D[^ ]+" definitions "${line}")
  list(TRANSFORM definitions REPLACE "^-D" "")
  if(flavour STREQUAL "mpi5")
    list(APPEND definitions PHOTON_MPI_STANDARD_ABI=1)
  endif()
  add_library(photon_mpi_api_${flavour} INTERFACE)
  target_include_directories(photon_mpi_api_${flavour} SYSTEM INTERFACE ${folders})
  # The bindings for C++ that Open MPI's header had stand in no standard any more.
  target_compile_definitions(photon_mpi_api_${flavour} INTERFACE ${definitions}
    OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1)
  set(PHOTON_MPI_FLAVOURS ${PHOTON_MPI_FLAVOURS} ${flavour} PARENT_SCOPE)
endfunction()

set(PHOTON_MPI_FLAVOURS "")
if(PHOTON_WITH_MPI)
  photon_find_mpi(mpich mpicc.mpich mpiexec.mpich)
  photon_find_mpi(openmpi mpicc.openmpi mpirun.openmpi)
  photon_find_mpi(mpi5 mpicc_abi mpiexec ${PHOTON_MPI5_PREFIX}/bin)
endif()
