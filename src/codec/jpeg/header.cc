// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/jpeg/header.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "codec/exif.h"

namespace stoker {
namespace {

enum Marker : uint8_t {
  kTem = 0x01,
  kSof0 = 0xC0,
  kSof2 = 0xC2,
  kDht = 0xC4,
  kJpg = 0xC8,
  kSof10 = 0xCA,
  kDac = 0xCC,
  kSof15 = 0xCF,
  kRst0 = 0xD0,
  kRst7 = 0xD7,
  kSoi = 0xD8,
  kEoi = 0xD9,
  kSos = 0xDA,
  kApp0 = 0xE0,
  kApp1 = 0xE1,
  kApp14 = 0xEE,
};

bool is_frame(uint8_t m) {
  return m >= kSof0 && m <= kSof15 && m != kDht && m != kJpg && m != kDac;
}
bool stands_alone(uint8_t m) { return m == kTem || (m >= kRst0 && m <= kRst7) || m == kSoi; }

// Names the kinds of frame that cannot be decoded. Null for the others.
const char* unsupported(uint8_t frame) {
  switch (frame) {
    case 0xC3: return "lossless JPEG";
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

struct Segment {
  uint8_t marker = kEoi;
  size_t at = 0;  // offset of the marker
  std::span<const uint8_t> body;
  bool whole = true;
};

int u16(std::span<const uint8_t> b, size_t at) { return b[at] << 8 | b[at + 1]; }

// The next segment that has a length, at or behind `pos`, or an SOS or EOI without its body. Bytes
// between segments are skipped, as libjpeg skips them.
Segment next_segment(std::span<const uint8_t> bytes, size_t pos) {
  Segment s;
  for (;;) {
    while (pos < bytes.size() && bytes[pos] != 0xFF) ++pos;
    while (pos < bytes.size() && bytes[pos] == 0xFF) ++pos;
    s.at = pos > 0 ? pos - 1 : 0;
    if (pos >= bytes.size()) {
      s.whole = false;
      return s;
    }
    s.marker = bytes[pos++];
    if (s.marker != 0 && !stands_alone(s.marker)) break;
  }
  if (s.marker == kSos || s.marker == kEoi) return s;
  const size_t length = bytes.size() - pos >= 2 ? u16(bytes, pos) : 0;
  s.whole = length >= 2 && length <= bytes.size() - pos;
  const size_t from = std::min(pos + 2, bytes.size());
  s.body = bytes.subspan(from, s.whole ? length - 2 : bytes.size() - from);
  return s;
}

// What tells the colours of a file of three components, as for libjpeg.
struct ColorSigns {
  bool has_jfif = false;
  std::optional<int> adobe_transform;
  bool is_named_rgb = false;  // the components are called R, G and B

  bool is_ycbcr() const {
    if (has_jfif) return true;
    return adobe_transform ? *adobe_transform != 0 : !is_named_rgb;
  }
};

void read_frame(const Segment& s, JpegHeader& h, ColorSigns& color) {
  const int64_t at = static_cast<int64_t>(s.at);
  if (h.components) throw SampleError("JPEG header is damaged: it holds two frame headers", at);
  if (const char* kind = unsupported(s.marker))
    throw SampleError(std::string(kind) + " is not supported", at);
  if (s.body.size() < 6)
    throw SampleError("JPEG header is damaged: the frame header is too short", at);
  if (s.body[0] != 8)
    throw SampleError(
        "JPEG of " + std::to_string(s.body[0]) + " bits per sample is not supported, only of 8",
        at);
  h.height = u16(s.body, 1);
  h.width = u16(s.body, 3);
  h.components = s.body[5];
  if (h.height == 0 || h.width == 0 || h.components == 0)
    throw SampleError("JPEG header is damaged or not supported: " + std::to_string(h.width) +
                          " x " + std::to_string(h.height) + " pixels of " +
                          std::to_string(h.components) + " components",
                      at);
  h.is_progressive = s.marker == kSof2 || s.marker == kSof10;
  if (h.components != 3 || s.body.size() < 15) return;
  color.is_named_rgb = s.body[6] == 'R' && s.body[9] == 'G' && s.body[12] == 'B';
}

// Application segments tell colours and the orientation.
void read_application(const Segment& s, ColorSigns& color, Exif& exif) {
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
    const Segment s = next_segment(bytes, pos);
    if (s.marker == kSos || s.marker == kEoi || !s.whole) {
      if (h.components) break;
      throw SampleError(
          s.whole ? "JPEG header is damaged: no frame header stands before the picture's data"
                  : "JPEG data ends prematurely, within its header",
          static_cast<int64_t>(s.whole ? s.at : bytes.size()));
    }
    if (is_frame(s.marker)) read_frame(s, h, color);
    read_application(s, color, exif);
    pos = s.at + 4 + s.body.size();
  }
  if (!h.components)
    throw SampleError("JPEG data ends prematurely, within its header",
                      static_cast<int64_t>(bytes.size()));
  h.orientation = exif.orientation();
  h.is_ycbcr = h.components == 3 && color.is_ycbcr();
  return h;
}

}  // namespace stoker
