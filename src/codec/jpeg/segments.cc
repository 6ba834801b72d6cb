// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/jpeg/segments.h"

#include <algorithm>

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
  const size_t left = file.size() - at;
  const size_t length = left >= 2 ? static_cast<size_t>(file[at] << 8 | file[at + 1]) : 0;
  s.is_whole = length >= 2 && length <= left;
  const size_t from = std::min(at + 2, file.size());
  s.body = file.subspan(from, s.is_whole ? length - 2 : file.size() - from);
  return s;
}

}  // namespace stoker
