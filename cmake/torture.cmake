# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
#
# The program of `make torture`: <build>/torture. It is built only when it is asked for.
file(GLOB torture_files CONFIGURE_DEPENDS
     ${CMAKE_SOURCE_DIR}/tests/torture/*.cc ${CMAKE_SOURCE_DIR}/tests/torture/*/*.cc)
list(FILTER torture_files EXCLUDE REGEX "_test\\.cc$|/main\\.cc$")
stoker_library(torture SOURCES ${torture_files}
               SEES base memory device batch io codec kernels op graph run)
target_link_libraries(stoker_torture PUBLIC GTest::gtest JPEG::JPEG Threads::Threads)
add_executable(torture ${CMAKE_SOURCE_DIR}/tests/torture/main.cc)
target_link_libraries(torture PRIVATE stoker_torture)
set_target_properties(stoker_torture torture PROPERTIES EXCLUDE_FROM_ALL ON)
