// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/exif.h"

#include <string_view>

namespace stoker {
namespace {

constexpr uint32_t kOrientationTag = 0x0112;
constexpr uint32_t kByte = 1, kShort = 3, kLong = 4;

// Numbers of one byte order; what lies outside of the bytes reads as 0, which is no valid value of
// anything asked for here.
struct Numbers {
  std::span<const uint8_t> bytes;
  bool little;

  uint32_t at(uint64_t pos, int size) const {
    if (pos + size > bytes.size()) return 0;
    uint32_t v = 0;
    for (int i = 0; i < size; ++i) v = v << 8 | bytes[pos + (little ? size - 1 - i : i)];
    return v;
  }
};

uint32_t value_of(const Numbers& n, uint64_t entry) {
  switch (n.at(entry + 2, 2)) {
    case kByte: return n.at(entry + 8, 1);
    case kShort: return n.at(entry + 8, 2);
    case kLong: return n.at(entry + 8, 4);
    default: return 0;
  }
}

}  // namespace

int exif_orientation(std::span<const uint8_t> tiff) {
  if (tiff.size() < 8) return 1;
  const std::string_view order(reinterpret_cast<const char*>(tiff.data()), 2);
  if (order != "II" && order != "MM") return 1;
  const Numbers n{tiff, order == "II"};
  if (n.at(2, 2) != 42) return 1;
  const uint64_t directory = n.at(4, 4);
  const uint32_t entries = n.at(directory, 2);
  for (uint32_t i = 0; i < entries; ++i) {
    const uint64_t entry = directory + 2 + 12 * uint64_t{i};
    if (n.at(entry, 2) != kOrientationTag) continue;
    const uint32_t v = value_of(n, entry);
    return v >= 1 && v <= 8 ? static_cast<int>(v) : 1;
  }
  return 1;
}

}  // namespace stoker
