# The layer check without a build: cmake -DPHOTON_SOURCE_ROOT=<tree> -P cmake/CheckLayers.cmake
cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/PhotonLayers.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/../src/layers.cmake)
