// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <algorithm>
#include <cstdint>

namespace stoker {

namespace {

// The bytes of the character that the text begins with; 0 if it begins with none. Overlong forms,
// surrogates and numbers above 0x10FFFF are none. Requires: the text is not empty.
size_t character_size(std::string_view text) {
  const auto follows = [&](size_t i, int low, int high) {
    return i < text.size() && static_cast<uint8_t>(text[i]) >= low &&
           static_cast<uint8_t>(text[i]) <= high;
  };
  const auto first = static_cast<uint8_t>(text[0]);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  const int low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  const int high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  const size_t size = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (!follows(1, low, high)) return 0;
  for (size_t i = 2; i < size; ++i)
    if (!follows(i, 0x80, 0xBF)) return 0;
  return size;
}

std::string escape(char c) {
  constexpr char kDigits[] = "0123456789abcdef";
  const auto byte = static_cast<uint8_t>(c);
  return {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t size = character_size(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

std::string valid_utf8(std::string_view text) { return shortened(text, std::string::npos); }

std::string shortened(std::string_view text, size_t most) {
  std::string s;
  while (!text.empty()) {
    const size_t size = character_size(text);
    const bool is_shown = size && text[0];
    const std::string piece = is_shown ? std::string(text.substr(0, size)) : escape(text[0]);
    if (s.size() + piece.size() > most) return s + "...";
    s += piece;
    text.remove_prefix(std::max<size_t>(size, 1));
  }
  return s;
}

}  // namespace stoker
