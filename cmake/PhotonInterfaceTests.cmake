# Programs of the interfaces of others: Converse, and the backend of its new release.

# One executable conv_<name> per file of tests/converse/programs, linked like a user's program.
# Sources of one name in a folder of their own are one program of several files.
function(photon_converse_programs)
  set(folder ${CMAKE_CURRENT_SOURCE_DIR}/converse/programs)
  file(GLOB entries CONFIGURE_DEPENDS LIST_DIRECTORIES true ${folder}/*)
  foreach(entry IN LISTS entries)
    set(sources ${entry})
    if(IS_DIRECTORY ${entry})
      file(GLOB sources CONFIGURE_DEPENDS ${entry}/*.c ${entry}/*.cpp)
    elseif(NOT entry MATCHES "\\.(c|cpp)$")
      continue()
    endif()
    get_filename_component(name ${entry} NAME)
    string(REPLACE "." "_" name conv_${name})  # ring.c and ring.cpp are two programs
    add_executable(${name} ${sources})
    set_target_properties(${name} PROPERTIES C_STANDARD 11 CXX_STANDARD 17 LINKER_LANGUAGE CXX
      RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/converse)
    # Programs cast handlers of other types.
    target_compile_options(${name} PRIVATE -Wall -Wextra -Wno-cast-function-type)
    target_link_libraries(${name} PRIVATE photon_converse Threads::Threads)
    if(PHOTON_SANITIZE)
      target_link_libraries(${name} PRIVATE photon_flags)
    endif()
    if(TARGET photon_converse_tests)
      add_dependencies(photon_converse_tests ${name})
    endif()
  endforeach()
  if(TARGET photon_converse_tests)
    add_dependencies(photon_converse_tests photonrun)
    target_compile_definitions(photon_converse_tests PRIVATE
      PHOTON_CONVERSE_DIR="${CMAKE_BINARY_DIR}/tests/converse"
      PHOTON_C_COMPILER="${CMAKE_C_COMPILER}" PHOTON_CXX_COMPILER="${CMAKE_CXX_COMPILER}")
  endif()
endfunction()

# Experiments of papers (bench/papers/*/run), tiny, and what their scripts make of figures.
function(photon_paper_tests)
  if(NOT CMAKE_BUILD_TYPE STREQUAL "Release" OR PHOTON_SANITIZE)
    return()
  endif()
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  add_test(NAME converse_zero_copy COMMAND Python3::Interpreter -B
    ${CMAKE_CURRENT_SOURCE_DIR}/converse/zero_copy_test.py ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  set_tests_properties(converse_zero_copy PROPERTIES
    TIMEOUT 300 LABELS converse RESOURCE_LOCK spinning)
  if(TARGET photon_converse_tests)
    add_dependencies(photon_converse_tests paper_zero_copy photon-perf)
  endif()
  set(papers ${CMAKE_CURRENT_SOURCE_DIR}/papers)
  add_test(NAME papers_framework COMMAND Python3::Interpreter -B ${papers}/framework_test.py)
  set_tests_properties(papers_framework PROPERTIES TIMEOUT 60 LABELS "papers;tree")
  add_test(NAME papers COMMAND Python3::Interpreter -B ${papers}/run_test.py ${CMAKE_BINARY_DIR})
  set_tests_properties(papers PROPERTIES TIMEOUT 600 LABELS papers RUN_SERIAL ON)
  add_test(NAME demo COMMAND ${PROJECT_SOURCE_DIR}/scripts/demo ${CMAKE_BINARY_DIR})
  set_tests_properties(demo PROPERTIES TIMEOUT 120 LABELS papers RESOURCE_LOCK spinning)
endfunction()

# A runtime on the backend of interop/reconverse, by the names of C++ and by those of C; and what
# the backend takes beside Photon's own calls.
function(photon_reconverse_programs)
  set(folder ${CMAKE_CURRENT_SOURCE_DIR}/reconverse/programs)
  file(GLOB calls CONFIGURE_DEPENDS ${folder}/calls.cpp ${folder}/cases_*.cpp)
  add_executable(reconverse_calls ${calls} ${folder}/runtime_cxx.cpp)
  add_executable(reconverse_calls_c ${calls} ${folder}/runtime_c.cpp)
  add_executable(reconverse_speed ${folder}/speed.cpp ${folder}/runtime_cxx.cpp)
  foreach(program reconverse_calls reconverse_calls_c reconverse_speed)
    target_sources(${program} PRIVATE ${folder}/regions.cpp)
    target_link_libraries(${program} PRIVATE photon_reconverse photon_flags Threads::Threads)
    add_dependencies(photon_reconverse_tests ${program})
  endforeach()
  add_dependencies(photon_reconverse_tests photonrun)
endfunction()
