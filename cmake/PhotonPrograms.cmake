# tools/, examples/ and bench/: one executable per folder (or per single .cpp), named after it.
# They see installed headers only, and photonrun what is lent to it; PhotonLayers checks it.

# Calls photon_program(KIND NAME SOURCES) for every program in a folder of the tree.
function(photon_add_folder kind)
  set(base ${PROJECT_SOURCE_DIR}/${kind})
  file(GLOB entries CONFIGURE_DEPENDS ${base}/*)
  # Programs of other libraries, to compare with: bench/*/run build what they find installed.
  list(FILTER entries EXCLUDE REGEX "/bench/(peers|coll_vs_mpi|mpi_[a-z]+)$")
  # Programs of MPI, once for each that is here (PhotonMpiTests).
  list(FILTER entries EXCLUDE REGEX "/examples/mpi_[a-z]+$")
  foreach(entry IN LISTS entries)
    get_filename_component(name ${entry} NAME_WE)
    if(IS_DIRECTORY ${entry})
      file(GLOB sources CONFIGURE_DEPENDS ${entry}/*.cpp ${entry}/*.c)
    elseif(entry MATCHES "\\.(c|cpp)$")
      set(sources ${entry})
    else()
      set(sources "")
    endif()
    if(sources)
      photon_program(${kind} ${name} "${sources}")
    endif()
  endforeach()
endfunction()

# fmt for who formats, compiled once (fmt_once.cpp). What has to be in there is of a version, so of
# others each source takes the headers alone.
function(photon_find_fmt)
  find_package(fmt REQUIRED)
  if(TARGET photon_fmt)
    return()
  endif()
  if(fmt_VERSION VERSION_LESS 9 OR fmt_VERSION VERSION_GREATER_EQUAL 10)
    add_library(photon_fmt INTERFACE)
    target_link_libraries(photon_fmt INTERFACE fmt::fmt-header-only)
    return()
  endif()
  add_library(photon_fmt STATIC ${PROJECT_SOURCE_DIR}/cmake/fmt_once.cpp)
  target_include_directories(photon_fmt SYSTEM PUBLIC
    $<TARGET_PROPERTY:fmt::fmt-header-only,INTERFACE_INCLUDE_DIRECTORIES>)
  target_link_libraries(photon_fmt PRIVATE photon_flags)
endfunction()

# Bare libfabric as a limit of transport ofi: with its headers, or not at all. Nor under the
# sanitizers, which find fault with libfabric itself (docs/ofi.md).
function(photon_perf_fabric target folder)
  get_target_property(sources ${target} SOURCES)
  if(PHOTON_FABRIC AND NOT PHOTON_SANITIZE)
    list(REMOVE_ITEM sources ${folder}/no_limit_fabric.cpp)
    target_include_directories(${target} SYSTEM PRIVATE ${LIBFABRIC_INCLUDE_DIRS})
    target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS})
  else()
    list(REMOVE_ITEM sources ${folder}/bare_fabric.cpp ${folder}/limit_fabric.cpp
      ${folder}/limit_fabric_memory.cpp)
  endif()
  set_target_properties(${target} PROPERTIES SOURCES "${sources}")
endfunction()

function(photon_program kind name sources)
  set(target ${name})
  add_executable(${target} ${sources})
  target_link_libraries(${target} PRIVATE photon_flags)
  # Under the sanitizers nobody measures with them, and optimising them takes longer than they run.
  set_target_properties(${target} PROPERTIES PHOTON_CALLS_ONLY ON)
  set(when "")
  if(kind STREQUAL "tools" AND NOT name STREQUAL "photon-perf")  # which measures
    set(when ALWAYS)
  endif()
  photon_together(${target} ${when})
  if(PHOTON_SANITIZE)
    # The library needs the C++ part of the sanitizers' run time, which a C link leaves out.
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  endif()
  if(name STREQUAL "photonrun")
    # A launcher must run where the library does not, so it speaks the protocol on its own and has
    # of src/ the lowest layer alone (photon_lend() in src/layers.cmake).
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include)
    target_compile_definitions(${target} PRIVATE PHOTON_VERSION_TEXT="${PROJECT_VERSION}")
    target_link_libraries(${target} PRIVATE photon_system)
  else()
    target_link_libraries(${target} PRIVATE photon)
  endif()
  if(name MATCHES "^(photon-perf|task_.*|.*_tasks)$")
    target_link_libraries(${target} PRIVATE photon_task)
  endif()
  if(name STREQUAL "photon-perf")
    photon_perf_fabric(${target} ${PROJECT_SOURCE_DIR}/tools/photon-perf)
    find_package(Boost REQUIRED COMPONENTS context)  # the limit of task-switch
    target_link_libraries(${target} PRIVATE Boost::context)
  endif()
  target_link_libraries(${target} PRIVATE Threads::Threads)
  add_dependencies(programs ${target})
  cmake_language(CALL photon_program_${kind} ${target})
endfunction()

function(photon_program_tools target)
  find_package(CLI11 REQUIRED)
  photon_find_fmt()
  find_package(nlohmann_json REQUIRED)
  target_link_libraries(${target} PRIVATE CLI11::CLI11 photon_fmt
    nlohmann_json::nlohmann_json)
  set_target_properties(${target} PROPERTIES
    INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  install(TARGETS ${target} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
endfunction()

# photon-plot, a script with modules: needs nothing to be built or installed, and Python with
# matplotlib only where somebody plots. It looks for its modules in ../share/photon, in the build
# folder as in an installed tree, so that folder is no matter of choice.
function(photon_add_plotter)
  set(source ${PROJECT_SOURCE_DIR}/tools/photon-plot)
  file(GLOB modules CONFIGURE_DEPENDS RELATIVE ${source} ${source}/photon_plot/*.py)
  configure_file(${source}/photon-plot ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/photon-plot COPYONLY)
  foreach(module IN LISTS modules)
    configure_file(${source}/${module} ${CMAKE_BINARY_DIR}/share/photon/${module} COPYONLY)
    install(FILES ${source}/${module} DESTINATION share/photon/photon_plot COMPONENT tools)
  endforeach()
  install(PROGRAMS ${source}/photon-plot DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
endfunction()

function(photon_program_examples target)
  find_package(PNG)
  if(NOT PNG_FOUND)
    message(FATAL_ERROR "The examples need libpng: scripts/install-deps demo installs it (Debian: "
      "libpng-dev); or configure with -DPHOTON_BUILD_EXAMPLES=OFF")
  endif()
  photon_find_fmt()
  find_package(CLI11 REQUIRED)
  target_link_libraries(${target} PRIVATE PNG::PNG photon_fmt CLI11::CLI11)
  set_target_properties(${target} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/examples)
endfunction()

function(photon_program_bench target)
  find_package(benchmark REQUIRED)
  target_link_libraries(${target} PRIVATE benchmark::benchmark)
  set_target_properties(${target} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
  if(PHOTON_BUILD_TESTS)
    # A moment of each benchmark, so that none rots.
    add_test(NAME bench_${target} COMMAND ${target} --benchmark_min_time=0.001)
    set_tests_properties(bench_${target} PROPERTIES TIMEOUT 120)
  endif()
endfunction()

# bench/papers/*: an experiment of a paper as a program of the paper's interface or of photon.h,
# linked like a user's. A script `run` or paper.py beside it starts it; it is no part of what is
# installed.
function(photon_paper_programs)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/papers/*/*.cpp)
  foreach(source IN LISTS sources)
    get_filename_component(name ${source} NAME_WE)
    set(target paper_${name})
    add_executable(${target} ${source})
    set_target_properties(${target} PROPERTIES CXX_STANDARD 17 OUTPUT_NAME ${name}
      RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench/papers)
    target_compile_options(${target} PRIVATE -Wall -Wextra)
    target_link_libraries(${target} PRIVATE photon_converse photon Threads::Threads)
    if(PHOTON_SANITIZE)
      target_link_libraries(${target} PRIVATE photon_flags)
    endif()
  endforeach()
endfunction()

# What `make papers` runs beside the programs: those of bench/papers, and the libraries of interop/
# for each MPI that is here.
function(photon_papers_target)
  add_custom_target(papers)
  get_property(targets DIRECTORY ${PROJECT_SOURCE_DIR} PROPERTY BUILDSYSTEM_TARGETS)
  list(FILTER targets INCLUDE REGEX "^paper_")
  foreach(flavour IN LISTS PHOTON_MPI_FLAVOURS)
    list(APPEND targets photon_pmpi-${flavour})
  endforeach()
  if(targets AND NOT PHOTON_SANITIZE)
    add_dependencies(papers ${targets})
  endif()
endfunction()

macro(photon_add_programs)
  add_custom_target(programs DEPENDS photon)  # what `make demo` and `make install` need: no tests
  photon_add_folder(tools)
  photon_add_plotter()
  if(PHOTON_BUILD_EXAMPLES)
    photon_add_folder(examples)
  endif()
  photon_add_folder(bench)
  photon_paper_programs()
endmacro()
