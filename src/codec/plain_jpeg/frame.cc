// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/plain_jpeg/frame.h"

#include <algorithm>

#include "codec/plain_jpeg/segments.h"
#include "kernels/jpeg/entropy.h"
#include "kernels/jpeg/zigzag.h"

namespace stoker {
namespace {

constexpr int64_t kLargestExtent = 65500;  // as for libjpeg
constexpr int kMostFactor = 4, kTables = 4;

// Reads segment after segment. Each function returns false at what is not plain.
class FrameReader {
 public:
  explicit FrameReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  bool read() {
    for (size_t at = 2;;) {
      const JpegSegment s = next_jpeg_segment(bytes_, at);
      if (!s.is_whole || s.at != at) return false;
      if (s.marker == kSos) return read_scan(s);
      if (!read_segment(s)) return false;
      at = s.end();
    }
  }
  const PlainFrame& frame() const { return f_; }

 private:
  bool read_segment(const JpegSegment& s) {
    switch (s.marker) {
      case kSof0:
      case kSof1: return read_frame(s.fields());
      case kDht: return read_codes(s.fields());
      case kDqt: return read_quanta(s.fields());
      case kDri: return read_interval(s.fields());
      default: return (s.marker >= kApp0 && s.marker <= kApp15) || s.marker == kCom;
    }
  }

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
      if (quanta_numbers_[i] >= kTables || std::count(ids_, ids_ + i, ids_[i])) return false;
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
      if ((kind & ~0x10) >= kTables) return false;
      const std::span<const uint8_t> counts = b.bytes(16);
      jpeg::HuffmanCode code{.counts = counts.data()};
      const auto size = static_cast<size_t>(code.size());
      if (!b.has(size)) return false;
      code.symbols = b.bytes(size).data();
      (kind & 0x10 ? f_.ac_codes : f_.dc_codes)[kind & 15] = code;
    }
    return b.left() == 0;
  }

  bool read_quanta(ForeignBytes b) {
    while (b.left() > 0) {
      const int kind = b.u8(), number = kind & 15, is_wide = kind >> 4;
      if (number >= kTables || is_wide > 1 || !b.has(64u << is_wide)) return false;
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

  // One scan of all components in their order, from the first coefficient to the last.
  bool read_scan(const JpegSegment& s) {
    ForeignBytes b = s.fields();
    if (!f_.count || b.left() != 4 + 2 * static_cast<size_t>(f_.count) || b.u8() != f_.count)
      return false;
    for (int i = 0; i < f_.count; ++i) {
      if (b.u8() != ids_[i]) return false;
      const int codes = b.u8();
      if (!take_tables(f_.components[i], quanta_numbers_[i], codes >> 4, codes & 15)) return false;
    }
    f_.data = s.end();
    return b.u8() == 0 && b.u8() == 63 && b.u8() == 0;
  }

  bool take_tables(PlainFrame::Component& c, int quanta, int dc, int ac) {
    if (!has_quanta_[quanta] || dc >= kTables || ac >= kTables) return false;
    c.quanta = quanta_[quanta];
    c.dc_code = dc, c.ac_code = ac;
    const jpeg::HuffmanCode& code = f_.dc_codes[dc];
    return is_usable(code) && is_usable(f_.ac_codes[ac]) &&
           std::all_of(code.symbols, code.symbols + code.size(), [](int s) { return s < 16; });
  }
  static bool is_usable(const jpeg::HuffmanCode& code) { return code.counts && code.is_valid(); }

  std::span<const uint8_t> bytes_;
  PlainFrame f_;
  uint8_t ids_[3] = {};
  int quanta_numbers_[3] = {};
  std::array<uint16_t, 64> quanta_[kTables];
  bool has_quanta_[kTables] = {};
};

}  // namespace

std::optional<PlainFrame> read_plain_frame(std::span<const uint8_t> bytes) {
  FrameReader reader(bytes);
  if (!reader.read()) return std::nullopt;
  return reader.frame();
}

}  // namespace stoker
