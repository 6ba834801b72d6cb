// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What the codecs' files say of picture formats in their first lines. cmake/codecs.cmake writes
// this table, so that folders that do not see codecs know how such files begin and end.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace stoker {

// How files of a format begin.
struct Beginning {
  size_t at;
  std::string_view pattern;  // bytes, and sets of them, as [1-7#], of which one stands there
  const char* words;  // what such a file is, for errors: "a JPEG image"

  // How many bytes agree with the pattern; 0 unless all of it is there.
  size_t matched(std::span<const uint8_t> bytes) const;
};

struct PictureFormat {
  const char* name;  // as its codec has it
  std::span<const std::string_view> endings;  // ".jpg"
  std::span<const Beginning> beginnings;
};

// All formats that this version knows, whether their codecs were built or not.
std::span<const PictureFormat> picture_formats();

// Whether the bytes begin as files of the format do. False for an unknown format.
bool begins_as(std::string_view format, std::span<const uint8_t> bytes);

}  // namespace stoker
