# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
#
# The program of `make torture`: <build>/torture.
file(GLOB torture_files CONFIGURE_DEPENDS
     ${CMAKE_SOURCE_DIR}/tests/torture/*.cc ${CMAKE_SOURCE_DIR}/tests/torture/*/*.cc)
list(FILTER torture_files EXCLUDE REGEX "_test\\.cc$|/main\\.cc$")
stoker_library(torture SOURCES ${torture_files}
               SEES base memory device batch io codec kernels op graph run)
target_link_libraries(stoker_torture PUBLIC GTest::gtest JPEG::JPEG Threads::Threads)
add_executable(torture ${CMAKE_SOURCE_DIR}/tests/torture/main.cc)
# With the operators of tests/run_operators, which see whole batches and call functions.
target_sources(torture PRIVATE $<TARGET_OBJECTS:stoker_run_operators>)
target_link_libraries(torture PRIVATE stoker_torture)
set_target_properties(stoker_torture torture PROPERTIES EXCLUDE_FROM_ALL ON)

# As in cmake/new_operators.cmake, objects come before libraries: this table is found first.
stoker_operator_files(planted_files ${CMAKE_SOURCE_DIR}/tests/torture/planted)
set(planted_table ${CMAKE_BINARY_DIR}/planted_table.cc)
stoker_operator_table(${planted_table} ${operator_files} ${planted_files})
stoker_library(planted SOURCES ${planted_files} ${planted_table}
               SEES base memory device batch io codec kernels op)
stoker_test(stoker_torture_test stoker_torture
            ${CMAKE_SOURCE_DIR}/tests/torture/torture_test.cc $<TARGET_OBJECTS:stoker_planted>
            COST 2)
