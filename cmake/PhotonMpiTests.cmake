# Tests of one-sided MPI: programs of C that are what users have (tests/mpi/programs), compiled for
# each MPI that is here and linked with it alone, and a suite that starts them with and without the
# preloaded library. No MPI has sanitizers, so there is none of it under PHOTON_SANITIZE.
#
#   build/release/bin/mpi/<program>-<flavour>, lib<tool>-<flavour>.so
#   build/release/bin/mpi/linked/<program>-<flavour>: with libphoton_mpi-<flavour>, not preloaded

# Libraries to preload beside ours (tests/mpi/tools).
function(photon_mpi_tool name flavour source)
  set(target mpi_tool_${name}-${flavour})
  add_library(${target} MODULE ${CMAKE_CURRENT_SOURCE_DIR}/mpi/tools/${source})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow -O1)
  target_link_libraries(${target} PRIVATE photon_mpi_api_${flavour} dl)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name}-${flavour}
    C_VISIBILITY_PRESET default CXX_VISIBILITY_PRESET default  # of MPI's names
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/mpi)
  add_dependencies(photon_mpi_tests ${target})
endfunction()

# One program, linked with MPI and what else is named.
function(photon_mpi_program target flavour source folder)
  add_executable(${target} ${source})
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow -O1)
  target_include_directories(${target} PRIVATE ${PHOTON_MPI_INCLUDE})
  target_link_libraries(${target} PRIVATE ${ARGN} photon_mpi_api_${flavour} Threads::Threads)
  photon_mpi_link(${target} ${flavour})
  get_filename_component(name ${source} NAME_WE)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name}-${flavour}
    C_STANDARD 11 RUNTIME_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${folder})
  add_dependencies(photon_mpi_tests ${target})
endfunction()

# Those that are linked with our library: some of the others by its names, and two that have them.
function(photon_mpi_linked_programs flavour sources)
  set(here ${CMAKE_CURRENT_SOURCE_DIR}/mpi/linked)
  foreach(source IN LISTS sources)
    get_filename_component(name ${source} NAME_WE)
    if(name MATCHES "^(matrix|windows|errors|atomic|threads|large_counts|am)$")
      photon_mpi_program(mpi_linked_${name}-${flavour} ${flavour} ${source} mpi/linked
        photon_mpi-${flavour})
      target_compile_options(mpi_linked_${name}-${flavour} PRIVATE -include ${here}/names.h)
    endif()
  endforeach()
  photon_mpi_program(mpi_linked_one_job-${flavour} ${flavour} ${here}/one_job.c mpi/linked
    photon_mpi-${flavour})
  foreach(example mpi_tickets mpi_bfs)
    photon_mpi_program(${example}-${flavour} ${flavour}
      ${PROJECT_SOURCE_DIR}/examples/${example}/${example}.c mpi/linked photon_mpi-${flavour})
  endforeach()
endfunction()

function(photon_mpi_programs flavour)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/mpi/programs/*.c)
  photon_mpi_version(${flavour} version)
  if(version LESS 4)
    list(FILTER sources EXCLUDE REGEX "/large_[a-z_]*\\.c$")
  endif()
  foreach(source IN LISTS sources)
    get_filename_component(name ${source} NAME_WE)
    photon_mpi_program(mpi_${name}-${flavour} ${flavour} ${source} mpi)
  endforeach()
  photon_mpi_linked_programs(${flavour} "${sources}")
  photon_mpi_tool(counting_tool ${flavour} counting_tool.c)
  photon_mpi_tool(put_tool ${flavour} put_tool.c)
  photon_mpi_tool(one_thread ${flavour} one_thread.cpp)
  add_dependencies(photon_mpi_tests photon_pmpi-${flavour})
endfunction()

function(photon_mpi_tests)
  if(PHOTON_SANITIZE OR NOT PHOTON_MPI_FLAVOURS)
    return()
  endif()
  # Ranks of MPI spin, so beside others that compute each wait of theirs takes a slice of time.
  photon_suite(mpi TIMEOUT 600 SERIAL LABELS mpi)
  target_compile_definitions(photon_mpi_tests PRIVATE
    PHOTON_MPI_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/mpi"
    PHOTON_LIB_DIR="$<TARGET_FILE_DIR:photon>")
  if(PHOTON_MPIEXEC_mpi5)
    target_compile_definitions(photon_mpi_tests PRIVATE
      PHOTON_MPIEXEC_MPI5="${PHOTON_MPIEXEC_mpi5}")
  else()
    target_compile_definitions(photon_mpi_tests PRIVATE PHOTON_MPIEXEC_MPI5="mpiexec")
  endif()
  foreach(flavour IN LISTS PHOTON_MPI_FLAVOURS)
    photon_mpi_programs(${flavour})
  endforeach()
endfunction()
