# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
#
# A test program for each folder of src/, made of the *_test.cc beside the code, and the examples.
enable_testing()
find_package(GTest REQUIRED)
include(GoogleTest)

# stoker_test(<name> <library> <source>... [COST <number>]) makes the program <name> from test
# sources. ctest runs each of its tests in the root, those of greater COST earlier: a long one that
# starts last leaves all cores but one idle.
function(stoker_test name library)
  cmake_parse_arguments(PARSE_ARGV 2 test "" "COST" "")
  if(NOT test_UNPARSED_ARGUMENTS)
    return()
  endif()
  if(NOT test_COST)
    set(test_COST 0)
  endif()
  stoker_together(sources ${name} ${test_UNPARSED_ARGUMENTS})
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE ${library} GTest::gtest_main Threads::Threads)
  gtest_discover_tests(${name} TEST_PREFIX "${name}/" WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
                       DISCOVERY_MODE PRE_TEST
                       PROPERTIES TIMEOUT 300 COST ${test_COST} LABELS ${name})
endfunction()

# NVML's stand-in is a library, which tests open as they would open the real one.
set(nvml_stand_in ${CMAKE_SOURCE_DIR}/src/device/nvml/stand_in_test.cc)
add_library(nvml_stand_in MODULE ${nvml_stand_in})
target_include_directories(nvml_stand_in PRIVATE ${CMAKE_SOURCE_DIR}/src)
function(use_nvml_stand_in test)
  add_dependencies(${test} nvml_stand_in)
  target_compile_definitions(${test} PRIVATE STOKER_STAND_IN_NVML="$<TARGET_FILE:nvml_stand_in>")
  target_link_libraries(${test} PRIVATE ${CMAKE_DL_LIBS})
endfunction()

# NVIDIA's headers come with the test packages.
file(GLOB hints ${CMAKE_SOURCE_DIR}/.venv/lib/python3*/site-packages/nvidia/cu13/include)
find_path(STOKER_NVML_HEADERS nvml.h HINTS ${hints} PATHS /usr/local/cuda/include)
mark_as_advanced(STOKER_NVML_HEADERS)

set(cost_of_run COST 1)
foreach(folder base memory device batch io stores codec kernels op graph run)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${folder}/*_test.cc)
  list(FILTER sources EXCLUDE REGEX "/(cuda|nvjpeg)/|/nvml/(stand_in|header)_test\\.cc$")
  stoker_test(stoker_${folder}_test stoker_${folder} ${sources} ${cost_of_${folder}})
endforeach()
use_nvml_stand_in(stoker_device_test)
use_nvml_stand_in(stoker_run_test)
# As in cmake/new_operators.cmake, objects come before libraries: this table is found first.
stoker_operator_files(run_operator_files ${CMAKE_SOURCE_DIR}/tests/run_operators)
set(run_operator_table ${CMAKE_BINARY_DIR}/run_operator_table.cc)
stoker_operator_table(${run_operator_table} ${operator_files} ${run_operator_files})
stoker_library(run_operators SOURCES ${run_operator_files} ${run_operator_table}
               SEES base memory device batch io stores codec kernels op)
target_sources(stoker_run_test PRIVATE $<TARGET_OBJECTS:stoker_run_operators>)
if(STOKER_NVML_HEADERS)
  target_sources(stoker_device_test PRIVATE ${CMAKE_SOURCE_DIR}/src/device/nvml/header_test.cc)
  target_include_directories(stoker_device_test SYSTEM PRIVATE ${STOKER_NVML_HEADERS})
endif()
file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/ops/*/*_test.cc)
stoker_test(stoker_operators_test stoker_operators ${sources})
file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/*_test.cc)
stoker_test(stoker_api_test stoker_api ${sources})

# Tests the code for CUDA and nvJPEG without a GPU, with stand-ins for both libraries.
if(NOT STOKER_CUDA)
  find_path(STOKER_CUDA_HEADERS crt/host_defines.h HINTS ${hints} PATHS /usr/local/cuda/include)
  mark_as_advanced(STOKER_CUDA_HEADERS)
  if(STOKER_CUDA_HEADERS)
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/device/cuda/*.cc)
    stoker_test(stoker_cuda_test stoker_device ${sources})
    use_nvml_stand_in(stoker_cuda_test)
    target_include_directories(stoker_cuda_test SYSTEM PRIVATE ${STOKER_CUDA_HEADERS})
    list(FILTER sources EXCLUDE REGEX "/(cuda|neighbours)_test\\.cc$")
    file(GLOB codec_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/codec/nvjpeg/*.cc)
    find_path(STOKER_NVJPEG_HEADERS nvjpeg.h HINTS ${hints} PATHS /usr/local/cuda/include)
    find_file(STOKER_NVJPEG_LIBRARY libnvjpeg.so.13
              HINTS ${STOKER_NVJPEG_HEADERS}/../lib ${STOKER_NVJPEG_HEADERS}/../lib64)
    mark_as_advanced(STOKER_NVJPEG_HEADERS STOKER_NVJPEG_LIBRARY)
    if(NOT STOKER_NVJPEG_HEADERS OR NOT STOKER_NVJPEG_LIBRARY)
      list(FILTER codec_sources EXCLUDE REGEX "/header_test\\.cc$")
    endif()
    stoker_test(stoker_nvjpeg_test stoker_codec ${sources} ${codec_sources})
    if(STOKER_NVJPEG_HEADERS AND STOKER_NVJPEG_LIBRARY)
      target_include_directories(stoker_nvjpeg_test SYSTEM PRIVATE ${STOKER_NVJPEG_HEADERS})
      target_compile_definitions(
        stoker_nvjpeg_test PRIVATE STOKER_NVJPEG_LIBRARY="${STOKER_NVJPEG_LIBRARY}")
    endif()
    target_include_directories(stoker_nvjpeg_test SYSTEM PRIVATE ${STOKER_CUDA_HEADERS})
    target_link_libraries(stoker_nvjpeg_test PRIVATE JPEG::JPEG ${CMAKE_DL_LIBS})
  else()
    message(STATUS "No CUDA headers (tools/install.sh test brings them): "
                   "the CUDA runtime is not tested")
  endif()
endif()

file(GLOB examples CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/examples/*.cc)
foreach(example IN LISTS examples)
  cmake_path(GET example STEM name)
  add_executable(example_${name} ${example})
  target_link_libraries(example_${name} PRIVATE stoker_api)
endforeach()
