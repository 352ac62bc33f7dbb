# Layers: one object library per folder of src/, and the check that includes only go downward.
#
#   photon_layer(NAME [OUTSIDE] [LIBRARY library] [SOURCES files...] USES layers...)
#
# USES names what the layer may include; what those use comes with them. SOURCES defaults to every
# .cpp of the folder. OUTSIDE: it lies beside src/, stands on the installed headers, and may include
# what USES names and no more. LIBRARY: it lies beside src/ and belongs to a library of its own,
# whose objects are in the property PHOTON_OBJECTS_<library>; it is checked, but not built, where
# PHOTON_LIBRARIES_OFF names the library. Both: of a library of its own that stands on the installed
# headers. Works in script mode as well (cmake/CheckLayers.cmake),
# where it only checks.

# The layer that owns an include path such as transport/shm/ring.hpp: the longest name that fits.
function(photon_layer_of path result)
  get_property(layers GLOBAL PROPERTY PHOTON_LAYERS)
  set(best "")
  foreach(layer IN LISTS layers)
    string(FIND "${path}" "${layer}/" at)
    string(LENGTH "${layer}" length)
    string(LENGTH "${best}" best_length)
    if(at EQUAL 0 AND length GREATER best_length)
      set(best ${layer})
    endif()
  endforeach()
  set(${result} "${best}" PARENT_SCOPE)
endfunction()

# Every include of a file as a list of <path or "path, spelled with its opening mark.
function(photon_includes_of file result)
  set(pattern "^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"]+)[>\"].*$")
  file(STRINGS ${file} lines REGEX "${pattern}")
  set(paths "")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "${pattern}" "\\1" path "${line}")
    list(APPEND paths "${path}")
  endforeach()
  set(${result} "${paths}" PARENT_SCOPE)
endfunction()

function(photon_line_of file path result)
  file(READ ${file} text)
  string(REGEX REPLACE "[][+.*()^$?|\\\\]" "\\\\\\0" literal "${path}")
  string(REGEX MATCH "#[ \t]*include[ \t]*[<\"]${literal}[>\"]" include "${text}")
  string(FIND "${text}" "${include}" at)
  string(SUBSTRING "${text}" 0 ${at} before)
  string(REGEX MATCHALL "\n" newlines "${before}")
  list(LENGTH newlines count)
  math(EXPR line "${count} + 1")
  set(${result} ${line} PARENT_SCOPE)
endfunction()

function(photon_refuse_include file path why)
  photon_line_of(${file} ${path} line)
  message(SEND_ERROR "${file}:${line}: #include \"${path}\": ${why}")
endfunction()

# May a file of `layer`, which may include `allowed`, include `path`?
function(photon_check_include file layer allowed path)
  if(path MATCHES "(^|/)\\.\\./")
    photon_refuse_include(${file} ${path} "name it from src/ on, without ..")
    return()
  endif()
  photon_layer_of(${path} target)
  if(target STREQUAL "" OR target STREQUAL layer OR target IN_LIST allowed)
    return()
  endif()
  string(REPLACE ";" " " readable "${allowed}")
  photon_refuse_include(${file} ${path}
    "layer ${layer} may not include layer ${target} (it may include: ${readable})")
endfunction()

# Checks includes of all declared layers; call after the last photon_layer().
function(photon_check_layers)
  get_property(layers GLOBAL PROPERTY PHOTON_LAYERS)
  foreach(layer IN LISTS layers)
    get_property(allowed GLOBAL PROPERTY PHOTON_ALLOWED_${layer})
    get_property(folder GLOBAL PROPERTY PHOTON_FOLDER_${layer})
    file(GLOB files ${folder}/*.hpp ${folder}/*.cpp)
    foreach(file IN LISTS files)
      photon_includes_of(${file} paths)
      foreach(path IN LISTS paths)
        photon_check_include(${file} ${layer} "${allowed}" ${path})
      endforeach()
    endforeach()
  endforeach()
endfunction()

# photon_lend(LAYER FOLDERS...): programs of these folders link this layer's objects by themselves,
# and may include it. It stands on no other layer, or they would need that one as well.
function(photon_lend layer)
  get_property(allowed GLOBAL PROPERTY PHOTON_ALLOWED_${layer})
  if(allowed)
    message(SEND_ERROR "photon_lend(${layer}): it stands on ${allowed}")
  endif()
  foreach(folder IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH PHOTON_SOURCE_ROOT OUTPUT_VARIABLE root)
    set_property(GLOBAL APPEND PROPERTY PHOTON_LENT_${layer} ${root}/${folder})
  endforeach()
endfunction()

# May this file of a program include the layer?
function(photon_is_lent file layer result)
  set(${result} FALSE PARENT_SCOPE)
  get_property(folders GLOBAL PROPERTY PHOTON_LENT_${layer})
  foreach(folder IN LISTS folders)
    cmake_path(IS_PREFIX folder ${file} NORMALIZE is_inside)
    if(is_inside)
      set(${result} TRUE PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

# Files of these folders see nothing of src/ but what is lent to them: the proof that the installed
# headers are enough.
function(photon_check_public_only)
  foreach(folder IN LISTS ARGN)
    set(base ${PHOTON_SOURCE_ROOT}/${folder})
    file(GLOB_RECURSE files ${base}/*.h ${base}/*.hpp ${base}/*.c ${base}/*.cpp)
    foreach(file IN LISTS files)
      photon_includes_of(${file} paths)
      foreach(path IN LISTS paths)
        photon_layer_of(${path} target)
        photon_is_lent(${file} "${target}" lent)
        if(NOT lent AND (NOT target STREQUAL "" OR path MATCHES "(^|/)src/"))
          photon_refuse_include(${file} ${path}
            "${folder}/ uses installed headers only: <photon/...>")
        endif()
      endforeach()
    endforeach()
  endforeach()
endfunction()

# A layer of another library: it sees the root of the tree and nothing of src/ or include/.
function(photon_library_layer target library)
  target_include_directories(${target} PRIVATE ${PHOTON_SOURCE_ROOT})
  target_compile_options(${target} PRIVATE -Wconversion -Wno-sign-conversion)
  target_link_libraries(${target} PRIVATE photon_flags Threads::Threads)
  photon_together(${target})
  set_property(GLOBAL APPEND PROPERTY PHOTON_OBJECTS_${library} $<TARGET_OBJECTS:${target}>)
endfunction()

function(photon_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 layer "OUTSIDE" "LIBRARY" "SOURCES;USES")
  set(folder ${PHOTON_SOURCE_ROOT}/src/${name})
  if(layer_OUTSIDE OR layer_LIBRARY)
    set(folder ${PHOTON_SOURCE_ROOT}/${name})
  endif()
  set_property(GLOBAL PROPERTY PHOTON_FOLDER_${name} ${folder})
  set(allowed "")
  foreach(used IN LISTS layer_USES)
    get_property(known GLOBAL PROPERTY PHOTON_LAYERS)
    if(NOT used IN_LIST known)
      message(FATAL_ERROR "photon_layer(${name}): ${used} is not declared above it")
    endif()
    get_property(inherited GLOBAL PROPERTY PHOTON_ALLOWED_${used})
    if(layer_OUTSIDE)
      set(inherited "")
    endif()
    list(APPEND allowed ${used} ${inherited})
  endforeach()
  list(REMOVE_DUPLICATES allowed)
  set_property(GLOBAL PROPERTY PHOTON_ALLOWED_${name} "${allowed}")
  set_property(GLOBAL APPEND PROPERTY PHOTON_LAYERS ${name})
  if(CMAKE_SCRIPT_MODE_FILE OR (layer_LIBRARY AND layer_LIBRARY IN_LIST PHOTON_LIBRARIES_OFF))
    return()
  endif()

  set(sources ${layer_SOURCES})
  list(TRANSFORM sources PREPEND ${folder}/)
  if(NOT sources)
    file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  endif()
  if(NOT sources)
    return()  # headers only, so far
  endif()
  string(REPLACE "/" "_" target "photon_layer_${name}")
  add_library(${target} OBJECT ${sources})
  if(layer_LIBRARY)
    photon_library_layer(${target} ${layer_LIBRARY})
    if(layer_OUTSIDE)
      target_include_directories(${target} PRIVATE
        ${PHOTON_SOURCE_ROOT}/src ${PHOTON_SOURCE_ROOT}/include
        ${PHOTON_SOURCE_ROOT}/include/${layer_LIBRARY})
    endif()
    return()
  endif()
  target_include_directories(${target} PRIVATE
    ${PHOTON_SOURCE_ROOT}/src ${PHOTON_SOURCE_ROOT}/include)
  if(layer_OUTSIDE)
    target_include_directories(${target} PRIVATE
      ${PHOTON_SOURCE_ROOT} ${PHOTON_SOURCE_ROOT}/include/${name})
  endif()
  target_link_libraries(${target} PRIVATE photon_flags photon_layer_flags Threads::Threads)
  target_compile_definitions(${target} PRIVATE PHOTON_VERSION_NUMBER=${PHOTON_VERSION_NUMBER})
  photon_together(${target})
  set_property(GLOBAL APPEND PROPERTY PHOTON_OBJECTS $<TARGET_OBJECTS:${target}>)
endfunction()
