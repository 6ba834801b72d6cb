// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/plain_jpeg/progressive_frame.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "codec/plain_jpeg/frame_reader.h"

namespace stoker {
namespace {

constexpr int kMostShift = 13;  // as for libjpeg

// How many lower bits of each coefficient have not come.
struct Missing {
  static constexpr int kAll = -1;
  int bits[3][64];

  Missing() {
    for (auto& of_component : bits) std::fill_n(of_component, 64, kAll);
  }
  // Notes what the scan tells. Returns false where that is not what comes next.
  bool take(const ProgressiveScan& scan) {
    for (int i = 0; i < scan.count; ++i) {
      int* const own = bits[scan.components[i]];
      if (!scan.is_dc() && own[0] == kAll) return false;
      for (int k = scan.first; k <= scan.last; ++k) {
        if (own[k] != (scan.refines ? scan.shift + 1 : kAll)) return false;
        own[k] = scan.shift;
      }
    }
    return true;
  }
  bool is_none(int components) const {
    return std::all_of(bits, bits + components, [](const auto& own) {
      return std::all_of(own, own + 64, [](int b) { return b == 0; });
    });
  }
};

// Reads segments and scans. Each function returns false at what such files do not have.
class ProgressiveReader {
 public:
  explicit ProgressiveReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  bool read() {
    for (size_t at = 2;;) {
      const JpegSegment s = next_jpeg_segment(bytes_, at);
      if (!s.is_whole || s.at != at) return false;
      if (s.marker == kEoi) return missing_.is_none(reader_.frame().count) && take_quanta();
      at = s.end();
      if (s.marker == kSos) {
        if (!read_scan(s, at)) return false;
      } else if (!is_usual(s.marker) || !reader_.read_segment(s)) {
        return false;
      }
    }
  }
  ProgressiveFrame frame() { return {reader_.frame(), std::move(scans_)}; }

 private:
  bool is_usual(uint8_t marker) const { return scans_.empty() || marker == kDht || marker == kDri; }
  // Quanta do not change any more once scans have begun.
  bool take_quanta() {
    for (int c = 0; c < reader_.frame().count; ++c)
      if (!reader_.take_quanta(c)) return false;
    return true;
  }

  // Moves `at` to the marker behind the scan.
  bool read_scan(const JpegSegment& s, size_t& at) {
    if (scans_.size() == kMostScans) return false;
    ForeignBytes b = s.fields();
    ProgressiveScan scan;
    if (b.left() < 1) return false;
    scan.count = b.u8();
    if (scan.count < 1 || scan.count > reader_.frame().count ||
        b.left() != 3 + 2 * static_cast<size_t>(scan.count))
      return false;
    int codes[3];
    for (int i = 0; i < scan.count; ++i) {
      scan.components[i] = reader_.component_of(b.u8());
      codes[i] = b.u8();
      if (scan.components[i] < 0 || (i > 0 && scan.components[i] <= scan.components[i - 1]))
        return false;
    }
    scan.first = b.u8();
    scan.last = b.u8();
    const int bits = b.u8(), high = bits >> 4;
    scan.shift = bits & 15;
    scan.refines = high > 0;
    if (scan.refines && high != scan.shift + 1) return false;
    scan.restart_interval = reader_.frame().restart_interval;
    scan.data = at;
    if (!is_possible(scan) || !take_codes(scan, codes) || !missing_.take(scan)) return false;
    at = end_of_data(at);
    scan.next = at + 1 < bytes_.size() ? bytes_[at + 1] : 0;
    scans_.push_back(scan);
    return true;
  }

  static bool is_possible(const ProgressiveScan& scan) {
    if (scan.shift > kMostShift || scan.last > 63) return false;
    return scan.first == 0 ? scan.last == 0 : scan.count == 1 && scan.first <= scan.last;
  }

  bool take_codes(ProgressiveScan& scan, const int (&numbers)[3]) {
    if (scan.is_dc() && scan.refines) return true;
    for (int i = 0; i < scan.count; ++i) {
      const int number = scan.is_dc() ? numbers[i] >> 4 : numbers[i] & 15;
      if (number >= kJpegTables) return false;
      scan.codes[i] = (scan.is_dc() ? reader_.frame().dc_codes : reader_.frame().ac_codes)[number];
      if (!(scan.is_dc() ? is_usable_dc(scan.codes[i]) : is_usable(scan.codes[i]))) return false;
    }
    return true;
  }

  // The next marker that does not belong to a scan's data.
  size_t end_of_data(size_t at) const {
    while (at + 1 < bytes_.size()) {
      const void* const found = std::memchr(bytes_.data() + at, 0xFF, bytes_.size() - 1 - at);
      if (!found) break;
      at = static_cast<size_t>(static_cast<const uint8_t*>(found) - bytes_.data());
      const uint8_t next = bytes_[at + 1];
      if (next != 0 && next != 0xFF && (next < kRst0 || next > kRst7)) return at;
      at += next == 0xFF ? 1 : 2;
    }
    return bytes_.size();
  }

  std::span<const uint8_t> bytes_;
  FrameReader reader_{true};
  Missing missing_;
  std::vector<ProgressiveScan> scans_;
};

}  // namespace

std::optional<ProgressiveFrame> read_progressive_frame(std::span<const uint8_t> bytes) {
  ProgressiveReader reader(bytes);
  if (!reader.read()) return std::nullopt;
  return reader.frame();
}

}  // namespace stoker
