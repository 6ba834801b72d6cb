// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/plain_jpeg/segments.h"

namespace stoker {
namespace {

bool stands_alone(uint8_t m) { return m == kTem || (m >= kRst0 && m <= kRst7) || m == kSoi; }

}  // namespace

JpegSegment next_jpeg_segment(std::span<const uint8_t> file, size_t at) {
  JpegSegment s;
  do {
    while (at < file.size() && file[at] != 0xFF) ++at;
    while (at < file.size() && file[at] == 0xFF) ++at;
    s.at = at > 0 ? at - 1 : 0;
    if (at >= file.size()) {
      s.is_whole = false;
      return s;
    }
    s.marker = file[at++];
  } while (s.marker == 0 || stands_alone(s.marker));
  if (s.marker == kEoi) return s;
  ForeignBytes b = ForeignBytes(file, ByteOrder::kBig).from(at);
  const size_t length = b.has(2) ? b.u16() : 0;
  s.is_whole = length >= 2 && b.has(length - 2);
  s.body = b.bytes(s.is_whole ? length - 2 : b.left());
  return s;
}

}  // namespace stoker
