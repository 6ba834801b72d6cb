// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/jpeg/header.h"

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "codec/exif.h"
#include "codec/plain_jpeg/segments.h"

namespace stoker {
namespace {

// Names the kinds of frame that cannot be decoded. Null for the others.
const char* unsupported(uint8_t frame) {
  switch (frame) {
    case 0xCB: return "lossless JPEG (arithmetic coding)";
    case 0xC5:
    case 0xC6:
    case 0xC7:
    case 0xCD:
    case 0xCE:
    case 0xCF: return "hierarchical JPEG";
    default: return nullptr;
  }
}

// What tells the colours of a file of three components, as for libjpeg.
struct ColorSigns {
  bool has_jfif = false;
  std::optional<int> adobe_transform;
  bool is_named_rgb = false;  // the components are called R, G and B

  // A lossless file has RGB unless it says otherwise.
  bool is_ycbcr(bool is_lossless) const {
    if (has_jfif) return true;
    return adobe_transform ? *adobe_transform != 0 : !is_named_rgb && !is_lossless;
  }
};

void read_frame(const JpegSegment& s, JpegHeader& h, ColorSigns& color) {
  const int64_t at = static_cast<int64_t>(s.at);
  if (h.components) throw SampleError("JPEG header is damaged: it holds two frame headers", at);
  if (const char* kind = unsupported(s.marker))
    throw SampleError(std::string(kind) + " is not supported", at);
  if (s.body.size() < 6)
    throw SampleError("JPEG header is damaged: the frame header is too short", at);
  ForeignBytes b = s.fields();
  h.is_lossless = s.marker == kSof3;
  h.bits = b.u8();
  if (h.is_lossless ? h.bits < 2 || h.bits > 16 : h.bits != 8)
    throw SampleError("JPEG of " + std::to_string(h.bits) +
                          " bits per sample is not supported, only of " +
                          (h.is_lossless ? "2 to 16" : "8"),
                      at);
  h.height = b.u16();
  h.width = b.u16();
  h.components = b.u8();
  if (h.height == 0 || h.width == 0 || h.components == 0)
    throw SampleError("JPEG header is damaged or not supported: " + std::to_string(h.width) +
                          " x " + std::to_string(h.height) + " pixels of " +
                          std::to_string(h.components) + " components",
                      at);
  h.is_progressive = s.marker == kSof2 || s.marker == kSof10;
  if (h.components != 3 || s.body.size() < 15) return;
  color.is_named_rgb = s.body[6] == 'R' && s.body[9] == 'G' && s.body[12] == 'B';
}

void read_application(const JpegSegment& s, ColorSigns& color, Exif& exif) {
  constexpr std::string_view kJfif("JFIF\0", 5), kAdobe("Adobe", 5);
  const std::string_view text(reinterpret_cast<const char*>(s.body.data()), s.body.size());
  if (s.marker == kApp0 && text.starts_with(kJfif) && text.size() >= 14) color.has_jfif = true;
  if (s.marker == kApp14 && text.starts_with(kAdobe) && text.size() >= 12)
    color.adobe_transform = s.body[11];
  if (s.marker == kApp1) exif.add(s.body);
}

}  // namespace

JpegHeader read_jpeg_header(std::span<const uint8_t> bytes) {
  JpegHeader h;
  ColorSigns color;
  Exif exif;
  for (size_t pos = 2; pos < bytes.size();) {
    const JpegSegment s = next_jpeg_segment(bytes, pos);
    if (s.marker == kSos || s.marker == kEoi || !s.is_whole) {
      if (h.components) break;
      throw SampleError(
          s.is_whole ? "JPEG header is damaged: no frame header stands before the picture's data"
                     : "JPEG data ends prematurely, within its header",
          static_cast<int64_t>(s.is_whole ? s.at : bytes.size()));
    }
    if (is_jpeg_frame(s.marker)) read_frame(s, h, color);
    read_application(s, color, exif);
    pos = s.end();
  }
  if (!h.components)
    throw SampleError("JPEG data ends prematurely, within its header",
                      static_cast<int64_t>(bytes.size()));
  h.orientation = exif.orientation();
  h.is_ycbcr = h.components == 3 && color.is_ycbcr(h.is_lossless);
  return h;
}

}  // namespace stoker
