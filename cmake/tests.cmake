# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
#
# One test program a folder of src/, from the *_test.cc beside the code, and one program an example.
enable_testing()
find_package(GTest REQUIRED)
include(GoogleTest)

# Makes <name> from test sources, found by ctest one by one and run in the root of the repository.
function(stoker_test name library)
  if(NOT ARGN)
    return()
  endif()
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE ${library} GTest::gtest_main Threads::Threads)
  gtest_discover_tests(${name} TEST_PREFIX "${name}/" WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
                       DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 300 LABELS ${name})
endfunction()

foreach(folder base memory batch io codec kernels op graph run)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${folder}/*_test.cc)
  stoker_test(stoker_${folder}_test stoker_${folder} ${sources})
endforeach()
file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/ops/*/*_test.cc)
stoker_test(stoker_operators_test stoker_operators ${sources})
file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/*_test.cc)
stoker_test(stoker_api_test stoker_api ${sources})

file(GLOB examples CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/examples/*.cc)
foreach(example IN LISTS examples)
  cmake_path(GET example STEM name)
  add_executable(example_${name} ${example})
  target_link_libraries(example_${name} PRIVATE stoker_api)
endforeach()
