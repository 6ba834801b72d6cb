# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
#
# Looks for all that a build needs, so that whatever is missing is named at once. It runs before a
# compiler is known, and so looks for files. The packages are Debian's; docs/guide/installing.md
# names those of other distributions.

# A file, and the package that brings it. Nothing can be built without these.
set(stoker_needs
    "jpeglib.h|libjpeg62-turbo-dev"
    "hwy/highway.h|libhwy-dev"
    "simdjson.h|libsimdjson-dev"
    "pugixml.hpp|libpugixml-dev"
    "protozero/pbf_reader.hpp|libprotozero-dev"
    "nlohmann/json.hpp|nlohmann-json3-dev")

# Appends to <packages> what brings the missing libraries of codecs, as the files of the codecs name
# it (cmake/codecs.cmake), and to <formats> what needs them. Without pkg-config all are missing.
function(stoker_find_missing_codecs packages formats)
  file(GLOB files ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../src/codec/*/*_codec.cc)
  foreach(file IN LISTS files)
    file(STRINGS ${file} line REGEX "^// Codec of .*, by .*\\.$" LIMIT_COUNT 1)
    if(NOT line MATCHES "^// Codec of (.*), by ([^ ]+) \\(([^()]+)\\)")
      continue()
    endif()
    set(words "${CMAKE_MATCH_1}")
    set(library ${CMAKE_MATCH_2})
    set(package ${CMAKE_MATCH_3})
    set(code 1)
    if(stoker_pkg_config)
      execute_process(COMMAND ${stoker_pkg_config} --exists ${library} RESULT_VARIABLE code)
    endif()
    if(NOT code EQUAL 0 AND NOT stoker_needs MATCHES "\\|${package}(;|$)")
      string(REPLACE " and " ", " words "${words}")
      list(APPEND ${packages} ${package})
      list(APPEND ${formats} "${words}")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES ${packages})
  return(PROPAGATE ${packages} ${formats})
endfunction()

# Appends to <required> what is missing and indispensable.
function(stoker_find_missing required)
  include(CheckLanguage)
  check_language(CXX)
  if(NOT CMAKE_CXX_COMPILER)
    unset(CMAKE_CXX_COMPILER CACHE)  # so that it is looked for again once it is installed
    list(APPEND ${required} g++)
  endif()
  find_program(stoker_pkg_config NAMES pkg-config pkgconf)
  mark_as_advanced(stoker_pkg_config)
  if(NOT stoker_pkg_config)
    list(APPEND ${required} pkg-config)
  endif()
  if(STOKER_PYTHON)
    find_program(stoker_python NAMES python3 python)
    mark_as_advanced(stoker_python)
    set(python ${stoker_python})
    if(Python_EXECUTABLE)
      set(python ${Python_EXECUTABLE})
    endif()
    execute_process(
      COMMAND ${python} -c "import sysconfig; print(sysconfig.get_path('include'))"
      OUTPUT_VARIABLE headers OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(NOT EXISTS "${headers}/Python.h")
      list(APPEND ${required} python3-dev)
    endif()
  endif()
  file(GLOB architectures /usr/include/*-linux-*)
  foreach(need IN LISTS stoker_needs)
    string(REPLACE "|" ";" need "${need}")
    list(GET need 0 file)
    list(GET need 1 package)
    find_path(stoker_place NAMES ${file} PATHS ${architectures} NO_CACHE)
    if(NOT stoker_place)
      list(APPEND ${required} ${package})
    endif()
    unset(stoker_place)
  endforeach()
  set(${required} "${${required}}" PARENT_SCOPE)
endfunction()

# A cross build looks into another root, where find_package() says what it lacks.
if(NOT CMAKE_TOOLCHAIN_FILE)
  set(missing "")
  set(missing_of_codecs "")
  set(lost_formats "")
  stoker_find_missing(missing)
  stoker_find_missing_codecs(missing_of_codecs lost_formats)
  list(JOIN missing " " words)
  list(JOIN missing_of_codecs " " codec_words)
  list(JOIN lost_formats ", " lost_words)
  if(missing)
    set(hint "")
    if(missing_of_codecs)
      set(hint "\nWithout these it would lack ${lost_words}:\n  apt-get install ${codec_words}\n")
    endif()
    message(FATAL_ERROR
            "Stoker cannot be built: ${words} missing. On Debian or Ubuntu, as root:\n"
            "  apt-get install ${words}\n${hint}"
            "docs/guide/installing.md names the packages of other distributions.")
  endif()
  if(missing_of_codecs)
    message(STATUS "Stoker will lack ${lost_words}. For these: apt-get install ${codec_words}")
  endif()
endif()
