# Test binaries from folders: everything is globbed, so that a new test needs no CMake edit.

# Several files of tests are compiled as one: most of a file's time goes into the headers and
# templates that all of them use. Off, a changed test is built in half the time.
option(PHOTON_TESTS_TOGETHER "Compile forty files of tests as one" ON)

# And what is left of that for a suite of many units is compiled once. By clang: of GCC 12 it takes
# longer than it saves for most suites, and warnings that it keeps to itself about the standard
# library come out of it. Nor where ccache finds whole units again, for it would have to be told to
# trust the clock. A file of tests includes what it uses all the same: without it all is built, too.
set(precompile OFF)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND NOT PHOTON_CCACHE)
  set(precompile ON)
endif()
option(PHOTON_PCH "Precompile GoogleTest and standard headers for suites of many units"
  ${precompile})

function(photon_precompiled target)
  if(PHOTON_PCH)
    target_precompile_headers(${target} PRIVATE <gtest/gtest.h> <algorithm> <array> <atomic>
      <chrono> <deque> <functional> <map> <memory> <mutex> <optional> <random> <set> <span> <string>
      <thread> <utility> <vector>)
  endif()
endfunction()

function(photon_tests_together target sources)
  if(NOT PHOTON_TESTS_TOGETHER)
    return()
  endif()
  # What is no test may change what it stands beside, as a replaced operator new does.
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  # A local name may be that of a constant of another file.
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 40
    UNITY_BUILD_CODE_BEFORE_INCLUDE "#pragma GCC diagnostic ignored \"-Wshadow\"")
endfunction()

# photon_suite(NAME TIMEOUT seconds [SERIAL] [SHARDS n] [APART] [FILTER f] [FOLDER d] [LABELS l]):
# tests/<NAME>/*.cpp, or d with the folders below it -> photon_<NAME>_tests, linked with the
# library's internals and GoogleTest, and n ctest entries that share its tests and have these labels
# (ctest -L). SERIAL: nothing runs beside it, for what does as much as it can in a given time. The
# others wait for longer than they compute, and their limits are of seconds. APART: each file is
# compiled by itself. FILTER: which of them, of GoogleTest; others have entries of their own.
# ONE_THREAD: no test of it has a second thread, so that the thread sanitizer has nothing to see
# there: it is no part of threads_only, and has the label one_thread, too.
function(photon_suite name)
  cmake_parse_arguments(PARSE_ARGV 1 suite "SERIAL;APART;ONE_THREAD"
    "TIMEOUT;SHARDS;FILTER;FOLDER" "LABELS")
  if(suite_FOLDER)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${suite_FOLDER}/*.cpp)
  else()
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  endif()
  if(NOT sources)
    return()
  endif()
  set(target photon_${name}_tests)
  add_executable(${target} ${sources})
  target_include_directories(${target} PRIVATE
    ${CMAKE_CURRENT_SOURCE_DIR}/support ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE photon_internal GTest::gmock GTest::gtest_main)
  set(sanitized false)  # tests/support/rounds.hpp
  if(PHOTON_SANITIZE)
    set(sanitized true)
  endif()
  string(FIND "${PHOTON_SANITIZE}" thread watched)
  target_compile_definitions(${target} PRIVATE
    PHOTON_SANITIZED=${sanitized}
    PHOTON_UNDER_TSAN=$<NOT:$<EQUAL:${watched},-1>>
    PHOTON_BIN_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}"
    PHOTON_EXAMPLES_DIR="${CMAKE_BINARY_DIR}/examples"
    PHOTON_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  set_target_properties(${target} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  if(NOT suite_APART)
    photon_tests_together(${target} "${sources}")
  endif()
  if(name MATCHES "^(checker|unit_.*)$")
    photon_precompiled(${target})
  endif()
  if(NOT name STREQUAL "checker")  # it is its own models that the checker works through
    set_target_properties(${target} PROPERTIES PHOTON_CALLS_ONLY ON)
  endif()
  if(NOT PHOTON_SANITIZE AND NOT name MATCHES "^(checker|stress)$")
    # Tests wait more than they compute; what they test was compiled as it is installed.
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
  if(suite_ONE_THREAD)
    photon_expect_one_thread("${sources}")
    list(APPEND suite_LABELS one_thread)
  elseif(NOT name MATCHES "^(process|checker)$")
    add_dependencies(threads_only ${target})
  endif()
  photon_suite_entries(${name} ${target} "${suite_SHARDS}")
  set_tests_properties(${entries} PROPERTIES TIMEOUT ${suite_TIMEOUT} SKIP_RETURN_CODE 77
    COST ${suite_TIMEOUT}  # what may take longest begins first, with others beside it
    LABELS "${suite_LABELS}")
  foreach(entry IN LISTS entries)  # how long each test takes, for scripts/slowest
    set_property(TEST ${entry} APPEND PROPERTY
      ENVIRONMENT "GTEST_OUTPUT=xml:${CMAKE_BINARY_DIR}/times/${entry}.xml")
  endforeach()
  if(suite_FILTER)
    set_property(TEST ${entries} APPEND PROPERTY ENVIRONMENT "GTEST_FILTER=${suite_FILTER}")
  endif()
  if(name STREQUAL "checker")
    # Its fibers are many and short, and each would get a second stack: five times the time.
    set_property(TEST ${entries} APPEND PROPERTY
      ENVIRONMENT "ASAN_OPTIONS=detect_stack_use_after_return=0")
  endif()
  if(suite_SERIAL)
    set_tests_properties(${entries} PROPERTIES RUN_SERIAL ON)
  endif()
endfunction()

# Nothing of what makes threads stands in these sources, nor in the headers beside them.
function(photon_expect_one_thread sources)
  set(folders "")  # the caller's is another
  foreach(source IN LISTS sources)
    get_filename_component(folder ${source} DIRECTORY)
    list(APPEND folders ${folder})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder IN LISTS folders)
    file(GLOB headers ${folder}/*.hpp)
    list(APPEND sources ${headers})
  endforeach()
  foreach(source IN LISTS sources)
    file(STRINGS ${source} threads REGEX "std::j?thread|std::async|pthread_create|thread_job")
    if(threads)
      message(FATAL_ERROR "${source} has threads: its suite is no longer ONE_THREAD")
    endif()
  endforeach()
endfunction()

# Memory that runs out when a test says so: it replaces operator new, so it is compiled by itself.
function(photon_shortage target)
  if(NOT TARGET photon_shortage)
    add_library(photon_shortage OBJECT ${CMAKE_CURRENT_SOURCE_DIR}/unit/shortage.cpp)
    target_include_directories(photon_shortage PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/support)
    target_link_libraries(photon_shortage PRIVATE photon_internal GTest::gtest)
  endif()
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:photon_shortage>)
endfunction()

# photon_unit_suites(TIMEOUT seconds): tests/unit mirrors src/; a suite unit_<layer> for each layer,
# with the layer as its label; unit/task has the tests of task/, which is a library of its own, and
# unit/mpi those of interop/mpi that need no MPI. What services, schedules and the wire are made of
# knows no threads: the engine's lock stands around each call of it. The suites of the engine show
# that it does.
function(photon_unit_suites)
  file(GLOB folders CONFIGURE_DEPENDS LIST_DIRECTORIES true ${CMAKE_CURRENT_SOURCE_DIR}/unit/*)
  foreach(folder IN LISTS folders)
    if(NOT IS_DIRECTORY ${folder})
      continue()
    endif()
    get_filename_component(layer ${folder} NAME)
    set(threads "")
    if(layer MATCHES "^(base|fold|schedule|service|stream|wire)$")
      set(threads ONE_THREAD)
    endif()
    photon_suite(unit_${layer} FOLDER unit/${layer} ${threads} LABELS ${layer} ${ARGV})
    if(NOT TARGET photon_unit_${layer}_tests)
      continue()  # an empty folder
    endif()
    target_include_directories(photon_unit_${layer}_tests PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/unit)
    photon_shortage(photon_unit_${layer}_tests)
    if(layer STREQUAL "task")
      get_property(objects GLOBAL PROPERTY PHOTON_OBJECTS_task)
      target_sources(photon_unit_task_tests PRIVATE ${objects})
      find_package(Boost REQUIRED COMPONENTS context)
      target_link_libraries(photon_unit_task_tests PRIVATE Boost::context)
    elseif(layer STREQUAL "mpi")
      target_link_libraries(photon_unit_mpi_tests PRIVATE photon_mpi_fold)
    endif()
  endforeach()
endfunction()

# One ctest entry of a suite, or so many that share its tests; their names go to `entries`.
function(photon_suite_entries name target shards)
  if(NOT shards)
    add_test(NAME ${name} COMMAND ${target})
    set(entries ${name} PARENT_SCOPE)
    return()
  endif()
  math(EXPR last "${shards} - 1")
  foreach(shard RANGE ${last})
    add_test(NAME ${name}_${shard} COMMAND ${target})
    set_tests_properties(${name}_${shard} PROPERTIES
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${shards};GTEST_SHARD_INDEX=${shard}")
    list(APPEND all ${name}_${shard})
  endforeach()
  set(entries ${all} PARENT_SCOPE)
endfunction()

# The engine's suite but for libfabric. Sanitizers make it three times as long, and what they look
# for is mostly the same under any setting. There engine_<n> has shared memory and sockets, these
# with the smallest rings, on which all other settings build; engine_rest_<n> are ten shares of the
# others, each with every setting. The gate draws one of them, `make soak` runs all. What comes out
# of every test under every setting is told by builds without sanitizers, in engine_<n>.
function(photon_engine_suite)
  set(filter "-*/ofi*")
  set(rest "*/shm_no_cma:*/shm_small:*/shm_scarce:*/sim:*/sim_*:*/tcp:*/mixed*")
  if(PHOTON_SANITIZE)
    set(filter "-*/ofi*:${rest}")
  endif()
  photon_suite(engine TIMEOUT 1200 SHARDS 3 FILTER ${filter} LABELS engine)
  if(NOT PHOTON_SANITIZE)
    return()
  endif()
  foreach(share RANGE 9)
    set(name engine_rest_${share})
    add_test(NAME ${name} COMMAND photon_engine_tests --gtest_filter=${rest})
    set_tests_properties(${name} PROPERTIES TIMEOUT 1200 COST 1200 LABELS engine
      ENVIRONMENT "GTEST_TOTAL_SHARDS=10;GTEST_SHARD_INDEX=${share}")
    set_property(TEST ${name} APPEND PROPERTY
      ENVIRONMENT "GTEST_OUTPUT=xml:${CMAKE_BINARY_DIR}/times/${name}.xml")
  endforeach()
endfunction()

# The engine's suite over libfabric, which is slow to open: each job takes a tenth of a second more.
# engine_ofi is what the transport decides: traffic, its order and ends, completions, sleep, lanes;
# with the smallest rings what fills them; and beside shared memory what both sides share. Not what
# the engine decides by itself, which is the same over tcp: refusals, regions, the life of the
# progress thread. All of it:
#   ctest -C Complete -R engine_ofi_all
# Jobs of few threads, which wait as long as it takes: others may run beside it.
function(photon_engine_ofi)
  add_test(NAME engine_ofi COMMAND photon_engine_tests
    "--gtest_filter=*/ofi:*PutGet*/ofi_small:*Leaving*/ofi_small\
:*PutGet*/ofi_mixed:*Ordering*/ofi_mixed:*Lanes*/ofi_mixed:*Atomic*/ofi_mixed\
:-*Bad*:*Registering*:*ProgressLife*:*ProbingOne*:*LanesLeaving*/ofi_small")
  add_test(NAME engine_ofi_all CONFIGURATIONS Complete
    COMMAND photon_engine_tests --gtest_filter=*/ofi*)
  set_tests_properties(engine_ofi engine_ofi_all PROPERTIES TIMEOUT 600 COST 90 LABELS engine)
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    add_test(NAME engine_ofi_providers COMMAND photon_engine_tests
      "--gtest_filter=*PutGet*/ofi_net:*Ordering*/ofi_net:*PutGet*/ofi_rxd:*Ordering*/ofi_rxd")
    set_tests_properties(engine_ofi_providers PROPERTIES TIMEOUT 600 LABELS engine)
  endif()
endfunction()

# photon_across(SUITE COUNT FILTER): those of a suite's tests once more on so many hosts, which are
# network namespaces; without them it says so and is skipped. Once, in the build that users get: the
# sanitizers see the same tests on hosts that are pretended.
function(photon_across suite count filter)
  set(name ${suite}_across_${count}_hosts)
  add_test(NAME ${name} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/hosts/across ${count}
    $<TARGET_FILE:photon_${suite}_tests> --gtest_filter=${filter})
  set_tests_properties(${name} PROPERTIES TIMEOUT 300 SKIP_RETURN_CODE 77 RUN_SERIAL ON
    LABELS "tree;hosts")
endfunction()

# photon_cut(TRANSPORT COUNT): two ranks whose cable is cut, at so many moments; of mixed there is a
# third one, which no cut concerns (tests/hosts/cut).
function(photon_cut transport count)
  add_test(NAME cut_${transport}
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/hosts/cut ${count} ${transport})
  set_tests_properties(cut_${transport} PROPERTIES TIMEOUT 120 SKIP_RETURN_CODE 77
    LABELS "tree;hosts"
    ENVIRONMENT CUT_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
endfunction()

# One executable per file of tests/process/programs, linked like a user's program.
function(photon_helper_programs)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/process/programs/*.cpp)
  foreach(source IN LISTS sources)
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} ${source})
    target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/support)
    if(name STREQUAL lender)  # it has a service of its own
      target_link_libraries(${name} PRIVATE photon_internal)
    elseif(name MATCHES "^late_(writes|grants)$")  # so have these
      target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/simtest/unfenced.cpp)
      target_link_libraries(${name} PRIVATE photon_internal)
    else()
      target_link_libraries(${name} PRIVATE photon photon_flags Threads::Threads)
    endif()
    if(TARGET photon_process_tests)
      add_dependencies(photon_process_tests ${name})
    endif()
  endforeach()
  # The one that MPI's compilers take, too, is C (tests/classic).
  set(folder ${CMAKE_CURRENT_SOURCE_DIR}/classic)
  add_executable(classic_careless ${folder}/careless.c ${folder}/careless_alone.c)
  target_link_libraries(classic_careless PRIVATE photon photon_flags Threads::Threads)
  # Sanitizers' parts for C++ come with its linker.
  set_target_properties(classic_careless PROPERTIES LINKER_LANGUAGE CXX)
  if(TARGET photon_process_tests)
    add_dependencies(photon_process_tests classic_careless)
  endif()
  # What stands between a program and the C library, e.g. to send in pieces what goes at once.
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/process/preload/*.cpp)
  foreach(source IN LISTS sources)
    get_filename_component(name ${source} NAME_WE)
    add_library(${name} MODULE ${source})
    target_link_libraries(${name} PRIVATE photon_flags Threads::Threads ${CMAKE_DL_LIBS})
    if(TARGET photon_process_tests)
      add_dependencies(photon_process_tests ${name})
      target_compile_definitions(photon_process_tests PRIVATE
        PHOTON_PRELOAD_DIR="$<TARGET_FILE_DIR:${name}>")
    endif()
  endforeach()
  if(TARGET photon_process_tests)
    add_dependencies(photon_process_tests programs)
  endif()
endfunction()

# What tests/launcher looks at: parts of photonrun, which is no library.
function(photon_launcher_parts)
  photon_find_fmt()
  set(folder ${PROJECT_SOURCE_DIR}/tools/photonrun)
  set(target photon_launcher_tests)
  target_sources(${target} PRIVATE ${folder}/address.cpp ${folder}/brief_write.cpp
    ${folder}/call_failed.cpp ${folder}/child.cpp ${folder}/cores.cpp ${folder}/fd.cpp
    ${folder}/feeder.cpp ${folder}/find_program.cpp ${folder}/frame.cpp ${folder}/host_handshake.cpp
    ${folder}/history.cpp ${folder}/host_list.cpp ${folder}/host_runs.cpp ${folder}/job_key.cpp
    ${folder}/look_up.cpp ${folder}/host_acceptor.cpp ${folder}/stdin_commands.cpp
    ${folder}/output.cpp ${folder}/packet.cpp ${folder}/proof.cpp ${folder}/rank_list.cpp
    ${folder}/remote_command.cpp ${folder}/secret.cpp ${folder}/shell_words.cpp
    ${folder}/signals.cpp ${folder}/sink.cpp ${folder}/host_connection.cpp
    ${folder}/startup_wait.cpp)
  target_include_directories(${target} PRIVATE ${folder})
  target_link_libraries(${target} PRIVATE photon_fmt)
endfunction()

# What tests/perf looks at: parts of photon-perf, which is no library.
function(photon_perf_parts)
  photon_find_fmt()
  set(folder ${PROJECT_SOURCE_DIR}/tools/photon-perf)
  target_sources(photon_perf_tests PRIVATE ${folder}/checksum.cpp ${folder}/contents.cpp
    ${folder}/copies.cpp ${folder}/coll_kinds.cpp ${folder}/limit_fold.cpp)
  target_include_directories(photon_perf_tests PRIVATE ${folder})
  target_link_libraries(photon_perf_tests PRIVATE photon_fmt)
endfunction()

# tests/fuzz/<x>.cpp defines LLVMFuzzerTestOneInput. With libFuzzer it is a fuzzer, else a program
# that replays tests/fuzz/corpus/<x>/*; either way ctest runs the corpus. netsim_<x> is the
# simulator's, the others are the library's.
function(photon_fuzz_targets)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/*.cpp)
  foreach(source IN LISTS sources)
    get_filename_component(name ${source} NAME_WE)
    set(fuzzed photon_internal)
    if(name MATCHES "^netsim_")
      set(fuzzed photon_netsim_toml)
      if(NOT TARGET photon_netsim)
        continue()
      endif()
    endif()
    set(target fuzz_${name})
    set(corpus ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpus/${name})
    add_executable(${target} ${source})
    target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/support)
    target_link_libraries(${target} PRIVATE ${fuzzed} photon_fuzzed)
    set_target_properties(${target} PROPERTIES
      RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
    if(PHOTON_FUZZ)
      target_link_options(${target} PRIVATE -fsanitize=fuzzer)
      add_test(NAME ${target} COMMAND ${target} -runs=0 ${corpus})
    else()
      target_sources(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/replay/replay_main.cpp)
      add_test(NAME ${target} COMMAND ${target} ${corpus})
    endif()
    set_tests_properties(${target} PROPERTIES TIMEOUT 60)
  endforeach()
endfunction()
