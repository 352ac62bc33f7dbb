# libphoton.a, for who asks for it (PHOTON_BUILD_STATIC): one object, optimised as the shared
# library is, in which everything but ph_*, photon_* and RVMA_* is local: no name of ours meets one
# of the program's. What a program links besides stands in PHOTON_PRIVATE_LIBS (photon.pc) and in
# the target Photon::photon_static.

find_package(OpenSSL COMPONENTS Crypto QUIET)
set(PHOTON_PRIVATE_LIBS "-lstdc++ -lpthread -ldl")
if(OpenSSL_FOUND)
  string(APPEND PHOTON_PRIVATE_LIBS " -lcrypto")
endif()

function(photon_static_library)
  if(PHOTON_SANITIZE)
    message(FATAL_ERROR "PHOTON_BUILD_STATIC: there is no static library with sanitizers")
  endif()
  get_property(objects GLOBAL PROPERTY PHOTON_OBJECTS)
  set(object ${CMAKE_BINARY_DIR}/src/photon_static.o)
  set(together "")
  if(PHOTON_LTO_LINK)
    set(together ${PHOTON_LTO_LINK} -flto-partition=one -fno-gnu-unique -O3
      -flinker-output=nolto-rel)
  endif()
  add_custom_command(OUTPUT ${object}
    COMMAND ${CMAKE_CXX_COMPILER} ${together} -r -nostdlib -Wl,--force-group-allocation
      -o ${object} ${objects}
    COMMAND ${CMAKE_OBJCOPY} --wildcard --keep-global-symbol=ph_* --keep-global-symbol=photon_*
      --keep-global-symbol=RVMA_* ${object}
    DEPENDS ${objects} COMMAND_EXPAND_LISTS VERBATIM
    COMMENT "Joining the objects of libphoton.a")
  add_library(photon_static STATIC ${object})
  add_library(Photon::photon_static ALIAS photon_static)
  set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  set_target_properties(photon_static PROPERTIES OUTPUT_NAME photon LINKER_LANGUAGE C)
  target_include_directories(photon_static PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include/compat>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  separate_arguments(libraries UNIX_COMMAND "${PHOTON_PRIVATE_LIBS}")
  target_link_libraries(photon_static INTERFACE ${libraries})
  add_dependencies(programs photon_static)
  install(TARGETS photon_static EXPORT PhotonTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()
