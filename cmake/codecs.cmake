# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
#
# Finds the files of all formats, src/codec/<room>/<name>_codec.cc, and writes a table of them for
# each kind of codec. Such a file ends in the macro of its kind, and says what it is in one line:
#
#   // Codec of <format>, by our own code.
#   // Codec of <format>, <format> and <format>, by <pkg-config's name> (<Debian's package>).
#   // Codec of <format>, by <...> (<...>), which is opened at run time (<Debian's package>).
#
# The library of the last form gives its headers only, and is not linked. Its codec knows whether it
# was found, and the table names the package that brings it. Formats of a missing library are in the
# table without a codec, so that errors and stoker.codecs() can name the package. Its file and test
# are left out, and the whole room if the room has the codec's name.
#
# A codec of pictures is of one format. The next lines say how its files are named and begin, and
# what errors call them, for the table of base/picture_formats.h:
#
#   // Endings: .tif .tiff
#   // "II*\0", "MM\0*" at byte 0: a TIFF image
#   // "II+\0", "MM\0+" at byte 0: a BigTIFF image

set(codec_macros STOKER_CODEC STOKER_SOUND_CODEC STOKER_INFLATER)
set(codec_kinds ImageCodec SoundCodec Inflater)
set(codec_declarations "")
set(picture_format_arrays "")
set(picture_format_entries "")

# Appends a codec's format to what the table of picture formats is made of.
function(stoker_picture_format file format)
  cmake_path(GET file STEM name)
  file(STRINGS ${file} endings REGEX "^// Endings:( \\.[a-z0-9]+)+$")
  string(REGEX MATCHALL "\\.[a-z0-9]+" endings "${endings}")
  list(TRANSFORM endings REPLACE ".+" "\"\\0\"")
  list(JOIN endings ", " endings)
  set(beginnings "")
  file(STRINGS ${file} lines REGEX "^// \".*\" at byte [0-9]+: ")
  foreach(line IN LISTS lines)
    string(REGEX MATCH "^// (.*) at byte ([0-9]+): (.*)$" line "${line}")
    set(at ${CMAKE_MATCH_2})
    set(words "${CMAKE_MATCH_3}")
    string(REGEX MATCHALL "\"[^\"]+\"" patterns "${CMAKE_MATCH_1}")
    foreach(pattern IN LISTS patterns)
      string(APPEND beginnings "    {${at}, ${pattern}sv, \"${words}\"},\n")
    endforeach()
  endforeach()
  if(NOT endings OR NOT beginnings)
    message(FATAL_ERROR "${file} does not say how files of ${format} end and begin: "
                        "see cmake/codecs.cmake")
  endif()
  string(APPEND picture_format_arrays
         "constexpr std::string_view ${name}_endings[] = {${endings}};\n"
         "constexpr Beginning ${name}_beginnings[] = {\n${beginnings}};\n")
  string(APPEND picture_format_entries
         "    {\"${format}\", ${name}_endings, ${name}_beginnings},\n")
  return(PROPAGATE picture_format_arrays picture_format_entries)
endfunction()

# Adds the codecs of <root>/<room>/<name>_codec.cc to those found before, and sets <result> to their
# files. Their first lines are read again when they change.
macro(stoker_codecs result root)
  file(GLOB ${result} CONFIGURE_DEPENDS ${root}/*/*_codec.cc)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${${result}})
  foreach(file IN LISTS ${result})
    file(STRINGS ${file} line REGEX "^// Codec of .*, by .*\\.$" LIMIT_COUNT 1)
    set(by "([^ ]+) \\(([^()]+)\\)(, which is opened at run time \\(([^()]+)\\))?")
    if(NOT line MATCHES "^// Codec of (.*), by (our own code|${by})\\.$")
      message(FATAL_ERROR "${file} does not say which format it is of, and by what: "
                          "see cmake/codecs.cmake")
    endif()
    set(words "${CMAKE_MATCH_1}")
    set(library "${CMAKE_MATCH_3}")
    set(package "${CMAKE_MATCH_4}")
    set(package_to_run "${CMAKE_MATCH_6}")
    string(REGEX REPLACE ", | and " ";" formats "${words}")
    file(STRINGS ${file} macro REGEX "^STOKER_[A-Z_]+\\(" LIMIT_COUNT 1)
    string(REGEX REPLACE "\\(.*" "" macro "${macro}")
    list(FIND codec_macros "${macro}" kind)
    if(kind LESS 0)
      message(FATAL_ERROR "${file} ends in none of ${codec_macros}")
    endif()
    list(GET codec_kinds ${kind} kind)
    cmake_path(GET file STEM name)
    set(symbol stoker_${name})
    set(found TRUE)
    if(library)
      pkg_check_modules(${name} IMPORTED_TARGET ${library})
      set(found ${${name}_FOUND})
    endif()
    foreach(format IN LISTS formats)
      if(format IN_LIST STOKER_WITHOUT)
        set(found FALSE)
      endif()
    endforeach()
    if(found)
      set_source_files_properties(${file} PROPERTIES
                                  COMPILE_DEFINITIONS STOKER_CODEC_SYMBOL=${symbol})
      if(package_to_run)
        target_include_directories(stoker_codec SYSTEM PRIVATE ${${name}_INCLUDE_DIRS})
        set(package ${package_to_run})
      elseif(library)
        target_link_libraries(stoker_codec PRIVATE PkgConfig::${name})
      endif()
      string(APPEND codec_declarations "const stoker::${kind}* ${symbol}();\n")
    else()
      message(STATUS "No codec of ${words}: Debian's ${package} brings what it needs")
      cmake_path(GET file PARENT_PATH room)
      cmake_path(GET room FILENAME room_name)
      set(left_out ${file} ${room}/${name}_test.cc)
      if(name STREQUAL ${room_name}_codec)
        file(GLOB left_out CONFIGURE_DEPENDS ${room}/*.cc)
      endif()
      set_source_files_properties(${left_out} PROPERTIES HEADER_FILE_ONLY TRUE)
      set(symbol nullptr)
    endif()
    foreach(format IN LISTS formats)
      string(APPEND entries_of_${kind} "    {\"${format}\", \"${package}\", ${symbol}},\n")
      if(kind STREQUAL "ImageCodec")
        stoker_picture_format(${file} "${format}")
      endif()
    endforeach()
  endforeach()
endmacro()

# Writes the tables of the codecs found so far and of their picture formats. file(CONFIGURE) does
# not touch them unless they changed.
function(stoker_codec_tables table formats)
  set(codec_tables "")
  foreach(kind IN LISTS codec_kinds)
    string(APPEND codec_tables "
template <>
std::span<const Known<${kind}>> known_codecs<${kind}>() {
  static constexpr Known<${kind}> kCodecs[] = {
${entries_of_${kind}}  };
  return kCodecs;
}
")
  endforeach()
  file(CONFIGURE OUTPUT ${table} @ONLY CONTENT "// Generated by cmake/codecs.cmake.
# include \"codec/inflate/inflate.h\"
# include \"codec/sound/sound.h\"

@codec_declarations@
namespace stoker {
@codec_tables@
}  // namespace stoker
")
  file(CONFIGURE OUTPUT ${formats} @ONLY CONTENT "// Generated by cmake/codecs.cmake.
# include \"base/picture_formats.h\"

namespace stoker {
namespace {

using std::string_view_literals::operator\"\"sv;

@picture_format_arrays@
constexpr PictureFormat kFormats[] = {
@picture_format_entries@};

}  // namespace

std::span<const PictureFormat> picture_formats() { return kFormats; }

}  // namespace stoker
")
endfunction()

stoker_codecs(codec_files ${CMAKE_SOURCE_DIR}/src/codec)
set(codec_table ${CMAKE_BINARY_DIR}/codec_table.cc)
set(picture_formats ${CMAKE_BINARY_DIR}/picture_formats.cc)
stoker_codec_tables(${codec_table} ${picture_formats})
target_sources(stoker_codec PRIVATE ${codec_table})
target_sources(stoker_base PRIVATE ${picture_formats})
