# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
#
# For the tests of tests/new_operators: the target new_operators makes, in <build>/new_operators,
# the Python package with their operators and the codecs of tests/new_codecs as well. Only these are
# compiled; everything else is linked from the usual module's objects.
stoker_operator_files(new_operator_files ${CMAKE_SOURCE_DIR}/tests/new_operators)
set(new_operator_table ${CMAKE_BINARY_DIR}/new_operator_table.cc)
stoker_operator_table(${new_operator_table} ${operator_files} ${new_operator_files})
stoker_codecs(new_codec_files ${CMAKE_SOURCE_DIR}/tests/new_codecs)
set(new_codec_tables ${CMAKE_BINARY_DIR}/new_codec_table.cc ${CMAKE_BINARY_DIR}/new_formats.cc)
stoker_codec_tables(${new_codec_tables})
stoker_library(new_operators
               SOURCES ${new_operator_files} ${new_operator_table}
                       ${new_codec_files} ${new_codec_tables}
               SEES base memory device batch io codec kernels op)

# Objects are linked before libraries, so these tables take the place of those of src/.
nanobind_add_module(new_operators_core ${module_options}
                    $<TARGET_OBJECTS:_core> $<TARGET_OBJECTS:stoker_new_operators>)
target_link_libraries(new_operators_core PRIVATE stoker_api nlohmann_json::nlohmann_json)
set(new_stage ${CMAKE_BINARY_DIR}/new_operators)
set_target_properties(new_operators_core PROPERTIES
                      OUTPUT_NAME _core LIBRARY_OUTPUT_DIRECTORY ${new_stage}/stoker)
set_target_properties(stoker_new_operators new_operators_core PROPERTIES EXCLUDE_FROM_ALL ON)

add_custom_target(
  new_operators
  COMMAND ${Python_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/stage.py ${new_stage}/stoker
          ${CMAKE_SOURCE_DIR}/python/stoker
  DEPENDS new_operators_core
  COMMENT "Linking ${new_stage}" VERBATIM)
