# What `make install` puts where: library, headers, CMake package, photon.pc and those of the
# libraries above it. Tools install themselves (PhotonPrograms).
include(CMakePackageConfigHelpers)

install(TARGETS photon EXPORT PhotonTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/photon
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
# The classic API's, beside the folder: old programs include <photon.h>.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/compat/
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Photon)
install(EXPORT PhotonTargets NAMESPACE Photon:: DESTINATION ${package_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/PhotonConfig.cmake.in
  ${PROJECT_BINARY_DIR}/PhotonConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/PhotonConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/PhotonConfig.cmake
  ${PROJECT_BINARY_DIR}/PhotonConfigVersion.cmake DESTINATION ${package_dir})

# The prefix is computed from where photon.pc lies, so that an installed tree can be moved.
file(RELATIVE_PATH pc_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file(${PROJECT_SOURCE_DIR}/cmake/photon.pc.in ${PROJECT_BINARY_DIR}/photon.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/photon.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The libraries on top of it, each by its name: what it stands on, and the folder of its headers.
function(photon_install_pc pc_name pc_requires pc_include pc_description)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/photon_part.pc.in
    ${PROJECT_BINARY_DIR}/${pc_name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${pc_name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
photon_install_pc(photon_task photon "" "tasks that messages start, on Photon")
photon_install_pc(photon_converse photon_task /converse "the interface of Converse, on Photon")
if(NOT PHOTON_SANITIZE)
  foreach(flavour IN LISTS PHOTON_MPI_FLAVOURS)
    photon_install_pc(photon_mpi-${flavour} photon "" "one-sided MPI that progresses, on Photon")
  endforeach()
endif()
