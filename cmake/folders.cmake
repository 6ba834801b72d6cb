# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
#
# Each folder of src/ is a static library that links only what it may include, so code that uses a
# later folder does not link. tools/check_includes.py reads the stoker_folder() lines below.
find_package(Threads REQUIRED)
find_package(JPEG REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(hwy REQUIRED IMPORTED_TARGET libhwy)
pkg_check_modules(simdjson REQUIRED IMPORTED_TARGET simdjson)
pkg_check_modules(pugixml REQUIRED IMPORTED_TARGET pugixml)
find_path(PROTOZERO_HEADERS protozero/pbf_reader.hpp REQUIRED)
find_package(nlohmann_json REQUIRED)

# Makes the library stoker_<name>, or an interface library if there are no sources.
function(stoker_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;SEES;PRIVATE")
  list(TRANSFORM arg_SEES PREPEND stoker_)
  if(arg_SOURCES)
    stoker_together(sources ${name} ${arg_SOURCES})
    add_library(stoker_${name} STATIC ${sources})
    target_include_directories(stoker_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(stoker_${name} PUBLIC ${arg_SEES} PRIVATE ${arg_PRIVATE})
  else()
    add_library(stoker_${name} INTERFACE)
    target_include_directories(stoker_${name} INTERFACE ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(stoker_${name} INTERFACE ${arg_SEES})
  endif()
endfunction()

# Sets <result> to the files of src/<name> and of the named rooms in it that match the pattern.
function(stoker_sources result name pattern)
  set(places ${CMAKE_SOURCE_DIR}/src/${name}/${pattern})
  foreach(room IN LISTS ARGN)
    list(APPEND places ${CMAKE_SOURCE_DIR}/src/${name}/${room}/${pattern})
  endforeach()
  file(GLOB files CONFIGURE_DEPENDS ${places})
  set(${result} ${files} PARENT_SCOPE)
endfunction()

# Makes the library of src/<name>. Of ROOMS, its subfolders, each may include only those before it
# and the headers of src/<name> itself. It may include headers of the folders SEES. No other folder
# may use the libraries PRIVATE.
function(stoker_folder name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "ROOMS;SEES;PRIVATE")
  stoker_sources(sources ${name} "*.cc" ${arg_ROOMS})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  stoker_sources(device_sources ${name} "*.cu" ${arg_ROOMS})
  list(APPEND sources ${device_sources})
  # Without nvcc, .cu files are C++ and rooms that need CUDA's headers are left out.
  if(NOT STOKER_CUDA)
    list(FILTER sources EXCLUDE REGEX "/(cuda|nvjpeg)/")
    set_source_files_properties(${device_sources} PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "-xc++")
  endif()
  stoker_library(${name} SOURCES ${sources} SEES ${arg_SEES} PRIVATE ${arg_PRIVATE})
endfunction()

# Only these files see that there is CUDA, so all others are compiled, and cached, as without it.
if(STOKER_CUDA)
  file(GLOB see_cuda CONFIGURE_DEPENDS
       ${CMAKE_SOURCE_DIR}/src/codec/nvjpeg/*.cc ${CMAKE_SOURCE_DIR}/src/device/cuda/*.cc)
  list(APPEND see_cuda ${CMAKE_SOURCE_DIR}/src/codec/device_decoder.cc
       ${CMAKE_SOURCE_DIR}/src/device/device.cc)
  set_source_files_properties(${see_cuda} PROPERTIES
                              COMPILE_DEFINITIONS STOKER_CUDA=1
                              COMPILE_OPTIONS "-isystem;${CUDAToolkit_INCLUDE_DIRS}")
endif()

stoker_folder(base ROOMS chance)
stoker_folder(memory SEES base PRIVATE Threads::Threads)
stoker_folder(device ROOMS nvml cuda simulated
              SEES base memory
              PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
if(STOKER_CUDA)
  target_link_libraries(stoker_device INTERFACE $<LINK_ONLY:CUDA::cudart_static>)
endif()
stoker_folder(batch SEES base memory device)
stoker_folder(io ROOMS paths order SEES base memory PRIVATE Threads::Threads)
stoker_folder(kernels ROOMS jpeg resample warp rows elements fft signal neighbourhood statistics
              fused fused_device
              SEES base memory device
              PRIVATE PkgConfig::hwy)
stoker_folder(codec ROOMS plain_jpeg jpeg jpeg2000 png formats arrays inflate sound nvjpeg
              SEES base memory device kernels
              PRIVATE JPEG::JPEG ${CMAKE_DL_LIBS})
include(cmake/codecs.cmake)
stoker_folder(stores ROOMS records lmdb annotations
              SEES base memory io codec
              PRIVATE PkgConfig::simdjson PkgConfig::pugixml)
stoker_folder(op ROOMS arguments loops arithmetic window resize decode color
              SEES base memory device batch io codec kernels)
include(cmake/operators.cmake)
stoker_folder(graph
              SEES base memory device batch io kernels op
              PRIVATE nlohmann_json::nlohmann_json)
stoker_folder(run ROOMS plan feed chain step device executors call
              SEES base memory device batch io codec kernels op graph
              PRIVATE Threads::Threads nlohmann_json::nlohmann_json)

foreach(inner codec kernels op operators)
  get_target_property(type stoker_${inner} TYPE)
  # Not in sanitizers' builds, whose time -O3 would double.
  if(type STREQUAL "STATIC_LIBRARY" AND NOT STOKER_SANITIZE)
    target_compile_options(
      stoker_${inner} PRIVATE $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-O3>
              # GCC 12 takes inlined texts for overlapping ones (its bug 105329).
              $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-restrict>)
    # A square root that sets errno is a branch, and then a functor's loop is not vectorised.
    if(inner STREQUAL "operators")
      target_compile_options(stoker_operators PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-math-errno>)
    endif()
  endif()
endforeach()

# What a C++ program links to use src/stoker.h.
file(GLOB public_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/*.cc)
list(FILTER public_sources EXCLUDE REGEX "_test\\.cc$")
stoker_library(api SOURCES ${public_sources}
               SEES base memory device batch io stores codec kernels op graph run)
