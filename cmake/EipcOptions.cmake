# Language, warnings, instruction baseline, sanitizers: what every target of ours shares.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

option(EIPC_GPL "Link the GPL part (CGAL's meshing)" ON)
option(EIPC_SERVER "Build whatever needs Protobuf: handlers, server, clients, command line" ON)
include(CMakeDependentOption)
cmake_dependent_option(EIPC_GRPC "Build whatever needs gRPC: server, clients, command line" ON EIPC_SERVER OFF)
# Debian's own, which sees the packages of packages.txt; another python3 may come first on PATH.
set(EIPC_PYTHON /usr/bin/python3 CACHE FILEPATH "Python that generates the client's modules and runs Python tests")
set(EIPC_MARCH x86-64-v3 CACHE STRING "Instruction baseline of the binary; one per binary (decision 44 has an exception)")
option(EIPC_FUZZ "Build the libFuzzer targets (tests/fuzz; clang only, preset fuzz)" OFF)
set(EIPC_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined or thread")
set(EIPC_SANITIZE_WITHOUT "" CACHE STRING "Checks of theirs to leave out, e.g. null,alignment")

# Never -ffast-math: error bounds and determinism rely on IEEE arithmetic.
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -g1 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-Og -g")
add_compile_options(-march=${EIPC_MARCH} -pthread)  # gRPC asks for -pthread; all have it, to share precompiled headers
# Eigen would cut dense products into blocks by the sizes of the processor's caches, and the last bits of their sums depend on the blocks.
set(EIPC_DEFINITIONS EIGEN_NO_CPUID)
add_compile_definitions(${EIPC_DEFINITIONS})
if(EIPC_SANITIZE)
  # Enough optimization to finish, little enough to keep stacks readable.
  set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1")
  add_compile_options(-fsanitize=${EIPC_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${EIPC_SANITIZE})
  if(EIPC_SANITIZE_WITHOUT)
    add_compile_options(-fno-sanitize=${EIPC_SANITIZE_WITHOUT})
  endif()
endif()

if(EIPC_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
    message(FATAL_ERROR "EIPC_FUZZ needs clang: use the preset fuzz")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)  # coverage for whatever a fuzz target links
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # ccache reads what the compiler included from its dependency file, so that a source is not preprocessed before it is compiled, and
  # takes the macros of a precompiled header from that header, which it knows by the headers within (EipcPrecompiled.cmake). Clones in
  # different folders share what it keeps.
  find_program(ENV_PROGRAM env REQUIRED)
  set(CMAKE_C_COMPILER_LAUNCHER ${ENV_PROGRAM} CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1 CCACHE_PCH_EXTSUM=1
    CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_C_COMPILER_LAUNCHER})
endif()
