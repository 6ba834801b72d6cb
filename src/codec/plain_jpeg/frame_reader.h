// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The segments of a JPEG file before its scans, as far as our own decoder takes files.
#pragma once
#include <algorithm>

#include "codec/plain_jpeg/frame.h"
#include "codec/plain_jpeg/segments.h"
#include "kernels/jpeg/entropy.h"
#include "kernels/jpeg/zigzag.h"

namespace stoker {

inline constexpr int64_t kLargestExtent = 65500;  // as for libjpeg
inline constexpr int kMostFactor = 4, kJpegTables = 4;

// Whether codes can be made of it. What a segment leaves out is not there.
inline bool is_usable(const jpeg::HuffmanCode& code) { return code.counts && code.is_valid(); }
inline bool is_usable_dc(const jpeg::HuffmanCode& code) {
  return is_usable(code) &&
         std::all_of(code.symbols, code.symbols + code.size(), [](int s) { return s < 16; });
}

// Reads segment after segment. Each function returns false at what is not plain.
class FrameReader {
 public:
  explicit FrameReader(bool is_progressive) : is_progressive_(is_progressive) {}

  // Of any segment that begins no scan.
  bool read_segment(const JpegSegment& s) {
    switch (s.marker) {
      case kSof0:
      case kSof1: return !is_progressive_ && read_frame(s.fields());
      case kSof2: return is_progressive_ && read_frame(s.fields());
      case kDht: return read_codes(s.fields());
      case kDqt: return read_quanta(s.fields());
      case kDri: return read_interval(s.fields());
      default: return (s.marker >= kApp0 && s.marker <= kApp15) || s.marker == kCom;
    }
  }
  PlainFrame& frame() { return f_; }
  // The component of a number; -1 if there is none.
  int component_of(int id) const {
    for (int i = 0; i < f_.count; ++i)
      if (ids_[i] == id) return i;
    return -1;
  }
  // Takes the quanta that the component has by now, as libjpeg does in its first scan.
  bool take_quanta(int component) {
    const int number = quanta_numbers_[component];
    if (has_quanta_[number]) f_.components[component].quanta = quanta_[number];
    return has_quanta_[number];
  }

 private:
  bool read_frame(ForeignBytes b) {
    if (f_.count || b.left() < 6 || b.u8() != 8) return false;
    f_.height = b.u16();
    f_.width = b.u16();
    f_.count = b.u8();
    if (f_.height < 1 || f_.height > kLargestExtent || f_.width < 1 || f_.width > kLargestExtent ||
        (f_.count != 1 && f_.count != 3) || b.left() != 3 * static_cast<size_t>(f_.count))
      return false;
    for (int i = 0; i < f_.count; ++i) {
      ids_[i] = b.u8();
      const int factors = b.u8();
      f_.components[i].across = factors >> 4;
      f_.components[i].down = factors & 15;
      quanta_numbers_[i] = b.u8();
      if (quanta_numbers_[i] >= kJpegTables || std::count(ids_, ids_ + i, ids_[i])) return false;
    }
    return take_factors();
  }

  // Components are sampled at whole numbers of pixels. The MCUs of one component are its blocks.
  bool take_factors() {
    int blocks = 0;
    for (int i = 0; i < f_.count; ++i) {
      const PlainFrame::Component& c = f_.components[i];
      if (c.across < 1 || c.across > kMostFactor || c.down < 1 || c.down > kMostFactor)
        return false;
      f_.most_across = std::max(f_.most_across, c.across);
      f_.most_down = std::max(f_.most_down, c.down);
      blocks += c.across * c.down;
    }
    f_.row_factor = f_.most_down;
    if (f_.count == 1)
      f_.components[0].across = f_.components[0].down = f_.most_across = f_.most_down = 1;
    else if (blocks > jpeg::kMostBlocksOfMcu) return false;
    return std::all_of(f_.components, f_.components + f_.count, [this](const auto& c) {
      return f_.most_across % c.across == 0 && f_.most_down % c.down == 0;
    });
  }

  bool read_codes(ForeignBytes b) {
    while (b.left() >= 17) {
      const int kind = b.u8();
      if ((kind & ~0x10) >= kJpegTables) return false;
      const std::span<const uint8_t> counts = b.bytes(16);
      jpeg::HuffmanCode code{.counts = counts.data()};
      const auto size = static_cast<size_t>(code.size());
      if (size > 256 || !b.has(size)) return false;
      code.symbols = b.bytes(size).data();
      (kind & 0x10 ? f_.ac_codes : f_.dc_codes)[kind & 15] = code;
    }
    return b.left() == 0;
  }

  bool read_quanta(ForeignBytes b) {
    while (b.left() > 0) {
      const int kind = b.u8(), number = kind & 15, is_wide = kind >> 4;
      if (number >= kJpegTables || is_wide > 1 || !b.has(64u << is_wide)) return false;
      for (const uint8_t place : jpeg::kZigzag) quanta_[number][place] = is_wide ? b.u16() : b.u8();
      has_quanta_[number] = true;
    }
    return true;
  }

  bool read_interval(ForeignBytes b) {
    if (b.left() != 2) return false;
    f_.restart_interval = b.u16();
    return true;
  }

  const bool is_progressive_;
  PlainFrame f_;
  uint8_t ids_[3] = {};
  int quanta_numbers_[3] = {};
  std::array<uint16_t, 64> quanta_[kJpegTables];
  bool has_quanta_[kJpegTables] = {};
};

}  // namespace stoker
