# What a build can be told, and the flags every target of the project gets (photon_flags).

option(PHOTON_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(PHOTON_BUILD_EXAMPLES "Build the examples (libpng)" ${PROJECT_IS_TOP_LEVEL})
option(PHOTON_BUILD_STATIC "Build and install libphoton.a as well" OFF)
option(PHOTON_WERROR "Warnings are errors" OFF)
option(PHOTON_FUZZ "Build tests/fuzz with libFuzzer (clang only)" OFF)
set(PHOTON_WITH_OFI AUTO CACHE STRING "Transport ofi, on libfabric 1.17 or later: AUTO, ON, OFF")
set_property(CACHE PHOTON_WITH_OFI PROPERTY STRINGS AUTO ON OFF)
set(PHOTON_WITH_NETSIM AUTO CACHE STRING "The network simulator photon_netsim: AUTO, ON, OFF")
set_property(CACHE PHOTON_WITH_NETSIM PROPERTY STRINGS AUTO ON OFF)
set(PHOTON_LIBRARIES_OFF "")
if(PHOTON_WITH_NETSIM)
  find_package(nlohmann_json QUIET)
  find_package(tomlplusplus QUIET)
  if(NOT nlohmann_json_FOUND OR NOT tomlplusplus_FOUND)
    set(why "needs toml++ and nlohmann-json: scripts/install-deps installs them (Debian: \
libtomlplusplus-dev nlohmann-json3-dev)")
    if(NOT PHOTON_WITH_NETSIM STREQUAL "AUTO")
      message(FATAL_ERROR "PHOTON_WITH_NETSIM=ON ${why}")
    endif()
    message(STATUS "photon-netsim is left out, since it ${why}")
    set(PHOTON_WITH_NETSIM OFF)  # of this run of cmake; the cache keeps AUTO
  endif()
endif()
if(NOT PHOTON_WITH_NETSIM)
  list(APPEND PHOTON_LIBRARIES_OFF netsim)
endif()
set(PHOTON_SANITIZE "" CACHE STRING "Argument of -fsanitize=, e.g. address,undefined")

# Says in words what a build with tests lacks. A macro: what is found belongs to its caller.
macro(photon_test_needs)
  find_package(GTest)
  if(NOT GTest_FOUND)
    message(FATAL_ERROR "The tests need GoogleTest: scripts/install-deps build demo test installs "
      "all that they need (Debian: libgtest-dev libgmock-dev); or configure with "
      "-DPHOTON_BUILD_TESTS=OFF")
  endif()
  if(NOT PHOTON_BUILD_EXAMPLES)
    message(FATAL_ERROR "The tests run the examples: configure with -DPHOTON_BUILD_EXAMPLES=ON, or "
      "with -DPHOTON_BUILD_TESTS=OFF")
  endif()
endmacro()

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

# Tools and the tests' helper programs share one folder, so that a test finds both by name.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

find_program(PHOTON_CCACHE ccache)
if(PHOTON_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${PHOTON_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${PHOTON_CCACHE})
endif()

# The library's own sources: warnings that programs need not bear, and link-time optimisation of the
# shared library. Objects are "fat", so that the tests link them without it and in less time.
add_library(photon_layer_flags INTERFACE)
target_compile_options(photon_layer_flags INTERFACE -Wconversion -Wno-sign-conversion)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC joins neighbouring words in vector registers by way of the stack: the wide load waits until
  # the narrow stores have left the store buffer, behind a line that is on its way to another core.
  target_compile_options(photon_layer_flags INTERFACE -fno-tree-slp-vectorize)
  # Calls of one public function by another stay in the library and may be inlined: the classic API
  # stands on ph_ calls, and has no time for a second call.
  target_compile_options(photon_layer_flags INTERFACE -fno-semantic-interposition)
  # It clears 40 to 8,192 bytes by `rep stos`, whose start alone takes some 30 cycles; operations
  # are described by structures of 40 to 250.
  include(CheckCXXCompilerFlag)
  set(strategy unrolled_loop:512:noalign,libcall:-1:noalign)
  check_cxx_compiler_flag(-mmemset-strategy=${strategy} PHOTON_HAS_MEMSET_STRATEGY)
  if(PHOTON_HAS_MEMSET_STRATEGY)
    target_compile_options(photon_layer_flags INTERFACE -mmemset-strategy=${strategy})
  endif()
endif()
option(PHOTON_LTO "Optimise the library at link time (GCC, optimised builds)" ON)
if(PHOTON_LTO AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_BUILD_TYPE MATCHES "Rel")
  set(PHOTON_LTO_LINK -flto=auto)
  target_compile_options(photon_layer_flags INTERFACE -flto=auto -ffat-lto-objects)
endif()

add_library(photon_flags INTERFACE)
# Missing initializers are the point of `{.size = sizeof args, ...}`: the rest is zero.
target_compile_options(photon_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wno-missing-field-initializers -fno-plt
  $<$<BOOL:${PHOTON_WERROR}>:-Werror>)
target_link_options(photon_flags INTERFACE -Wl,-z,now -Wl,-z,relro)

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 sees overlapping copies in every `"literal" + std::string` (its bug 105329).
  target_compile_options(photon_flags INTERFACE -Wno-restrict)
  # Functions begin at a line, loops and what is only jumped to at 32 bytes, which the processor
  # fetches at a time: code that has not run for a while needs fewer fetches. With the library and
  # photon-perf built like this, half a trip of a first message after a silence took 79 instead of
  # 84 ns between near cores (Zen 4), with the library alone 84; exchanges took as long as before.
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    target_compile_options(photon_flags INTERFACE
      -falign-functions=64 -falign-jumps=32 -falign-loops=32)
  endif()
endif()

if(PHOTON_SANITIZE)
  # -O1: the sanitizers' reports stay readable, their tests run in bearable time. -g1: a report has
  # lines and names. What only calls what is tested (PHOTON_CALLS_ONLY) is not optimised: clang
  # needs a third of the time for it.
  target_compile_options(photon_flags INTERFACE
    -fsanitize=${PHOTON_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1
    $<IF:$<BOOL:$<TARGET_PROPERTY:PHOTON_CALLS_ONLY>>,-O0,-O1>)
  target_link_options(photon_flags INTERFACE -fsanitize=${PHOTON_SANITIZE})
  if(PHOTON_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Fences are invisible to TSan; where one carries an ordering, the checker in tests/ covers it.
    target_compile_options(photon_flags INTERFACE -Wno-tsan)
  endif()
endif()

# The coverage that libFuzzer looks for belongs to what is fuzzed, the library: elsewhere it is paid
# for in compile time and at each branch.
add_library(photon_fuzzed INTERFACE)
if(PHOTON_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "PHOTON_FUZZ needs clang: configure with --preset clang")
  endif()
  target_compile_options(photon_fuzzed INTERFACE -fsanitize=fuzzer-no-link)
  target_link_libraries(photon_layer_flags INTERFACE photon_fuzzed)
endif()

# Under the sanitizers the headers and templates that neighbours share cost more than the neighbours
# themselves, and so it is for the static checks. The build that users get sees each file by itself.
set(together OFF)
if(PHOTON_SANITIZE)
  set(together ON)
endif()
option(PHOTON_SOURCES_TOGETHER "Compile forty sources of a target as one" ${together})

# photon_together(TARGET [ALWAYS]): as PHOTON_SOURCES_TOGETHER says; ALWAYS: in every build, of what
# is no part of the library and is not measured. Names local to a file are local to the target's
# folder then.
function(photon_together target)
  if(PHOTON_SOURCES_TOGETHER OR "ALWAYS" IN_LIST ARGN)
    # A local name may be that of a constant of another file. And it is no slip that a source is
    # included.
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 40
      UNITY_BUILD_CODE_BEFORE_INCLUDE "#pragma GCC diagnostic ignored \"-Wshadow\"
// NOLINTNEXTLINE(bugprone-suspicious-include)")
  endif()
endfunction()
