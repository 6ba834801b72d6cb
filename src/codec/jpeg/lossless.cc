// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/jpeg/lossless.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "base/error.h"
#include "codec/color.h"
#include "codec/jpeg/lossless_bits.h"
#include "codec/pixels.h"
#include "codec/plain_jpeg/segments.h"

namespace stoker {
namespace {

using lossless::Bits;
using lossless::Codes;
using lossless::fail;

constexpr int kPredictors = 7;

struct Component {
  int id = 0;
  int64_t h = 1, v = 1;  // how many of its samples a unit of the picture has
  const Codes* codes = nullptr;
  int shift = 0;  // the point transform of its scan
  bool was_read = false;
  uint16_t* samples = nullptr;
  int64_t stride = 0, held_rows = 0;  // row y takes the place of row y - held_rows

  uint16_t* row(int64_t y) const { return samples + y % held_rows * stride; }
};

// The rows of a scan: units of all of its components, or, of one component, samples.
struct Scan {
  size_t at = 0;  // its data
  std::array<Component*, kMostLosslessComponents> components;
  size_t count = 0;
  int predictor = 1, depth = 8;  // depth: bits of a sample as it is coded
  int64_t units = 0;  // of a row
  int64_t restart_rows = 0;  // between restart markers; 0: there are none

  bool is_single() const { return count == 1; }
  int64_t rows_of(const Component& c) const { return is_single() ? 1 : c.v; }
  int64_t columns_of(const Component& c) const { return is_single() ? 1 : c.h; }
};

template <int kPredictor>
int predict(int left, int above, int corner) {
  if constexpr (kPredictor == 1) return left;
  else if constexpr (kPredictor == 2) return above;
  else if constexpr (kPredictor == 3) return corner;
  else if constexpr (kPredictor == 4) return left + above - corner;
  else if constexpr (kPredictor == 5) return left + ((above - corner) >> 1);
  else if constexpr (kPredictor == 6) return above + ((left - corner) >> 1);
  else return (left + above) >> 1;
}

// A row of samples of one of a scan's components.
struct Line {
  const Codes* codes;
  uint16_t* to;
  const uint16_t* above;  // null: nothing is above it
};

// Reads the samples of one unit in a line.
template <int kPredictor>
void read_samples(Bits& bits, const Line& line, int64_t begin, int64_t end, int depth) {
  for (int64_t x = begin; x < end; ++x) {
    const uint16_t* const above = line.above;
    const int guess = x == 0  ? (above ? above[0] : 1 << (depth - 1))
                      : above ? predict<kPredictor>(line.to[x - 1], above[x], above[x - 1])
                              : line.to[x - 1];
    const int v = (guess + bits.difference(*line.codes)) & 0xFFFF;
    if (v >> depth) fail("a sample is out of range", bits.at());
    line.to[x] = static_cast<uint16_t>(v);
  }
}

// Reads what follows the first samples of lines that have one sample of a unit each. How many lines
// there are is known, and the bits are a copy, so that the loop keeps all in registers.
template <int kPredictor, size_t kLines>
void read_lines(Bits& shared, const Line* lines, int64_t units, int depth) {
  Bits bits = shared;
  std::array<int, kLines> left, corner;
  for (size_t i = 0; i < kLines; ++i) {
    left[i] = lines[i].to[0];
    corner[i] = kPredictor == 1 ? 0 : lines[i].above[0];
  }
  for (int64_t x = 1; x < units; ++x)
    for (size_t i = 0; i < kLines; ++i) {
      const int above = kPredictor == 1 ? 0 : lines[i].above[x];
      const int guess = predict<kPredictor>(left[i], above, corner[i]);
      left[i] = (guess + bits.difference(*lines[i].codes)) & 0xFFFF;
      corner[i] = above;
      if (left[i] >> depth) fail("a sample is out of range", bits.at());
      lines[i].to[x] = static_cast<uint16_t>(left[i]);
    }
  shared = bits;
}

template <int kPredictor>
void read_lines(Bits& bits, const Line* lines, size_t count, int64_t units, int depth) {
  for (size_t i = 0; i < count; ++i) read_samples<kPredictor>(bits, lines[i], 0, 1, depth);
  switch (count) {
    case 1: return read_lines<kPredictor, 1>(bits, lines, units, depth);
    case 2: return read_lines<kPredictor, 2>(bits, lines, units, depth);
    case 3: return read_lines<kPredictor, 3>(bits, lines, units, depth);
    default: return read_lines<kPredictor, 4>(bits, lines, units, depth);
  }
}

// Reads a row of units. At the first row and behind restart markers, nothing is above it.
template <int kPredictor>
void read_units(Bits& bits, const Scan& scan, int64_t row, bool is_first) {
  std::array<Line, kMostLosslessComponents * 4> lines;
  std::array<int64_t, kMostLosslessComponents * 4> columns;
  size_t count = 0;
  bool are_single = true;
  for (size_t i = 0; i < scan.count; ++i) {
    const Component& c = *scan.components[i];
    for (int64_t r = 0, y = row * scan.rows_of(c); r < scan.rows_of(c); ++r, ++y) {
      columns[count] = scan.columns_of(c);
      are_single = are_single && columns[count] == 1 && scan.rows_of(c) == 1;
      lines[count++] = {c.codes, c.row(y), is_first && r == 0 ? nullptr : c.row(y - 1)};
    }
  }
  if (are_single)
    return is_first ? read_lines<1>(bits, lines.data(), count, scan.units, scan.depth)
                    : read_lines<kPredictor>(bits, lines.data(), count, scan.units, scan.depth);
  for (int64_t u = 0; u < scan.units; ++u)
    for (size_t i = 0; i < count; ++i)
      read_samples<kPredictor>(bits, lines[i], u * columns[i], (u + 1) * columns[i], scan.depth);
}

using ReadUnits = void (*)(Bits&, const Scan&, int64_t, bool);
constexpr ReadUnits kReadUnits[kPredictors] = {read_units<1>, read_units<2>, read_units<3>,
                                               read_units<4>, read_units<5>, read_units<6>,
                                               read_units<7>};

// Converts as libjpeg does, for samples of 8 or 16 bits.
template <class T>
void rgb_of_ycbcr(T* row, int64_t pixels) {
  static constexpr int64_t kMost = std::numeric_limits<T>::max(), kMiddle = kMost / 2 + 1;
  auto rounded = [](int64_t luma, int64_t v) {
    return static_cast<T>(std::clamp<int64_t>(luma + ((v + 32768) >> 16), 0, kMost));
  };
  for (T* const end = row + 3 * pixels; row != end; row += 3) {
    const int64_t y = row[0], cb = row[1] - kMiddle, cr = row[2] - kMiddle;
    row[0] = rounded(y, 91881 * cr);
    row[1] = rounded(y, -22554 * cb - 46802 * cr);
    row[2] = rounded(y, 116130 * cb);
  }
}

class Reader {
 public:
  Reader(const EncodedImage& image, const JpegHeader& h, const View& stored, int64_t judged_rows,
         Arena& scratch)
      : file_(image.bytes),
        h_(h),
        tolerates_(image.options.tolerate_corrupt),
        judged_rows_(judged_rows),
        out_(image.options.output_type, h.components, lossless_dtype(h), stored, scratch),
        rows_(std::max(judged_rows, out_.end_row())),
        row_(scratch.array<uint16_t>(static_cast<size_t>(h.width * h.components) + 8)),
        tables_(scratch.array<Codes>(4)),
        scratch_(scratch) {
    std::uninitialized_default_construct_n(tables_, 4);
    if (h.components == 4) out_.use_cmyk();
    if (h.bits != 8 && h.bits != 16) make_scale();
    if (tolerates_) out_.clear();
  }

  void read() {
    try {
      read_segments();
    } catch (const TooLarge&) {
      throw;
    } catch (const SampleError&) {
      if (!tolerates_) throw;
    }
  }

 private:
  void read_segments() {
    for (size_t at = 2;;) {
      const JpegSegment s = next_jpeg_segment(file_, at);
      if (s.marker == kEoi || !s.is_whole) {
        if (!s.is_whole)
          throw SampleError("JPEG data ends prematurely", static_cast<int64_t>(file_.size()));
        fail("there is no scan of one of its components", s.at);
      }
      if (s.marker == kDht) read_tables(s);
      if (s.marker == kDri) restart_units_ = s.fields().has(2) ? s.fields().u16() : 0;
      if (s.marker == kSof3 && !max_h_) read_frame(s);
      if (s.marker == kSos && read_scan(s)) return;
      at = s.end();
    }
  }

  void read_tables(const JpegSegment& s) {
    for (ForeignBytes b = s.fields(); b.left() > 0;) {
      const int id = b.u8();
      if ((id & 15) > 3) fail("it has a Huffman table with the number " + std::to_string(id), s.at);
      const EncodedSpan rest = b.rest();
      size_t size = 16;
      for (size_t k = 0; k < 16; ++k) size += rest.size() > k ? rest[k] : 256;
      if (size > std::min<size_t>(rest.size(), 16 + 256)) fail("a Huffman table is cut off", s.at);
      if (id < 4) tables_[id].read(rest, s.at);  // tables of another class have no use here
      b.skip(size);
    }
  }

  void read_frame(const JpegSegment& s) {
    const auto count = static_cast<size_t>(h_.components);
    if (s.body.size() < 6 + 3 * count) fail("its frame header is too short", s.at);
    ForeignBytes b = s.fields();
    b.skip(6);
    for (size_t i = 0; i < count; ++i) {
      Component& c = components_[i];
      c.id = b.u8();
      const int sides = b.u8();
      c.h = sides >> 4;
      c.v = sides & 15;
      b.skip(1);  // the table of another kind of JPEG
      if (c.h < 1 || c.h > 4 || c.v < 1 || c.v > 4)
        fail("a component is sampled " + std::to_string(c.h) + " x " + std::to_string(c.v) +
                 " times",
             s.at);
      if (count == 1) c.h = c.v = 1;
      max_h_ = std::max(max_h_, c.h);
      max_v_ = std::max(max_v_, c.v);
    }
  }

  // Returns whether it was the last scan that is needed.
  bool read_scan(const JpegSegment& s) {
    const Scan scan = scan_of(s);
    const bool is_only = scan.count == static_cast<size_t>(h_.components);
    if (!components_[0].samples) allocate(is_only);
    const int64_t end = units_within(scan, rows_), judged = units_within(scan, judged_rows_);
    Bits bits(file_, scan.at);
    int64_t good = 0;
    try {
      for (; good < end; ++good) {
        const bool restarts = scan.restart_rows > 0 && good % scan.restart_rows == 0;
        if (restarts && good > 0) bits.restart((good / scan.restart_rows - 1) & 7);
        kReadUnits[scan.predictor - 1](bits, scan, good, good == 0 || restarts);
        if (is_only) put(good * max_v_, (good + 1) * max_v_);
      }
      if (judged_rows_ >= h_.height) bits.finish();
    } catch (const SampleError&) {
      if (!tolerates_ && (good < judged || good == end)) throw;
    }
    if (is_only) return true;
    bool are_all = true;
    for (size_t i = 0; i < scan.count; ++i) scan.components[i]->was_read = true;
    for (int i = 0; i < h_.components; ++i) are_all &= components_[i].was_read;
    if (are_all) put(0, rows_);
    return are_all;
  }

  Scan scan_of(const JpegSegment& s) {
    Scan scan;
    scan.at = s.end();
    scan.count = s.body.empty() ? 0 : s.body[0];
    if (scan.count < 1 || scan.count > static_cast<size_t>(h_.components) ||
        s.body.size() < 4 + 2 * scan.count)
      fail("a scan has " + std::to_string(scan.count) + " components", s.at);
    if (!max_h_) fail("a scan stands before the frame header", s.at);
    ForeignBytes b = s.fields();
    b.skip(1);
    for (size_t i = 0; i < scan.count; ++i) {
      const int id = b.u8(), table = b.u8() >> 4;
      const auto end = components_.begin() + h_.components;
      const auto c =
          std::find_if(components_.begin(), end, [&](const Component& k) { return k.id == id; });
      if (c == end || c->was_read ||
          std::count(scan.components.begin(), scan.components.begin() + i, &*c) > 0)
        fail("a scan has a component twice, or one that there is not", s.at);
      if (table > 3 || !tables_[table].is_there())
        fail("a scan needs a Huffman table that is not there", s.at);
      c->codes = &tables_[table];
      scan.components[i] = &*c;
    }
    scan.predictor = b.u8();
    b.skip(1);
    const int shift = b.u8() & 15;
    if (scan.predictor < 1 || scan.predictor > kPredictors || shift >= h_.bits)
      fail("a scan has the predictor " + std::to_string(scan.predictor) +
               " and the point transform " + std::to_string(shift),
           s.at);
    scan.depth = h_.bits - shift;
    for (size_t i = 0; i < scan.count; ++i) scan.components[i]->shift = shift;
    const int64_t h = scan.is_single() ? scan.components[0]->h : 1;
    scan.units = (h_.width * h + max_h_ - 1) / max_h_;
    if (restart_units_ % scan.units != 0)
      throw SampleError("lossless JPEG with restart markers within rows is not supported",
                        static_cast<int64_t>(s.at));
    scan.restart_rows = restart_units_ / scan.units;
    return scan;
  }

  // How many rows of units the first rows of the picture need.
  int64_t units_within(const Scan& scan, int64_t rows) const {
    const int64_t v = scan.is_single() ? scan.components[0]->v : 1;
    return (std::min(rows, h_.height) * v + max_v_ - 1) / max_v_;
  }

  // A picture of one scan is delivered while it is read.
  void allocate(bool is_only) {
    for (int i = 0; i < h_.components; ++i) {
      Component& c = components_[i];
      c.stride = (h_.width + max_h_ - 1) / max_h_ * c.h;
      c.held_rows = is_only ? c.v + 1 : (rows_ + max_v_ - 1) / max_v_ * c.v;
      const auto size = static_cast<size_t>(c.stride * c.held_rows);
      c.samples = scratch_.array<uint16_t>(size);
      std::memset(c.samples, 0, 2 * size);
    }
  }

  void make_scale() {
    const uint32_t most = (1u << h_.bits) - 1, full = h_.bits > 8 ? 65535 : 255;
    scale_ = scratch_.array<uint16_t>(size_t{most} + 1);
    for (uint32_t v = 0; v <= most; ++v) scale_[v] = static_cast<uint16_t>(rescaled(v, most, full));
  }

  void put(int64_t begin, int64_t end) {
    for (int64_t y = begin; y < std::min(end, h_.height); ++y) {
      if (!out_.wants_row(y)) continue;
      if (h_.bits > 8) make<uint16_t>(y);
      else make<uint8_t>(y);
      out_.put(y, row_);
    }
  }

  template <class T>
  void make(int64_t y) {
    T* const to = reinterpret_cast<T*>(row_);
    for (int i = 0; i < h_.components; ++i) {
      const Component& c = components_[static_cast<size_t>(i)];
      const uint16_t* const from = c.row(y * c.v / max_v_);
      for (int64_t x = 0; x < h_.width; ++x) {
        const int v = from[c.h == max_h_ ? x : x * c.h / max_h_] << c.shift;
        to[x * h_.components + i] = static_cast<T>(scale_ ? scale_[v] : v);
      }
    }
    // Ink is stored inverted.
    for (int64_t i = 0; h_.components == 4 && i < 4 * h_.width; ++i) to[i] = static_cast<T>(~to[i]);
    if (h_.is_ycbcr) rgb_of_ycbcr(to, h_.width);
  }

  const EncodedSpan file_;
  const JpegHeader& h_;
  const bool tolerates_;
  const int64_t judged_rows_;
  PixelWriter out_;
  const int64_t rows_;  // that are read
  uint16_t* row_;
  Codes* tables_;
  Arena& scratch_;
  std::array<Component, kMostLosslessComponents> components_;
  int64_t max_h_ = 0, max_v_ = 0;  // 0 before the frame header
  int64_t restart_units_ = 0;
  uint16_t* scale_ = nullptr;  // from the file's depth to 8 or 16 bits, if it has another
};

}  // namespace

DType lossless_dtype(const JpegHeader& h) { return h.bits > 8 ? DType::kUint16 : DType::kUint8; }

void read_lossless_jpeg(const EncodedImage& image, const JpegHeader& header, const View& stored,
                        int64_t judged_rows, Arena& scratch) {
  Reader(image, header, stored, judged_rows, scratch).read();
}

}  // namespace stoker
