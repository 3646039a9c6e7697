# eipc_library(NAME SOURCES a.cc ... DEPS eipc::base ... [PRECOMPILED kind]): one library per folder, warnings as errors, with the
# precompiled header of libraries or that of the kind named (EipcPrecompiled.cmake; `none` for a library with other options than these).
function(eipc_warnings target)
  # GCC 12 sees out-of-bounds packet loads in fixed-size Eigen products where there are none (array-bounds, at -O3 with AVX), and
  # overlapping or too long copies where a string is assigned a literal (restrict, stringop-overread; GCC bug 105651).
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Werror -Wno-missing-field-initializers -Wno-array-bounds
    -Wno-restrict -Wno-stringop-overread)
  if(EIPC_SANITIZE)  # and, with sanitizers, uninitialized members of std::regex
    target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized)
  endif()
endfunction()

function(eipc_library name)
  cmake_parse_arguments(ARG "" "PRECOMPILED" "SOURCES;DEPS;PRIVATE_DEPS" ${ARGN})
  if(NOT ARG_PRECOMPILED)
    set(ARG_PRECOMPILED library)
  endif()
  if(ARG_SOURCES)
    add_library(eipc_${name} STATIC ${ARG_SOURCES})
    target_include_directories(eipc_${name} PUBLIC ${CMAKE_SOURCE_DIR})
    target_link_libraries(eipc_${name} PUBLIC ${ARG_DEPS} PRIVATE ${ARG_PRIVATE_DEPS})
    eipc_warnings(eipc_${name})
    eipc_use_precompiled(eipc_${name} ${ARG_PRECOMPILED})
  else()
    add_library(eipc_${name} INTERFACE)
    target_include_directories(eipc_${name} INTERFACE ${CMAKE_SOURCE_DIR})
    target_link_libraries(eipc_${name} INTERFACE ${ARG_DEPS})
  endif()
  add_library(eipc::${name} ALIAS eipc_${name})
endfunction()

# eipc_executable(NAME SOURCES ... DEPS ...)
function(eipc_executable name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS})
  eipc_warnings(${name})
  eipc_use_precompiled(${name} program)
endfunction()

# Every test binary; not part of `all`, so that the demo, the server and the images need not build them.
add_custom_target(eipc_tests)
# Those of units that need few others: what every check runs under the address and undefined-behaviour sanitizers (`./dev sanitize`).
add_custom_target(eipc_fast_tests)

# eipc_test(NAME SOURCES ... DEPS ... [FAST] [LABELS ...]): a GoogleTest binary, one CTest entry each, so that tests run in parallel.
# `ninja NAME` builds one, `ninja eipc_tests` all of them, `ninja eipc_fast_tests` those with FAST, which have the label `fast`.
function(eipc_test name)
  cmake_parse_arguments(ARG "FAST" "TIMEOUT" "SOURCES;DEPS;LABELS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  if(EIPC_SANITIZE)  # several times slower
    math(EXPR ARG_TIMEOUT "10 * ${ARG_TIMEOUT}")
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} GTest::gmock GTest::gtest GTest::gtest_main)
  eipc_warnings(${name})
  target_compile_options(${name} PRIVATE -Wno-stringop-overflow)  # as -Wno-restrict, where a string is built of literals
  eipc_use_precompiled(${name} test)
  set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_dependencies(eipc_tests ${name})
  if(ARG_FAST)
    add_dependencies(eipc_fast_tests ${name})
    list(APPEND ARG_LABELS fast)
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set(environment "EIPC_DATA=${EIPC_DATA_DIR};EIPC_SOURCE_DIR=${CMAKE_SOURCE_DIR};EIPC_BINARY_DIR=${CMAKE_BINARY_DIR}")
  if(EIPC_SANITIZE STREQUAL "thread")
    list(APPEND environment "TSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/tests/thread_sanitizer.supp")
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}" ENVIRONMENT "${environment}")
endfunction()
