# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
#
# Looks for all that a build needs before any of it is used, so that whatever is missing is named at
# once. It runs before a compiler is known, and so looks for files. The packages are Debian's;
# docs/guide/installing.md names those of other distributions.

# A file, the package that brings it, and what lacks without it; none if nothing can be built.
set(stoker_needs
    "jpeglib.h|libjpeg62-turbo-dev|"
    "hwy/highway.h|libhwy-dev|"
    "simdjson.h|libsimdjson-dev|"
    "pugixml.hpp|libpugixml-dev|"
    "protozero/pbf_reader.hpp|libprotozero-dev|"
    "nlohmann/json.hpp|nlohmann-json3-dev|"
    "isa-l.h|libisal-dev|PNG, zlib, gzip"
    "webp/decode.h|libwebp-dev|WebP"
    "tiffio.h|libtiff-dev|TIFF"
    "openjpeg-2.5/openjpeg.h|libopenjp2-7-dev|JPEG 2000"
    "avif/avif.h|libavif-dev|AVIF"
    "jxl/decode.h|libjxl-dev|JPEG XL"
    "libheif/heif.h|libheif-dev|HEIF"
    "sndfile.h|libsndfile1-dev|sounds"
    "lz4.h|liblz4-dev|LZ4"
    "zstd.h|libzstd-dev|zstd")

# Appends to the lists <required> and <optional> what is missing.
function(stoker_find_missing required optional)
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
    list(GET need 2 lost)
    find_path(stoker_place NAMES ${file} PATHS ${architectures} NO_CACHE)
    if(NOT stoker_place)
      if(lost)
        list(APPEND ${optional} ${package})
        list(APPEND lost_formats "${lost}")
      else()
        list(APPEND ${required} ${package})
      endif()
    endif()
    unset(stoker_place)
  endforeach()
  set(${required} "${${required}}" PARENT_SCOPE)
  set(${optional} "${${optional}}" PARENT_SCOPE)
  set(lost_formats "${lost_formats}" PARENT_SCOPE)
endfunction()

# A cross build looks into another root, where find_package() says what it lacks.
if(NOT CMAKE_TOOLCHAIN_FILE)
  set(missing "")
  set(missing_formats "")
  stoker_find_missing(missing missing_formats)
  list(JOIN missing " " words)
  list(JOIN missing_formats " " format_words)
  list(JOIN lost_formats ", " lost_words)
  if(missing)
    set(hint "")
    if(missing_formats)
      set(hint "\nWithout these it would lack ${lost_words}:\n  apt-get install ${format_words}\n")
    endif()
    message(FATAL_ERROR
            "Stoker cannot be built: ${words} missing. On Debian or Ubuntu, as root:\n"
            "  apt-get install ${words}\n${hint}"
            "docs/guide/installing.md names the packages of other distributions.")
  endif()
  if(missing_formats)
    message(STATUS "Stoker will lack ${lost_words}. For these: apt-get install ${format_words}")
  endif()
endif()
