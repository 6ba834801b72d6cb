# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
#
# bench/<stem>.cc becomes the program build/<preset>/bench_<stem>.
file(GLOB benches CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bench/*.cc)
foreach(bench IN LISTS benches)
  cmake_path(GET bench STEM name)
  add_executable(bench_${name} ${bench})
  target_link_libraries(bench_${name} PRIVATE stoker_io stoker_codec stoker_kernels PkgConfig::hwy)
endforeach()
