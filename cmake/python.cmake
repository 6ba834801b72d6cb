# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
#
# The Python module, its stubs, and <build>/python, a folder for PYTHONPATH with the package as
# installed: links to python/stoker, and the built module. Each preset has its own.
file(GLOB bindings CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bindings/*.cc)
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)
execute_process(
  COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
  OUTPUT_STRIP_TRAILING_WHITESPACE OUTPUT_VARIABLE nanobind_ROOT
  COMMAND_ERROR_IS_FATAL ANY)
find_package(nanobind CONFIG REQUIRED)

set(module_options NB_STATIC FREE_THREADED)
if(STOKER_SANITIZE)
  list(APPEND module_options NOMINSIZE NOSTRIP)
endif()
stoker_together(module_sources _core ${bindings})
nanobind_add_module(_core ${module_options} ${module_sources})
set(version ${PROJECT_VERSION})
if(STOKER_CUDA)
  string(APPEND version +cu${CUDAToolkit_VERSION_MAJOR})  # as its wheel: tools/wheel/bundle.py
endif()
target_compile_definitions(_core PRIVATE STOKER_VERSION="${version}")
target_link_libraries(_core PRIVATE stoker_api nlohmann_json::nlohmann_json)
set(stage ${CMAKE_BINARY_DIR}/python)
set_target_properties(_core PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${stage}/stoker)

set(stubs ${CMAKE_BINARY_DIR}/stubs)
set(STOKER_STUBS ${stubs} CACHE PATH "Stubs of a build that can run what it builds, to install")
mark_as_advanced(STOKER_STUBS)
set(stage_package ${Python_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/stage.py ${stage}/stoker
                  ${CMAKE_SOURCE_DIR}/python/stoker ${stubs}/stoker)
file(MAKE_DIRECTORY ${stubs}/stoker)

# A sanitized module can only be imported with the sanitizer preloaded, so it gets no stubs.
set(stub_stamp "")
if(NOT STOKER_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  set(stub_stamp ${stubs}/stamp)
  set(make_stubs ${CMAKE_SOURCE_DIR}/tools/make_stubs.py)
  file(GLOB_RECURSE python_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/python/stoker/*.py)
  list(APPEND python_sources ${make_stubs})
  set(generate "")
  if(EXISTS ${make_stubs})
    set(generate COMMAND ${CMAKE_COMMAND} -E env PYTHONPATH=${stage}
                 ${Python_EXECUTABLE} ${make_stubs} ${stubs}/stoker)
  endif()
  add_custom_command(
    OUTPUT ${stub_stamp}
    COMMAND ${stage_package}
    ${generate}
    COMMAND ${CMAKE_COMMAND} -E touch ${stub_stamp}
    DEPENDS _core ${python_sources} ${CMAKE_SOURCE_DIR}/tools/stage.py
    COMMENT "Writing Python stubs" VERBATIM)
endif()
add_custom_target(
  stoker_stage ALL
  COMMAND ${stage_package}
  DEPENDS _core ${stub_stamp}
  COMMENT "Linking ${stage}" VERBATIM)

install(TARGETS _core LIBRARY DESTINATION stoker)
install(DIRECTORY ${STOKER_STUBS}/stoker/ DESTINATION stoker FILES_MATCHING PATTERN "*.pyi")
