// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Codec of PNG, by libisal (libisal-dev).
// Endings: .png .apng
// "\x89PNG\r\n\x1A\n" at byte 0: a PNG image
#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "base/error.h"
#include "codec/orientation.h"
#include "codec/pixels.h"
#include "codec/png/data.h"
#include "codec/png/header.h"
#include "codec/png/unfilter.h"

namespace stoker {
namespace {

constexpr int64_t kBehindRow = 8;

// Every `step`th pixel of every `row_step`th row. An interlaced picture is stored as seven of them.
struct Pass {
  int64_t row, column, row_step, step;
  int64_t height = 0, width = 0;  // in pixels of the pass

  // How many of its rows lie among the first `rows` of the picture.
  int64_t rows_within(int64_t rows) const {
    return rows <= row ? 0 : (rows - row + row_step - 1) / row_step;
  }
};

constexpr Pass kInterlaced[] = {{0, 0, 8, 8}, {0, 4, 8, 8}, {4, 0, 8, 4}, {0, 2, 4, 4},
                                {2, 0, 4, 2}, {0, 1, 2, 2}, {1, 0, 2, 1}};
constexpr Pass kPlain[] = {{0, 0, 1, 1}};

struct Passes {
  std::array<Pass, 7> all;
  size_t count = 0;

  explicit Passes(const PngHeader& h) {
    for (Pass p : h.is_interlaced ? std::span<const Pass>(kInterlaced) : kPlain) {
      p.height = p.rows_within(h.height);
      p.width = h.width <= p.column ? 0 : (h.width - p.column + p.step - 1) / p.step;
      if (p.height > 0 && p.width > 0) all[count++] = p;
    }
  }
};

// Where the data for the first rows of a picture ends: behind so many rows of a pass.
struct Extent {
  size_t pass = 0;
  int64_t rows = 0;

  Extent(const Passes& passes, int64_t rows_of_picture) {
    for (size_t i = 0; i < passes.count; ++i)
      if (const int64_t n = passes.all[i].rows_within(rows_of_picture)) pass = i, rows = n;
  }
  bool contains(size_t p, int64_t row) const { return p < pass || (p == pass && row < rows); }
};

int64_t row_bytes(const PngHeader& h, int64_t pixels) {
  return (pixels * h.samples() * h.depth + 7) / 8;
}

// Each row begins with the number of its filter.
int64_t data_bytes(const PngHeader& h, const Passes& passes) {
  int64_t bytes = 0;
  for (size_t i = 0; i < passes.count; ++i)
    bytes += passes.all[i].height * (1 + row_bytes(h, passes.all[i].width));
  return bytes;
}

void swap_bytes(const uint8_t* row, uint16_t* to, int64_t count) {
  std::memcpy(to, row, static_cast<size_t>(2 * count));
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<uint16_t>(to[i] << 8 | to[i] >> 8);
}

// Adds alpha to pixels: none where they have the transparent colour.
template <class T>
void add_alpha(const T* row, int channels, const uint16_t* transparent, T* to, int64_t pixels) {
  for (int64_t i = 0; i < pixels; ++i, row += channels) {
    bool is_transparent = true;
    for (int c = 0; c < channels; ++c) {
      is_transparent &= row[c] == transparent[c];
      *to++ = row[c];
    }
    *to++ = is_transparent ? T{0} : static_cast<T>(~T{0});
  }
}

class RowMaker {
 public:
  RowMaker(const PngHeader& h, ImageType type, const View& stored, Arena& scratch)
      : h_(h),
        adds_alpha_(type == ImageType::kAny && !h.transparency.empty() && !is_indexed()),
        out_(type, channels(type), h.depth == 16 ? DType::kUint16 : DType::kUint8, stored, scratch),
        samples_(scratch.array<uint8_t>(line_bytes())),
        with_alpha_(scratch.array<uint8_t>(adds_alpha_ ? line_bytes() : 1)) {
    if (is_indexed()) use_palette(type);
    for (size_t i = 0; adds_alpha_ && i < h.transparency.size(); i += 2)
      transparent_[i / 2] = number_at<uint16_t>(h.transparency, i, ByteOrder::kBig);
  }

  PixelWriter& out() { return out_; }

  void put(int64_t y, const uint8_t* row, const Pass& pass, int64_t pixels) {
    const void* samples = row;
    if (h_.depth < 8) {
      unpack_bits(row, h_.depth, samples_, pixels);
      samples = samples_;
    } else if (h_.depth == 16) {
      swap_bytes(row, reinterpret_cast<uint16_t*>(samples_), pixels * h_.samples());
      samples = samples_;
    }
    out_.put(y, adds_alpha_ ? with_alpha(samples, pixels) : samples, {pass.column, pass.step});
  }

 private:
  bool is_indexed() const { return h_.has_palette || h_.depth < 8; }
  int channels(ImageType type) const {
    return type == ImageType::kAny ? h_.channels() : h_.has_palette ? 3 : h_.samples();
  }
  size_t line_bytes() const {
    return static_cast<size_t>(h_.width * (h_.samples() + 1) * (h_.depth == 16 ? 2 : 1)) +
           kBehindRow;
  }

  // Gray of less than 8 bits is a palette, too.
  void use_palette(ImageType type) {
    const int levels = 1 << h_.depth, colors = h_.has_palette ? 3 : 1;
    const bool keeps_alpha = type == ImageType::kAny && !h_.transparency.empty();
    std::array<uint8_t, 256 * 4> entries;
    size_t size = 0;
    const size_t count = h_.has_palette ? h_.palette.size() / 3 : static_cast<size_t>(levels);
    for (size_t i = 0; i < count; ++i) {
      for (int c = 0; c < colors; ++c)
        entries[size++] = h_.has_palette ? h_.palette[3 * i + static_cast<size_t>(c)]
                                         : static_cast<uint8_t>(255 * i / (count - 1));
      if (keeps_alpha) entries[size++] = alpha_of(i);
    }
    out_.use_palette({entries.data(), size});
  }
  uint8_t alpha_of(size_t index) const {
    if (h_.has_palette) return index < h_.transparency.size() ? h_.transparency[index] : 255;
    const size_t transparent = number_at<uint16_t>(h_.transparency, 0, ByteOrder::kBig);
    return index == (transparent & ((1u << h_.depth) - 1)) ? 0 : 255;
  }

  const void* with_alpha(const void* samples, int64_t pixels) {
    if (h_.depth == 16)
      add_alpha(static_cast<const uint16_t*>(samples), h_.samples(), transparent_,
                reinterpret_cast<uint16_t*>(with_alpha_), pixels);
    else
      add_alpha(static_cast<const uint8_t*>(samples), h_.samples(), transparent_, with_alpha_,
                pixels);
    return with_alpha_;
  }

  const PngHeader& h_;
  bool adds_alpha_;
  PixelWriter out_;
  uint8_t *samples_, *with_alpha_;  // of one row
  uint16_t transparent_[3] = {};
};

// A row and the one above it.
class Lines {
 public:
  Lines(int64_t bytes, Arena& scratch) : size_(kBeforeRow + bytes + kBehindRow) {
    for (uint8_t*& line : lines_) line = scratch.array<uint8_t>(static_cast<size_t>(size_));
    begin_pass();
  }
  // Nothing is above the first row of a pass.
  void begin_pass() {
    for (uint8_t* line : lines_) std::memset(line, 0, static_cast<size_t>(size_));
  }
  // Returns the row, valid until the call after the next one.
  const uint8_t* next(const uint8_t* filtered, int step, int64_t bytes) {
    std::swap(lines_[0], lines_[1]);
    unfilter(filtered[0], step, filtered + 1, lines_[1] + kBeforeRow, lines_[0] + kBeforeRow,
             bytes);
    return lines_[0] + kBeforeRow;
  }

 private:
  int64_t size_;
  uint8_t* lines_[2];  // the row, and what is above it
};

class PngReader {
 public:
  PngReader(const EncodedImage& image, const PngHeader& h, const View& stored, Arena& scratch)
      : h_(h),
        passes_(h),
        data_(image.bytes, h.data_at, data_bytes(h, passes_), 1 + row_bytes(h, h.width),
              image.options.tolerate_corrupt, scratch),
        rows_(h, image.options.output_type, stored, scratch),
        lines_(row_bytes(h, h.width), scratch) {
    if (image.options.tolerate_corrupt) rows_.out().clear();
  }

  // Makes what is wanted, and throws where the first rows of the picture are damaged.
  void read(int64_t judged_rows, bool tolerates) {
    const Extent judged(passes_, judged_rows), wanted(passes_, rows_.out().end_row());
    for (size_t i = 0; i < passes_.count; ++i)
      for (int64_t r = 0; r < passes_.all[i].height; ++r) {
        const bool is_judged = judged.contains(i, r);
        if (!is_judged && !wanted.contains(i, r)) return;
        if (read_row(passes_.all[i], r)) continue;
        if (tolerates || !is_judged) return;
        data_.raise();
      }
    if (judged_rows >= h_.height && !data_.finish() && !tolerates) data_.raise();
  }

 private:
  // False if the data fails.
  bool read_row(const Pass& pass, int64_t r) {
    const uint8_t* filtered = data_.take(1 + row_bytes(h_, pass.width));
    if (!filtered) return false;
    if (filtered[0] >= kPngFilters) {
      data_.fail("a row has the filter " + std::to_string(filtered[0]) + ", which does not exist");
      return false;
    }
    const int64_t y = pass.row + r * pass.row_step;
    if (y >= rows_.out().end_row()) return true;  // no later row of the pass is wanted either
    if (r == 0) lines_.begin_pass();
    // Pixels to the right of the wanted ones decide nothing.
    const int64_t columns = rows_.out().end_column() - pass.column;
    const int64_t pixels =
        std::clamp<int64_t>((columns + pass.step - 1) / pass.step, 0, pass.width);
    const int step = std::max(1, h_.samples() * h_.depth / 8);
    const uint8_t* row = lines_.next(filtered, step, row_bytes(h_, pixels));
    if (rows_.out().wants_row(y)) rows_.put(y, row, pass, pixels);
    return true;
  }

  const PngHeader& h_;
  const Passes passes_;
  PngData data_;
  RowMaker rows_;
  Lines lines_;
};

class PngCodec final : public StoredCodec {
 public:
  const char* name() const override { return "PNG"; }
  bool recognises(EncodedSpan bytes) const override { return is_png(bytes); }

  ImageInfo read_info(EncodedSpan bytes, const DecodeOptions&) const override {
    const PngHeader h = read_png_header(bytes);
    ImageInfo info = stored_info(h);
    info.channels = h.channels();
    info.dtype = h.depth == 16 ? DType::kUint16 : DType::kUint8;
    info.holds_numbers = !h.has_color;
    info.orientation = h.orientation;
    return info;
  }

  void read_part(const EncodedImage& image, const StoredPart& part, Arena& scratch) const override {
    const auto& header = header_of<PngHeader>(image);
    PngReader(image, header, part.out, scratch)
        .read(part.judged_rows, image.options.tolerate_corrupt);
  }
};

}  // namespace
}  // namespace stoker

STOKER_CODEC(stoker::PngCodec)
