# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
#
# The yardstick of bench/compare, for `make compare` alone. It is compiled for this machine, to show
# what is possible there, except windows.cc, which is compiled as Stoker is and so draws the same.
file(GLOB limit_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bench/compare/limit/*.cc)
add_executable(bench_limit EXCLUDE_FROM_ALL ${limit_sources})
target_link_libraries(bench_limit PRIVATE stoker_api JPEG::JPEG)
# GCC warns of undefined vectors in its own AVX-512 header.
list(FILTER limit_sources EXCLUDE REGEX "windows\\.cc$")
set_source_files_properties(
  ${limit_sources} PROPERTIES
  COMPILE_OPTIONS "-march=native;-O3;-ffp-contract=fast;-Wno-uninitialized")
