// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The marker segments of a JPEG file.
//
//   FF D8 | FF marker size:2 | body | FF marker size:2 | body | ... | FF DA size:2 | body | data
//   of a scan | ... | FF D9
//
// Sizes are big-endian and count themselves. Any number of FF may stand before a marker, and data
// has a 0 behind each FF that begins none.
#pragma once
#include "base/foreign_bytes.h"

namespace stoker {

enum JpegMarker : uint8_t {
  kTem = 0x01,
  kSof0 = 0xC0,
  kSof1 = 0xC1,
  kSof2 = 0xC2,
  kSof3 = 0xC3,
  kDht = 0xC4,
  kJpg = 0xC8,
  kSof9 = 0xC9,
  kSof10 = 0xCA,
  kSof11 = 0xCB,
  kDac = 0xCC,
  kSof15 = 0xCF,
  kRst0 = 0xD0,
  kRst7 = 0xD7,
  kSoi = 0xD8,
  kEoi = 0xD9,
  kSos = 0xDA,
  kDqt = 0xDB,
  kDri = 0xDD,
  kApp0 = 0xE0,
  kApp1 = 0xE1,
  kApp14 = 0xEE,
  kApp15 = 0xEF,
  kCom = 0xFE,
};

constexpr bool is_jpeg_frame(uint8_t m) {
  return m >= kSof0 && m <= kSof15 && m != kDht && m != kJpg && m != kDac;
}

struct JpegSegment {
  uint8_t marker = kEoi;
  size_t at = 0;  // offset of the marker
  std::span<const uint8_t> body;
  bool is_whole = true;

  // The body, with offsets of its own: callers check first that it is long enough.
  ForeignBytes fields() const { return {body, ByteOrder::kBig}; }
  size_t end() const { return at + 4 + body.size(); }  // Requires: it has a length
};

// The next segment that has a length, at or behind `at`, or an EOI. Bytes between segments are
// skipped, as libjpeg skips them, and so is the data of a scan. Where the file ends before, the
// segment is not whole.
JpegSegment next_jpeg_segment(std::span<const uint8_t> file, size_t at);

}  // namespace stoker
