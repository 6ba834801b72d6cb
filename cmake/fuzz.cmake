# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
#
# fuzz/<stem>_fuzz.cc becomes the program <stem>_fuzz: for libFuzzer with STOKER_FUZZ, else one that
# only runs the seeds. Either way a test runs the seeds, so that a defect once found stays mended.
enable_testing()
file(GLOB targets CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/fuzz/*_fuzz.cc)
foreach(source IN LISTS targets)
  cmake_path(GET source STEM name)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE stoker_api nlohmann_json::nlohmann_json)
  if(STOKER_FUZZ)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    set(only_seeds -runs=0)
  else()
    target_sources(${name} PRIVATE ${CMAKE_SOURCE_DIR}/fuzz/run_seeds.cc)
    set(only_seeds)
  endif()
  add_test(NAME seeds/${name} COMMAND ${name} ${only_seeds} fuzz/seeds/${name}
           WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(seeds/${name} PROPERTIES TIMEOUT 300 LABELS stoker_fuzz_test)
endforeach()
# Tests and tools know them by one name, as they know the other test programs.
list(TRANSFORM targets REPLACE ".*/([a-z_]+)\\.cc$" "\\1" OUTPUT_VARIABLE programs)
add_custom_target(stoker_fuzz_test DEPENDS ${programs})
