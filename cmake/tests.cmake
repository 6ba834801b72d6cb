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
  list(FILTER sources EXCLUDE REGEX "/cuda[^/]*$")
  stoker_test(stoker_${folder}_test stoker_${folder} ${sources})
endforeach()
file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/ops/*/*_test.cc)
stoker_test(stoker_operators_test stoker_operators ${sources})
file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/*_test.cc)
stoker_test(stoker_api_test stoker_api ${sources})

# The CUDA runtime's own code, without a GPU: against a stand-in for the CUDA library. Headers come with the test packages.
if(NOT STOKER_CUDA)
  file(GLOB hints ${CMAKE_SOURCE_DIR}/.venv/lib/python3*/site-packages/nvidia/cu13/include)
  find_path(STOKER_CUDA_HEADERS crt/host_defines.h HINTS ${hints} PATHS /usr/local/cuda/include)
  mark_as_advanced(STOKER_CUDA_HEADERS)
  if(STOKER_CUDA_HEADERS)
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/memory/cuda*.cc)
    stoker_test(stoker_cuda_test stoker_memory ${sources})
    target_include_directories(stoker_cuda_test SYSTEM PRIVATE ${STOKER_CUDA_HEADERS})
  else()
    message(STATUS "No CUDA headers (tools/install.sh test brings them): the CUDA runtime is not tested")
  endif()
endif()

file(GLOB examples CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/examples/*.cc)
foreach(example IN LISTS examples)
  cmake_path(GET example STEM name)
  add_executable(example_${name} ${example})
  target_link_libraries(example_${name} PRIVATE stoker_api)
endforeach()
