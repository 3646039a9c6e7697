# eipc_library(NAME SOURCES a.cc ... DEPS eipc::base ...): one library per folder, warnings as errors.
function(eipc_warnings target)
  # GCC 12 sees out-of-bounds packet loads in fixed-size Eigen products where there are none (array-bounds, at -O3 with AVX).
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Werror -Wno-missing-field-initializers -Wno-array-bounds)
endfunction()

function(eipc_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;PRIVATE_DEPS" ${ARGN})
  if(ARG_SOURCES)
    add_library(eipc_${name} STATIC ${ARG_SOURCES})
    target_include_directories(eipc_${name} PUBLIC ${CMAKE_SOURCE_DIR})
    target_link_libraries(eipc_${name} PUBLIC ${ARG_DEPS} PRIVATE ${ARG_PRIVATE_DEPS})
    eipc_warnings(eipc_${name})
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
endfunction()

# Every test binary; not part of `all`, so that the demo, the server and the images need not build them.
add_custom_target(eipc_tests)

# eipc_test(NAME SOURCES ... DEPS ... [LABELS ...]): a GoogleTest binary, one CTest entry each, so that tests run in parallel.
# `ninja NAME` builds one, `ninja eipc_tests` all of them.
function(eipc_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;DEPS;LABELS" ${ARGN})
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
  set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_dependencies(eipc_tests ${name})
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}"
    ENVIRONMENT "EIPC_DATA=${EIPC_DATA_DIR};EIPC_SOURCE_DIR=${CMAKE_SOURCE_DIR};EIPC_BINARY_DIR=${CMAKE_BINARY_DIR}")
endfunction()
