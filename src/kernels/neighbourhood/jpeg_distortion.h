// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What is left of a picture after it was compressed as a JPEG file. Pure; thread-safe.
//
// Note [JPEG distortion]
// The bytes are those that libjpeg-turbo gives by its defaults and with chroma of half the size,
// which are Pillow's. Entropy coding loses nothing, so no file is made: colours become luma and
// chroma, chroma is averaged, each block of 8 x 8 values goes through a cosine transform, is
// rounded to multiples of its steps and goes back, and chroma is interpolated. All of it but one
// division is in integers: the transform in units of 2^-13, with a rounding after each direction.
// The quotients are below 2^13, so the division's error in float32 is too small to change one.
// What lies beyond an edge repeats the last column of pixels, the last row of luma, and the last
// row of averaged chroma, until the blocks are full.
#pragma once
#include <vector>

#include "base/view.h"
#include "memory/arena.h"

namespace stoker {

inline constexpr int64_t kJpegUnit = 16;  // four blocks of luma with one of each chroma

// The steps that the coefficients of luma and chroma are rounded to, in rows.
struct JpegSteps {
  struct Step {
    int32_t size;
    float share;  // 1 / size, where coefficients count in eighths
  };
  Step of[2][64];

  static JpegSteps of_quality(int quality);  // 1 to 100
};

// The window of a picture that decides what becomes of `wanted`, both of an HWC picture.
Window jpeg_demand(const Window& wanted, const Shape& full);
// Sets `out` to what is left of `in`. Requires: both are windows of an HWC picture of uint8 with 3
// channels, and `in` covers jpeg_demand() of `out`. Quality is 1 to 100.
void distort_as_jpeg(const View& in, const View& out, int quality, Arena& scratch);

namespace jpeg {

STOKER_HD constexpr int32_t chroma_of(int32_t pixels) { return (pixels + 1) / 2; }
STOKER_HD constexpr int64_t chroma_of(int64_t pixels) { return (pixels + 1) / 2; }

struct Ycc {
  int32_t y, cb, cr;
};
STOKER_HD inline Ycc ycc_of(int32_t r, int32_t g, int32_t b) {
  constexpr int32_t kHalf = 1 << 15, kMiddle = (128 << 16) + kHalf - 1;
  return {(19595 * r + 38470 * g + 7471 * b + kHalf) >> 16,
          (-11059 * r - 21709 * g + 32768 * b + kMiddle) >> 16,
          (32768 * r - 27439 * g - 5329 * b + kMiddle) >> 16};
}
STOKER_HD inline uint8_t byte_of(int32_t v) {
  return static_cast<uint8_t>(v < 0 ? 0 : v > 255 ? 255 : v);
}
STOKER_HD inline void set_rgb(int32_t y, int32_t cb, int32_t cr, uint8_t* rgb) {
  constexpr int32_t kHalf = 1 << 15;
  cb -= 128, cr -= 128;
  rgb[0] = byte_of(y + ((91881 * cr + kHalf) >> 16));
  rgb[1] = byte_of(y + ((-22554 * cb - 46802 * cr + kHalf) >> 16));
  rgb[2] = byte_of(y + ((116130 * cb + kHalf) >> 16));
}

// The average of two pixels in each of two rows, of column x of the averages.
STOKER_HD inline int32_t average(int32_t sum, int64_t x) {
  return (sum + 1 + static_cast<int32_t>(x & 1)) >> 2;
}
// Chroma is not interpolated in pictures of four columns or less.
STOKER_HD inline bool is_interpolated(int64_t columns) { return columns > 4; }
STOKER_HD inline int32_t across_rows(int32_t near, int32_t far) { return 3 * near + far; }
STOKER_HD inline int32_t across_columns(int32_t near, int32_t far, int64_t x) {
  return (3 * near + far + 8 - static_cast<int32_t>(x & 1)) >> 4;
}
// The neighbour that is the second nearest to position p of the pixels, of n positions of chroma.
STOKER_HD inline int64_t far_of(int64_t p, int64_t n) {
  const int64_t far = p % 2 ? p / 2 + 1 : p / 2 - 1;
  return far < 0 ? 0 : far < n ? far : n - 1;
}

template <int kShift>
STOKER_HD int32_t rounded(int32_t v) {
  return (v + (1 << (kShift - 1))) >> kShift;
}
// The odd half of the transform in either direction.
STOKER_HD inline void mix_odd(int32_t (&v)[4]) {
  const int32_t a = v[0], b = v[1], c = v[2], d = v[3];
  v[0] = 11363 * a + 9633 * b + 6437 * c + 2260 * d;
  v[1] = 9633 * a - 2259 * b - 11362 * c - 6436 * d;
  v[2] = 6437 * a - 11362 * b + 2261 * c + 9633 * d;
  v[3] = 2260 * a - 6436 * b + 9633 * c - 11363 * d;
}
// Eight values, `step` apart, become coefficients of 2^(13 - kShift) times their size.
template <int kShift>
STOKER_HD void to_waves(int32_t* v, int step) {
  const int32_t a = v[0] + v[7 * step], b = v[step] + v[6 * step];
  const int32_t c = v[2 * step] + v[5 * step], d = v[3 * step] + v[4 * step];
  int32_t odd[4] = {v[0] - v[7 * step], v[step] - v[6 * step], v[2 * step] - v[5 * step],
                    v[3 * step] - v[4 * step]};
  mix_odd(odd);
  v[0] = rounded<kShift>((a + b + c + d) * 8192);
  v[4 * step] = rounded<kShift>((a - b - c + d) * 8192);
  v[2 * step] = rounded<kShift>(10703 * (a - d) + 4433 * (b - c));
  v[6 * step] = rounded<kShift>(4433 * (a - d) - 10704 * (b - c));
  for (int k = 0; k < 4; ++k) v[(2 * k + 1) * step] = rounded<kShift>(odd[k]);
}
// The way back.
template <int kShift>
STOKER_HD void from_waves(int32_t* v, int step) {
  const int32_t sum = (v[0] + v[4 * step]) * 8192, difference = (v[0] - v[4 * step]) * 8192;
  const int32_t c = 4433 * v[2 * step] - 10704 * v[6 * step];
  const int32_t d = 10703 * v[2 * step] + 4433 * v[6 * step];
  const int32_t even[4] = {sum + d, difference + c, difference - c, sum - d};
  int32_t odd[4] = {v[step], v[3 * step], v[5 * step], v[7 * step]};
  mix_odd(odd);
  for (int k = 0; k < 4; ++k) {
    v[k * step] = rounded<kShift>(even[k] + odd[k]);
    v[(7 - k) * step] = rounded<kShift>(even[k] - odd[k]);
  }
}
STOKER_HD inline int32_t to_step(int32_t v, const JpegSteps::Step& step) {
  const int32_t size = v < 0 ? -v : v;
  const auto n =
      static_cast<int32_t>((static_cast<float>(size + 4 * step.size) + 0.5f) * step.share);
  return (v < 0 ? -n : n) * step.size;
}

// Distorts kBlocks blocks at once: value k of block b is v[k * kBlocks + b], and 0 is the middle.
template <int kBlocks>
STOKER_HD void distort(int32_t* v, const JpegSteps::Step* steps) {
  constexpr int kRow = 8 * kBlocks;
  for (int k = 0; k < 8; ++k)
    for (int b = 0; b < kBlocks; ++b) to_waves<11>(v + k * kRow + b, kBlocks);
  for (int k = 0; k < kRow; ++k) to_waves<15>(v + k, kRow);
  for (int k = 0; k < 64; ++k) {
    const JpegSteps::Step step = steps[k];
    for (int b = 0; b < kBlocks; ++b) v[k * kBlocks + b] = to_step(v[k * kBlocks + b], step);
  }
  for (int k = 0; k < kRow; ++k) from_waves<11>(v + k, kRow);
  for (int k = 0; k < 8; ++k)
    for (int b = 0; b < kBlocks; ++b) from_waves<18>(v + k * kRow + b, kBlocks);
}

}  // namespace jpeg
}  // namespace stoker
