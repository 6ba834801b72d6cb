# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
#
# The yardstick of bench/compare, which only `make compare` builds. It shows what is possible on
# this machine, so it is compiled for it, unlike Stoker. windows.cc must draw as Stoker does, so it
# is compiled as Stoker is.
file(GLOB limit_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bench/compare/limit/*.cc)
add_executable(bench_limit EXCLUDE_FROM_ALL ${limit_sources})
target_link_libraries(bench_limit PRIVATE stoker_api JPEG::JPEG)
# GCC warns of undefined vectors in its own AVX-512 header.
list(FILTER limit_sources EXCLUDE REGEX "windows\\.cc$")
set_source_files_properties(
  ${limit_sources} PROPERTIES
  COMPILE_OPTIONS "-march=native;-O3;-ffp-contract=fast;-Wno-uninitialized")
