# Precompiled headers, each made once and shared by all targets of one kind: parsing Eigen, Abseil and GoogleTest is a third of the work on
# most sources. A target may share one only if it is compiled with the same options; GCC refuses any other (-Winvalid-pch is an error here).
# No source may rely on them: `./dev lint` parses without, and so does a build with -DEIPC_PRECOMPILED=OFF.
option(EIPC_PRECOMPILED "Precompile the headers that most sources include (GCC only)" ON)
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(EIPC_PRECOMPILED OFF)
endif()

# eipc_precompile(KIND HEADER library|executable DEPS target... [OPTIONS option...])
function(eipc_precompile kind header type)
  cmake_parse_arguments(ARG "" "" "DEPS;OPTIONS" ${ARGN})
  if(NOT EIPC_PRECOMPILED)
    return()
  endif()
  set(name eipc_precompiled_${kind})
  set(source ${CMAKE_BINARY_DIR}/precompiled/${kind}.cc)
  file(CONFIGURE OUTPUT ${source} CONTENT "")
  add_library(${name} OBJECT EXCLUDE_FROM_ALL ${source})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS})
  target_compile_options(${name} PRIVATE ${ARG_OPTIONS})
  eipc_warnings(${name})  # -Wpedantic decides about a macro
  if(type STREQUAL "executable")  # another kind of position-independent code than that of libraries
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${name} PRIVATE -fPIE)
  endif()
  # In angle brackets CMake writes no absolute path, so that clones in different folders share what ccache keeps.
  target_precompile_headers(${name} PRIVATE <cmake/precompiled/${header}.h>)
  # GCC never writes the same precompiled header twice. By this file ccache takes all of one kind for the same (CCACHE_PCH_EXTSUM);
  # what they were made of is in the dependencies of every source (-fpch-deps), which ccache compares as well.
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/CMakeFiles/${name}.dir/cmake_pch.hxx.gch.sum CONTENT "${kind}\n")
endfunction()

# eipc_use_precompiled(TARGET KIND): no kind, or an unknown one, leaves the target without.
function(eipc_use_precompiled target kind)
  if(TARGET eipc_precompiled_${kind})
    target_precompile_headers(${target} REUSE_FROM eipc_precompiled_${kind})
    target_compile_options(${target} PRIVATE -fpch-deps)
  endif()
endfunction()

set(eipc_precompiled_packages Eigen3::Eigen absl::statusor absl::strings absl::str_format absl::span)
eipc_precompile(library library library DEPS ${eipc_precompiled_packages})
eipc_precompile(rounding library library DEPS ${eipc_precompiled_packages} OPTIONS -ffp-contract=off -frounding-math)
eipc_precompile(program program executable DEPS ${eipc_precompiled_packages} CLI11::CLI11 nlohmann_json::nlohmann_json)
eipc_precompile(test test executable DEPS ${eipc_precompiled_packages} GTest::gmock GTest::gtest)
