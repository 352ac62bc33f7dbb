# The benchmarks of one-sided MPI (bench/mpi_overlap, bench/mpi_bfs, bench/papers/am_mpi), tiny:
# each MPI that is installed, with our library before it; the models beside which that is compared
# take minutes where other tests compute. Contents and trees are verified, figures are not judged.
# Skipped if no MPI is installed.
function(photon_mpi_bench_tests)
  if(NOT CMAKE_BUILD_TYPE STREQUAL "Release" OR PHOTON_SANITIZE)
    return()
  endif()
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  set(bench ${PROJECT_SOURCE_DIR}/bench)
  foreach(script mpi_overlap/run mpi_overlap/run_nowin mpi_bfs/run)
    string(REPLACE "/run" "" name ${script})
    add_test(NAME ${name} COMMAND Python3::Interpreter -B
      ${bench}/${script} ${CMAKE_LIBRARY_OUTPUT_DIRECTORY} --tiny --models ours)
    set_tests_properties(${name} PROPERTIES TIMEOUT 300 LABELS "mpi;tree" SKIP_RETURN_CODE 77
      RESOURCE_LOCK spinning)
  endforeach()
  add_test(NAME am_mpi COMMAND Python3::Interpreter -B ${bench}/papers/am_mpi/run
    ${CMAKE_LIBRARY_OUTPUT_DIRECTORY} --tiny --models ours --out ${CMAKE_BINARY_DIR}/papers/am_mpi)
  set_tests_properties(am_mpi PROPERTIES TIMEOUT 300 LABELS "mpi;tree" SKIP_RETURN_CODE 77
    RESOURCE_LOCK spinning)
endfunction()
