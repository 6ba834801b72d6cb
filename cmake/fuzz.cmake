# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
#
# fuzz/<stem>.cc becomes the libFuzzer program build/fuzz/<stem>.
file(GLOB targets CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/fuzz/*.cc)
foreach(source IN LISTS targets)
  cmake_path(GET source STEM name)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE stoker_api)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
endforeach()
