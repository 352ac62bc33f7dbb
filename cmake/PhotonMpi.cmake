# Which MPI libraries are here, by their compilers: one build of interop/mpi for each ABI. A library
# that is built so is not linked with MPI: it finds the program's own when it runs.
#
#   PHOTON_MPI_FLAVOURS: those found, of "mpich" and "openmpi"; target photon_mpi_api_<flavour>: its
#   mpi.h; PHOTON_MPICC_<flavour>: the compiler, for programs of C

set(PHOTON_WITH_MPI AUTO CACHE STRING "One-sided MPI that progresses (interop/mpi): AUTO, OFF")
set_property(CACHE PHOTON_WITH_MPI PROPERTY STRINGS AUTO OFF)

function(photon_find_mpi flavour)
  find_program(PHOTON_MPICC_${flavour} mpicc.${flavour})
  if(NOT PHOTON_MPICC_${flavour})
    message(STATUS "One-sided MPI is left out for ${flavour}: no mpicc.${flavour} here "
      "(scripts/install-deps test)")
    return()
  endif()
  execute_process(COMMAND ${PHOTON_MPICC_${flavour}} -show
    OUTPUT_VARIABLE line OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(STATUS "One-sided MPI is left out for ${flavour}: mpicc.${flavour} -show failed")
    return()
  endif()
  string(REGEX MATCHALL "-I[^ ]+" folders "${line}")
  list(TRANSFORM folders REPLACE "^-I" "")
  add_library(photon_mpi_api_${flavour} INTERFACE)
  target_include_directories(photon_mpi_api_${flavour} SYSTEM INTERFACE ${folders})
  # The bindings for C++ that Open MPI's header had stand in no standard any more.
  target_compile_definitions(photon_mpi_api_${flavour} INTERFACE
    OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1)
  set(PHOTON_MPI_FLAVOURS ${PHOTON_MPI_FLAVOURS} ${flavour} PARENT_SCOPE)
endfunction()

set(PHOTON_MPI_FLAVOURS "")
if(PHOTON_WITH_MPI)
  photon_find_mpi(mpich)
  photon_find_mpi(openmpi)
endif()
