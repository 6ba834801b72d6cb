// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/neighbourhood/jpeg_distortion.h"

#include <cstring>

#include "kernels/elements/boxes.h"
#include "kernels/jpeg/upsample.h"
#include "kernels/jpeg/ycc.h"
#include "kernels/levels.h"

namespace stoker {
namespace {

// The quanta of quality 50, as the JPEG standard proposes them (ITU-T T.81, annex K.1).
constexpr int kQuanta[2][64] = {
    {16, 11, 10, 16, 24,  40,  51,  61,  12, 12, 14, 19, 26,  58,  60,  55,   //
     14, 13, 16, 24, 40,  57,  69,  56,  14, 17, 22, 29, 51,  87,  80,  62,   //
     18, 22, 37, 56, 68,  109, 103, 77,  24, 35, 55, 64, 81,  104, 113, 92,   //
     49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99},  //
    {17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99,          //
     24, 26, 56, 99, 99, 99, 99, 99, 47, 66, 99, 99, 99, 99, 99, 99,          //
     99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,          //
     99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99}};

constexpr int kAtOnce = 16;  // blocks, so that each has its place in vectors of any length
constexpr int64_t kGroup = 8 * kAtOnce;

constexpr int64_t round_up(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

struct Plane {
  uint8_t* first;
  int64_t pitch;
  const JpegQuanta::Quantum* quanta;

  uint8_t* row(int64_t y) const { return first + y * pitch; }
};

// The loops get pointers by value, as a byte that is stored may change what references lead to.
void split_row(const uint8_t* __restrict rgb, int64_t n, uint8_t* __restrict luma,
               uint8_t* __restrict cb, uint8_t* __restrict cr) {
  for (int64_t x = 0; x < n; ++x) {
    const jpeg::Ycc v = jpeg::ycc_of(rgb[3 * x], rgb[3 * x + 1], rgb[3 * x + 2]);
    luma[x] = static_cast<uint8_t>(v.y);
    cb[x] = static_cast<uint8_t>(v.cb);
    cr[x] = static_cast<uint8_t>(v.cr);
  }
}
void average_rows(const uint8_t* __restrict a, const uint8_t* __restrict b, int64_t n,
                  uint8_t* __restrict to) {
  for (int64_t x = 0; x < n; ++x)
    to[x] =
        static_cast<uint8_t>(jpeg::average(a[2 * x] + a[2 * x + 1] + b[2 * x] + b[2 * x + 1], x));
}
void distort_group(uint8_t* at, int64_t pitch, const JpegQuanta::Quantum* quanta) {
  int32_t v[64 * kAtOnce];
  for (int k = 0; k < 64; ++k)
    for (int b = 0; b < kAtOnce; ++b) v[k * kAtOnce + b] = at[k / 8 * pitch + 8 * b + k % 8] - 128;
  jpeg::distort<kAtOnce>(v, quanta);
  for (int k = 0; k < 64; ++k)
    for (int b = 0; b < kAtOnce; ++b)
      at[k / 8 * pitch + 8 * b + k % 8] = jpeg::byte_of(v[k * kAtOnce + b] + 128);
}

// A window of a picture as planes of luma and chroma, which begin and end with whole units.
class WindowPlanes {
 public:
  WindowPlanes(const Window& window, const Shape& full, const JpegQuanta& quanta, Arena& scratch)
      : rows_(full[0]), columns_(full[1]), top_(window.begin[0]), left_(window.begin[1]) {
    high_ = round_up(window.end[0] - top_, kJpegUnit);
    wide_ = window.end[1] - left_;
    for (int c = 0; c < 3; ++c) {
      const int64_t part = c ? 2 : 1, pitch = round_up(round_up(wide_, kJpegUnit) / part, kGroup);
      plane_[c] = {scratch.array<uint8_t>(static_cast<size_t>(high_ / part * pitch)), pitch,
                   quanta.of[c > 0]};
    }
    for (auto& line : line_)
      for (uint8_t*& row : line)
        row = scratch.array<uint8_t>(static_cast<size_t>(2 * plane_[1].pitch));
  }

  // Requires: the view covers the window, and its rows are dense.
  void fill(const View& in) {
    const auto row = [&](int64_t y) {
      const int64_t at = std::min(top_ + y, rows_ - 1) - in.origin[0];
      return in.as<uint8_t>() + at * in.strides[0] + (left_ - in.origin[1]) * 3;
    };
    for (int64_t y = 0; y < high_; y += 2) {
      for (int k = 0; k < 2; ++k) split(row(y + k), k, plane_[0].row(y + k));
      for (int c = 1; c < 3; ++c) {
        uint8_t* to = plane_[c].row(y / 2);
        const int64_t pitch = plane_[c].pitch;
        const auto& line = line_[c - 1];
        if (top_ + y < rows_) at_cpu_level([&] { average_rows(line[0], line[1], pitch, to); });
        else std::memcpy(to, to - pitch, static_cast<size_t>(pitch));
      }
    }
  }
  void distort() const {
    at_cpu_level([&] {
      for (int c = 0; c < 3; ++c)
        for (int64_t y = 0; y < high_ / (c ? 2 : 1); y += 8)
          for (int64_t x = 0; x < plane_[c].pitch; x += kGroup)
            distort_group(plane_[c].row(y) + x, plane_[c].pitch, plane_[c].quanta);
    });
  }
  // Row y of the picture, from column x on.
  void put_row(int64_t y, int64_t x, int64_t n, uint8_t* rgb) {
    for (int c = 1; c < 3; ++c)
      jpeg::upsample(chroma(plane_[c]), y, x - x % 2, x + n, line_[c - 1][0]);
    const uint8_t* luma = plane_[0].row(y - top_) + (x - left_);
    const uint8_t *cb = line_[0][0] + x % 2, *cr = line_[1][0] + x % 2;
    jpeg::ycc_to_rgb(luma, cb, cr, rgb, n, false);
  }

 private:
  // Sets a row of luma and the lines k of both chromas.
  void split(const uint8_t* rgb, int k, uint8_t* luma) {
    uint8_t *cb = line_[0][k], *cr = line_[1][k];
    at_cpu_level([&] { split_row(rgb, wide_, luma, cb, cr); });
    const auto repeat_last = [&](uint8_t* row, int64_t n) {
      std::fill(row + wide_, row + n, row[wide_ - 1]);
    };
    repeat_last(luma, plane_[0].pitch);
    for (uint8_t* chroma : {cb, cr}) repeat_last(chroma, 2 * plane_[1].pitch);
  }
  jpeg::Component chroma(const Plane& plane) const {
    return {plane.first,
            plane.pitch,
            top_ / 2,
            left_ / 2,
            jpeg::chroma_of(rows_),
            jpeg::chroma_of(columns_),
            2,
            2};
  }

  int64_t rows_, columns_;  // of the picture
  int64_t top_, left_, high_, wide_;  // of the window
  Plane plane_[3];
  uint8_t* line_[2][2];  // by chroma: rows of pixels
};

}  // namespace

JpegQuanta JpegQuanta::of_quality(int quality) {
  const int percent = quality < 50 ? 5000 / quality : 200 - 2 * quality;
  JpegQuanta s;
  for (int c = 0; c < 2; ++c)
    for (int k = 0; k < 64; ++k) {
      const int size = std::clamp((kQuanta[c][k] * percent + 50) / 100, 1, 255);
      s.of[c][k] = {size, 1.0f / static_cast<float>(8 * size)};
    }
  return s;
}

Window jpeg_demand(const Window& wanted, const Shape& full) {
  Window needed = wanted;
  if (wanted.shape().volume() == 0) return needed;
  for (int a = 0; a < 2; ++a) {  // whole units, with a neighbour of chroma at each side
    needed.begin[a] = std::max<int64_t>(wanted.begin[a] - 2, 0) / kJpegUnit * kJpegUnit;
    needed.end[a] = std::min(round_up(wanted.end[a] + 2, kJpegUnit), full[a]);
  }
  needed.begin[2] = 0;
  needed.end[2] = 3;
  return needed;
}

void distort_as_jpeg(const View& in, const View& out, int quality, Arena& scratch) {
  if (out.shape.volume() == 0) return;
  Window pixels = out.covers();  // with all three channels
  pixels.begin[2] = 0, pixels.end[2] = 3;
  View to = out;
  const bool is_ready = out.shape[2] == 3 && out.strides[2] == 1 && out.strides[1] == 3;
  if (!is_ready)
    to = View::window(scratch.allocate(static_cast<size_t>(pixels.shape().volume())), out.dtype,
                      pixels, out.full, out.layout);
  const Window needed = jpeg_demand(pixels, out.full);
  const JpegQuanta quanta = JpegQuanta::of_quality(quality);
  WindowPlanes planes(needed, out.full, quanta, scratch);
  planes.fill(with_dense_rows(part_of(in, needed), 1, scratch));
  planes.distort();
  for (int64_t y = 0; y < to.shape[0]; ++y)
    planes.put_row(to.origin[0] + y, to.origin[1], to.shape[1],
                   to.as<uint8_t>() + y * to.strides[0]);
  if (!is_ready) copy_window(to, out);
}

}  // namespace stoker
