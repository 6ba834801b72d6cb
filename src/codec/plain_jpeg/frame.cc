// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/plain_jpeg/frame.h"

#include "codec/plain_jpeg/frame_reader.h"

namespace stoker {
namespace {

// One scan of all components in their order, from the first coefficient to the last.
bool read_scan(FrameReader& reader, const JpegSegment& s) {
  PlainFrame& f = reader.frame();
  ForeignBytes b = s.fields();
  if (!f.count || b.left() != 4 + 2 * static_cast<size_t>(f.count) || b.u8() != f.count)
    return false;
  for (int i = 0; i < f.count; ++i) {
    if (reader.component_of(b.u8()) != i) return false;
    const int codes = b.u8(), dc = codes >> 4, ac = codes & 15;
    if (!reader.take_quanta(i) || dc >= kJpegTables || ac >= kJpegTables ||
        !is_usable_dc(f.dc_codes[dc]) || !is_usable(f.ac_codes[ac]))
      return false;
    f.components[i].dc_code = dc, f.components[i].ac_code = ac;
  }
  f.data = s.end();
  return b.u8() == 0 && b.u8() == 63 && b.u8() == 0;
}

}  // namespace

std::optional<PlainFrame> read_plain_frame(std::span<const uint8_t> bytes) {
  FrameReader reader(false);
  for (size_t at = 2;;) {
    const JpegSegment s = next_jpeg_segment(bytes, at);
    if (!s.is_whole || s.at != at) return std::nullopt;
    if (s.marker == kSos)
      return read_scan(reader, s) ? std::optional(reader.frame()) : std::nullopt;
    if (!reader.read_segment(s)) return std::nullopt;
    at = s.end();
  }
}

}  // namespace stoker
