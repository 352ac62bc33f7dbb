# Tests of datatypes for each MPI that is here: tests/mpi/types, in a job of one rank.

# What MPI's compiler for C links.
function(photon_mpi_link target flavour)
  execute_process(COMMAND ${PHOTON_MPICC_${flavour}} -show
    OUTPUT_VARIABLE line OUTPUT_STRIP_TRAILING_WHITESPACE)
  separate_arguments(parts UNIX_COMMAND "${line}")
  list(FILTER parts INCLUDE REGEX "^-[Ll]")
  target_link_libraries(${target} PRIVATE ${parts})
  foreach(part IN LISTS parts)
    if(part MATCHES "^-L(.*)")
      target_link_options(${target} PRIVATE -Wl,-rpath,${CMAKE_MATCH_1})
    endif()
  endforeach()
endfunction()

# The version of the standard that its mpi.h has.
function(photon_mpi_version flavour result)
  get_target_property(folders photon_mpi_api_${flavour} INTERFACE_INCLUDE_DIRECTORIES)
  set(${result} 0 PARENT_SCOPE)
  foreach(folder IN LISTS folders)
    if(EXISTS ${folder}/mpi.h)
      file(STRINGS ${folder}/mpi.h lines REGEX "#define[ ]+MPI_VERSION[ ]+[0-9]+")
      if(lines MATCHES "MPI_VERSION[ ]+([0-9]+)")
        set(${result} ${CMAKE_MATCH_1} PARENT_SCOPE)
      endif()
    endif()
  endforeach()
endfunction()

function(photon_mpi_type_tests)
  if(PHOTON_SANITIZE)  # MPI is not sanitized
    return()
  endif()
  set(mpi ${PROJECT_SOURCE_DIR}/interop/mpi)
  file(GLOB parts CONFIGURE_DEPENDS ${mpi}/real/*.cpp ${mpi}/type/*.cpp)
  foreach(flavour IN LISTS PHOTON_MPI_FLAVOURS)
    if(NOT PHOTON_MPIEXEC_${flavour})
      continue()
    endif()
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/mpi/types/*.cpp)
    photon_mpi_version(${flavour} version)
    if(version LESS 4)
      list(FILTER sources EXCLUDE REGEX "/large_[a-z_]*\\.cpp$")
    endif()
    set(target photon_mpi_type_tests_${flavour})
    add_executable(${target} ${sources} ${parts})
    set_target_properties(${target} PROPERTIES
      RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/mpi/types)
    target_link_libraries(${target} PRIVATE photon_mpi_fold photon_mpi_api_${flavour} photon_flags
      GTest::gtest Threads::Threads dl)
    photon_mpi_link(${target} ${flavour})
    add_test(NAME mpi_types_${flavour}
      COMMAND ${PHOTON_MPIEXEC_${flavour}} -n 1 $<TARGET_FILE:${target}>)
    # As root, as in a container.
    set_tests_properties(mpi_types_${flavour} PROPERTIES TIMEOUT 300 LABELS mpi
      RESOURCE_LOCK spinning ENVIRONMENT
      "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;\
OMPI_MCA_rmaps_base_oversubscribe=1;OMPI_MCA_hwloc_base_binding_policy=none")
  endforeach()
endfunction()
