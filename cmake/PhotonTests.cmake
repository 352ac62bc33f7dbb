# Test binaries from folders: everything is globbed, so that a new test needs no CMake edit.

# photon_suite(NAME TIMEOUT seconds [SERIAL]) : tests/<NAME>/*.cpp -> photon_<NAME>_tests, linked
# with the library's internals and GoogleTest, one ctest entry. SERIAL: nothing runs beside it.
function(photon_suite name)
  cmake_parse_arguments(PARSE_ARGV 1 suite "SERIAL" "TIMEOUT" "")
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  if(NOT sources)
    return()
  endif()
  set(target photon_${name}_tests)
  add_executable(${target} ${sources})
  target_include_directories(${target} PRIVATE
    ${CMAKE_CURRENT_SOURCE_DIR}/support ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE photon_internal GTest::gmock GTest::gtest_main)
  target_compile_definitions(${target} PRIVATE
    PHOTON_BIN_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}"
    PHOTON_EXAMPLES_DIR="${CMAKE_BINARY_DIR}/examples"
    PHOTON_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  set_target_properties(${target} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  if(NOT name STREQUAL "process")
    add_dependencies(threads_only ${target})
  endif()
  add_test(NAME ${name} COMMAND ${target})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${suite_TIMEOUT} SKIP_RETURN_CODE 77)
  if(suite_SERIAL)
    set_tests_properties(${name} PROPERTIES RUN_SERIAL ON)
  endif()
endfunction()

# One executable per file of tests/process/programs, linked like a user's program.
function(photon_helper_programs)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/process/programs/*.cpp)
  foreach(source IN LISTS sources)
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} ${source})
    target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/support)
    target_link_libraries(${name} PRIVATE photon photon_flags Threads::Threads)
    if(TARGET photon_process_tests)
      add_dependencies(photon_process_tests ${name})
    endif()
  endforeach()
  if(TARGET photon_process_tests)
    add_dependencies(photon_process_tests programs)
  endif()
endfunction()

# tests/fuzz/<x>.cpp defines LLVMFuzzerTestOneInput. With libFuzzer it is a fuzzer, else a program
# that replays tests/fuzz/corpus/<x>/*; either way ctest runs the corpus.
function(photon_fuzz_targets)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/*.cpp)
  foreach(source IN LISTS sources)
    get_filename_component(name ${source} NAME_WE)
    set(target fuzz_${name})
    set(corpus ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/corpus/${name})
    add_executable(${target} ${source})
    target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/support)
    target_link_libraries(${target} PRIVATE photon_internal)
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
