# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
#
# With STOKER_TOGETHER, up to eight files of a folder are compiled as one, because most of the time
# goes to what they include and to shared templates. A whole build takes half as long, a changed
# file twice as long. (CMake's UNITY_BUILD leaves out files with definitions of their own, so all
# operators.)
set(stoker_most_together 8)

# Sets <result> to what <target> compiles in place of the files.
function(stoker_together result target) # file...
  if(NOT STOKER_TOGETHER)
    set(${result} ${ARGN} PARENT_SCOPE)
    return()
  endif()
  set(compiled "")
  set(groups "")
  foreach(file IN LISTS ARGN)
    stoker_is_alone(alone ${file})
    if(alone)
      list(APPEND compiled ${file})
      continue()
    endif()
    cmake_path(GET file PARENT_PATH folder)
    cmake_path(GET file EXTENSION LAST_ONLY kind)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${CMAKE_SOURCE_DIR})
    string(MAKE_C_IDENTIFIER "${folder}${kind}" group)
    list(APPEND groups ${group})
    list(APPEND files_${group} ${file})
  endforeach()
  list(REMOVE_DUPLICATES groups)
  foreach(group IN LISTS groups)
    set(number 0)
    while(files_${group})
      list(SUBLIST files_${group} 0 ${stoker_most_together} files)
      list(REMOVE_ITEM files_${group} ${files})
      # With nvcc, a .cu file stays one.
      set(kind cc)
      if(STOKER_CUDA AND group MATCHES "_cu$")
        set(kind cu)
      endif()
      set(place ${CMAKE_BINARY_DIR}/together/${target}/${group}_${number}.${kind})
      stoker_write_together(${place} ${files})
      list(APPEND compiled ${place})
      math(EXPR number "${number} + 1")
    endwhile()
  endforeach()
  set(${result} ${compiled} PARENT_SCOPE)
endfunction()

# Alone are objects, codecs, files with options of their own, and those of Highway, which includes
# them again and again.
function(stoker_is_alone result file)
  set(alone OFF)
  if(file MATCHES "^\\$<")
    set(alone ON)
  else()
    get_source_file_property(options ${file} COMPILE_OPTIONS)
    file(STRINGS ${file} alone_line REGEX "HWY_TARGET_INCLUDE|^// Codec of " LIMIT_COUNT 1)
    if(alone_line OR (options AND NOT options STREQUAL "-xc++"))
      set(alone ON)
    endif()
  endif()
  set(${result} ${alone} PARENT_SCOPE)
endfunction()

# Paths are relative, so that another checkout finds the object in the cache.
function(stoker_write_together place) # file...
  cmake_path(GET place PARENT_PATH folder)
  set(text "")
  foreach(file IN LISTS ARGN)
    get_source_file_property(definition ${file} COMPILE_DEFINITIONS)
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${folder})
    if(definition)
      string(REPLACE "=" ";" definition ${definition})
      list(GET definition 0 macro)
      list(JOIN definition " " definition)
      string(APPEND text "#define ${definition}\n#include \"${file}\"\n#undef ${macro}\n")
    else()
      string(APPEND text "#include \"${file}\"\n")
    endif()
  endforeach()
  file(CONFIGURE OUTPUT ${place} CONTENT "${text}" @ONLY)
endfunction()
