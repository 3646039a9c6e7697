# Every third-party package, all from Debian 12 (packages.txt; docs/dependencies.md says why each).
find_package(Threads REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(absl REQUIRED CONFIG)
if(EIPC_SERVER)
  find_package(Protobuf REQUIRED)
  find_package(gRPC REQUIRED CONFIG)
endif()
find_package(GTest REQUIRED)
find_package(spdlog REQUIRED CONFIG)
find_package(CLI11 REQUIRED CONFIG)
find_package(nlohmann_json REQUIRED CONFIG)
if(EIPC_GPL)
  find_package(CGAL REQUIRED)
  include(CGAL_Eigen3_support)
endif()

# Constrained minimum-degree ordering (SuiteSparse's CAMD, BSD); the factorization itself is ours.
find_path(CAMD_INCLUDE_DIR camd.h PATH_SUFFIXES suitesparse REQUIRED)
find_library(CAMD_LIBRARY camd REQUIRED)
add_library(eipc_camd INTERFACE)
target_include_directories(eipc_camd SYSTEM INTERFACE ${CAMD_INCLUDE_DIR})
target_link_libraries(eipc_camd INTERFACE ${CAMD_LIBRARY})

# Real meshes and queries beside the checkout; tests that use them skip when they are absent.
set(EIPC_DATA_DIR "$ENV{EIPC_DATA}" CACHE PATH "Folder of real meshes and queries (optional)")
if(NOT EIPC_DATA_DIR AND EXISTS ${CMAKE_SOURCE_DIR}/../shared/data)
  set(EIPC_DATA_DIR ${CMAKE_SOURCE_DIR}/../shared/data)
endif()
