// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "base/picture_formats.h"

#include <algorithm>

namespace stoker {
namespace {

// Whether the set, which comes without its brackets, has the byte.
bool has(std::string_view set, uint8_t byte) {
  const auto at = [&](size_t i) { return static_cast<uint8_t>(set[i]); };
  for (size_t i = 0; i < set.size(); ++i) {
    const bool is_range = i + 2 < set.size() && set[i + 1] == '-';
    if (at(i) <= byte && byte <= at(is_range ? i + 2 : i)) return true;
    if (is_range) i += 2;
  }
  return false;
}

}  // namespace

size_t Beginning::matched(std::span<const uint8_t> bytes) const {
  size_t n = 0;
  for (size_t i = 0; i < pattern.size(); ++i, ++n) {
    const size_t end = pattern[i] == '[' ? pattern.find(']', i) : i;
    const std::string_view set =
        end > i ? pattern.substr(i + 1, end - i - 1) : pattern.substr(i, 1);
    if (at + n >= bytes.size() || !has(set, bytes[at + n])) return 0;
    i = end;
  }
  return n;
}

bool begins_as(std::string_view format, std::span<const uint8_t> bytes) {
  const auto matches = [&](const Beginning& b) { return b.matched(bytes) > 0; };
  return std::ranges::any_of(picture_formats(), [&](const PictureFormat& f) {
    return f.name == format && std::ranges::any_of(f.beginnings, matches);
  });
}

}  // namespace stoker
