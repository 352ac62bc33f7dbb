# Tests of the tree itself rather than of the library: tidy rules, layers, the installed package.

function(photon_tree_checks)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  set(tidy ${PROJECT_SOURCE_DIR}/tests/tidy)
  add_test(NAME tidy COMMAND Python3::Interpreter -B ${tidy}/tidy.py)
  add_test(NAME tidy_rules COMMAND Python3::Interpreter -B ${tidy}/tidy_test.py)
  add_test(NAME layers COMMAND Python3::Interpreter -B ${tidy}/layers_test.py ${CMAKE_COMMAND})
  add_test(NAME call_cycles_rules COMMAND Python3::Interpreter -B ${tidy}/call_cycles_test.py
    ${CMAKE_CXX_COMPILER})
  add_test(NAME programs_on_pages COMMAND Python3::Interpreter -B
    ${PROJECT_SOURCE_DIR}/tests/pages/blocks_test.py ${CMAKE_C_COMPILER} ${CMAKE_CXX_COMPILER})
  add_test(NAME architecture_page COMMAND Python3::Interpreter -B
    ${PROJECT_SOURCE_DIR}/tests/pages/architecture_test.py)
  add_test(NAME guides COMMAND Python3::Interpreter -B
    ${PROJECT_SOURCE_DIR}/tests/pages/guides_test.py)
  add_test(NAME architecture_picture COMMAND Python3::Interpreter -B
    ${PROJECT_SOURCE_DIR}/tests/pages/picture_test.py)
  add_test(NAME scripts COMMAND Python3::Interpreter -B
    ${PROJECT_SOURCE_DIR}/tests/scripts/scripts_test.py)
  # The plain model that the simulator of networks is compared with.
  add_test(NAME netsim_oracle COMMAND Python3::Interpreter -B
    ${PROJECT_SOURCE_DIR}/tests/netsim/oracle_test.py)
  set_tests_properties(tidy tidy_rules layers programs_on_pages architecture_page
    guides call_cycles_rules architecture_picture scripts netsim_oracle
    PROPERTIES TIMEOUT 180 LABELS tree)
  set_tests_properties(architecture_picture PROPERTIES SKIP_RETURN_CODE 77)
  set_tests_properties(scripts PROPERTIES TIMEOUT 300)  # it runs clang-tidy some times
  # The calls stand in the objects of a build that compiles each file by itself; only one with
  # libfabric has all circles of the list.
  if(PHOTON_FABRIC AND NOT PHOTON_SANITIZE AND NOT PHOTON_SOURCES_TOGETHER AND
      CMAKE_BUILD_TYPE STREQUAL "Release" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_test(NAME call_cycles COMMAND Python3::Interpreter -B
      ${PROJECT_SOURCE_DIR}/scripts/call-cycles --build ${CMAKE_BINARY_DIR}
      --known ${tidy}/known_circles.txt --floors ${PROJECT_SOURCE_DIR}/docs/architecture.md)
    set_tests_properties(call_cycles PROPERTIES TIMEOUT 120 LABELS tree)
  endif()
endfunction()

# What photon-plot makes of measurements, and photon-perf --plot from end to end. The second says
# that it is skipped where there is no matplotlib: only who draws needs it.
function(photon_plot_tests)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  set(plot ${PROJECT_SOURCE_DIR}/tests/plot)
  add_test(NAME plot_model COMMAND Python3::Interpreter -B ${plot}/model_test.py)
  add_test(NAME plot_netsim_model COMMAND Python3::Interpreter -B ${plot}/netsim_model_test.py)
  add_test(NAME plot_with_matplotlib COMMAND Python3::Interpreter -B ${plot}/picture_test.py
    ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  set_tests_properties(plot_model plot_netsim_model plot_with_matplotlib
    PROPERTIES TIMEOUT 300 LABELS tree)
  set_tests_properties(plot_with_matplotlib PROPERTIES SKIP_RETURN_CODE 77 RUN_SERIAL ON)
endfunction()

# Sanitized libraries need a sanitized consumer, so only plain builds are installed.
function(photon_install_test)
  if(PHOTON_SANITIZE)
    return()
  endif()
  add_test(NAME install COMMAND ${PROJECT_SOURCE_DIR}/tests/install/install_test.sh
    ${CMAKE_BINARY_DIR} ${CMAKE_COMMAND} ${CMAKE_C_COMPILER} ${CMAKE_CXX_COMPILER})
  set_tests_properties(install PROPERTIES TIMEOUT 240 LABELS tree)
endfunction()

# What `make install` and `make demo` ask for, on a machine that has only that.
function(photon_set_up_test)
  add_test(NAME set_up COMMAND ${PROJECT_SOURCE_DIR}/tests/install/set_up_test.sh ${CMAKE_COMMAND})
  set_tests_properties(set_up PROPERTIES TIMEOUT 120 LABELS tree)
endfunction()

# No machine here lacks libfabric: what a build without it is made of is built beside this one, and
# its own unit test stands before what the library has in its place.
function(photon_without_libfabric_tests)
  if(NOT PHOTON_FABRIC)
    return()  # this is such a build
  endif()
  if(NOT CMAKE_BUILD_TYPE STREQUAL "Release" OR PHOTON_SANITIZE)
    return()  # the library is compiled as a few units there, and what differs is in one of them
  endif()
  set(target photon_no_fabric_tests)
  add_executable(${target} ${PROJECT_SOURCE_DIR}/tests/unit/transport/ofi/no_fabric_test.cpp
    ${PROJECT_SOURCE_DIR}/src/transport/ofi/no_fabric.cpp)
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/support)
  target_link_libraries(${target} PRIVATE photon_internal GTest::gtest_main)
  set_target_properties(${target} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests PHOTON_CALLS_ONLY ON)
  add_test(NAME no_fabric COMMAND ${target})
  set_tests_properties(no_fabric PROPERTIES TIMEOUT 60)
  add_test(NAME without_libfabric
    COMMAND ${PROJECT_SOURCE_DIR}/tests/install/without_libfabric_test.sh
    ${CMAKE_BINARY_DIR} ${CMAKE_COMMAND} ${CMAKE_CXX_COMPILER})
  set_tests_properties(without_libfabric PROPERTIES
    TIMEOUT 120 LABELS tree SKIP_RETURN_CODE 77)
endfunction()

# Nor OpenSSL: the library and photonrun with what stands in the place of their proofs then.
function(photon_without_openssl_test)
  find_package(OpenSSL COMPONENTS Crypto QUIET)
  if(NOT OpenSSL_FOUND)
    return()  # this is such a build, and its suites have these tests
  endif()
  if(NOT CMAKE_BUILD_TYPE STREQUAL "Release" OR PHOTON_SANITIZE)
    return()  # as above
  endif()
  set(target photon_no_proof_tests)
  set(unit ${CMAKE_CURRENT_SOURCE_DIR}/unit)
  set(photonrun ${PROJECT_SOURCE_DIR}/tools/photonrun)
  add_executable(${target} ${PROJECT_SOURCE_DIR}/src/system/no_hmac_proof.cpp
    ${photonrun}/call_failed.cpp ${photonrun}/proof.cpp
    ${unit}/system/no_hmac_proof_test.cpp ${unit}/boot/proof_test.cpp
    ${CMAKE_CURRENT_SOURCE_DIR}/launcher/proof_test.cpp)
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/support ${photonrun})
  target_link_libraries(${target} PRIVATE photon_internal GTest::gtest_main)
  set_target_properties(${target} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests PHOTON_CALLS_ONLY ON)
  add_test(NAME no_proof COMMAND ${target})
  # Tests that need proofs skip, but none that must have no crypto library.
  set_tests_properties(no_proof PROPERTIES TIMEOUT 60 LABELS "system;boot;photonrun"
    FAIL_REGULAR_EXPRESSION "has a crypto library")
endfunction()

# The classic API as old programs meet it: its headers under each compiler, its job formed by MPI.
# What is not installed is skipped, and says so.
function(photon_classic_tests)
  set(folder ${PROJECT_SOURCE_DIR}/tests/classic)
  add_test(NAME classic_headers_gcc COMMAND ${folder}/headers_test.sh
    ${PROJECT_SOURCE_DIR} gcc g++)
  add_test(NAME classic_headers_clang COMMAND ${folder}/headers_test.sh
    ${PROJECT_SOURCE_DIR} clang-16 clang++-16)
  set(tests classic_headers_gcc classic_headers_clang)
  if(NOT PHOTON_SANITIZE)  # what MPI's compiler makes is not sanitized
    foreach(flavour mpich openmpi)
      add_test(NAME classic_${flavour} COMMAND ${folder}/mpi_test.sh
        ${flavour} ${PROJECT_SOURCE_DIR} ${CMAKE_BINARY_DIR})
      list(APPEND tests classic_${flavour})
      # MPI's ranks spin for each other: beside eight that compute they take thirty times as long.
      set_tests_properties(classic_${flavour} PROPERTIES RESOURCE_LOCK spinning)
    endforeach()
  endif()
  set_tests_properties(${tests} PROPERTIES TIMEOUT 300 LABELS tree SKIP_RETURN_CODE 77)
  # As many operations as are promised, by themselves: who probes in a loop gives way to whatever
  # else runs. The other builds run fewer (tests/process).
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    add_test(NAME classic_10_million_operations
      COMMAND photonrun -n 2 --timeout 280 $<TARGET_FILE:classic_probers> 10000000)
    set_tests_properties(classic_10_million_operations PROPERTIES
      TIMEOUT 300 LABELS tree RUN_SERIAL ON)
  endif()
endfunction()

# Every rank floods every other, both ways at once, 64 messages under way over ledgers of 4; of each
# message the id and the word are looked at. 10,000 go round a ledger 2,500 times; `make soak` sends
# ten times as many.
function(photon_flood_tests)
  if(NOT CMAKE_BUILD_TYPE STREQUAL "Release")
    return()
  endif()
  foreach(transport shm tcp)
    add_test(NAME flood_of_8_ranks_${transport}
      COMMAND photonrun -n 8 --timeout 100 --env PHOTON_LEDGER_SLOTS=4
        $<TARGET_FILE:photon-perf> oversubscribe --transport ${transport} --iterations 10000)
    set_tests_properties(flood_of_8_ranks_${transport} PROPERTIES TIMEOUT 120 LABELS tree
      RESOURCE_LOCK spinning)
  endforeach()
endfunction()

# The comparison with MPI's collective operations, tiny: it skips each MPI that is not installed,
# and is skipped itself if none is.
function(photon_coll_vs_mpi_test)
  if(NOT CMAKE_BUILD_TYPE STREQUAL "Release" OR PHOTON_SANITIZE)
    return()
  endif()
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  add_test(NAME coll_vs_mpi COMMAND Python3::Interpreter -B
    ${PROJECT_SOURCE_DIR}/bench/coll_vs_mpi/run ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}
    --kinds barrier,allreduce --sizes 8,64K --buffers fresh --turns 1 --iterations 4)
  set_tests_properties(coll_vs_mpi PROPERTIES
    TIMEOUT 120 LABELS tree SKIP_RETURN_CODE 77 RUN_SERIAL ON)
endfunction()

# 64 ranks stand, have met their neighbours and are gone again in less time than they have to stand.
function(photon_startup_tests)
  if(NOT CMAKE_BUILD_TYPE STREQUAL "Release")
    return()
  endif()
  foreach(transport shm tcp)
    add_test(NAME startup_of_64_ranks_${transport}
      COMMAND photonrun -n 64 --timeout 3 $<TARGET_FILE:photon-perf> startup
        --transport ${transport})
    set_tests_properties(startup_of_64_ranks_${transport} PROPERTIES
      TIMEOUT 60 LABELS tree RUN_SERIAL ON)
  endforeach()
endfunction()

# Mixed operations among ranks that are processes, every byte looked at, by the providers of
# libfabric that are not the usual one: udp;ofi_rxd goes by datagrams, and shm takes no ranks that
# are threads (docs/ofi.md).
function(photon_provider_tests)
  if(NOT CMAKE_BUILD_TYPE STREQUAL "Release")
    return()
  endif()
  foreach(name net shm rxd)
    set(provider "${name}")
    if(name STREQUAL "rxd")
      set(provider "udp;ofi_rxd")
    endif()
    add_test(NAME stress_by_${name}
      COMMAND photonrun -n 4 --timeout 100 --env PHOTON_TRANSPORT=ofi
        --env "PHOTON_OFI_PROVIDER=${provider}" $<TARGET_FILE:engine_stress> 1 7 8)
    set_tests_properties(stress_by_${name} PROPERTIES TIMEOUT 120 LABELS tree
      SKIP_REGULAR_EXPRESSION "built without libfabric")
  endforeach()
endfunction()
