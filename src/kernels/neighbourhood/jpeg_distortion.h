// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What is left of a picture after it was compressed as a JPEG file.
//
// Note [JPEG distortion]
// The bytes are those that libjpeg-turbo and Pillow give by their defaults, with chroma of half the
// size. Entropy coding loses nothing, so no file is made: colours become luma and chroma, chroma is
// averaged, each block of 8 x 8 values goes through a cosine transform, is rounded to multiples of
// its quanta and goes back, and chroma is interpolated. All but one division is in integers: the
// transform in units of 2^-13, rounded after each direction. The quotients are below 2^13, so the
// division's error in float32 is too small to change one. Beyond an edge, the last column of pixels
// and the last rows of luma and averaged chroma are repeated until the blocks are full.
#pragma once
#include <vector>

#include "base/view.h"
#include "kernels/jpeg/arithmetic.h"
#include "memory/arena.h"

namespace stoker {

inline constexpr int64_t kJpegUnit = 16;  // four blocks of luma with one of each chroma

// The multiples to which coefficients of luma and chroma are rounded, in rows.
struct JpegQuanta {
  struct Quantum {
    int32_t size;
    float share;  // 1 / size, where coefficients count in eighths
  };
  Quantum of[2][64];

  static JpegQuanta of_quality(int quality);  // 1 to 100
};

// The window of an HWC picture that decides what becomes of its window `wanted`.
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
// The average of 2 x 2 pixels from their sum. x is its column among the averages.
STOKER_HD inline int32_t average(int32_t sum, int64_t x) {
  return (sum + 1 + static_cast<int32_t>(x & 1)) >> 2;
}
// Chroma is not interpolated in pictures of four columns or less.
STOKER_HD inline bool is_interpolated(int64_t columns) { return columns > 4; }
// Turns eight values, `stride` apart, into coefficients of 2^(13 - kShift) times their size.
template <int kShift>
STOKER_HD void to_waves(int32_t* v, int stride) {
  const int32_t a = v[0] + v[7 * stride], b = v[stride] + v[6 * stride];
  const int32_t c = v[2 * stride] + v[5 * stride], d = v[3 * stride] + v[4 * stride];
  int32_t odd[4] = {v[0] - v[7 * stride], v[stride] - v[6 * stride], v[2 * stride] - v[5 * stride],
                    v[3 * stride] - v[4 * stride]};
  mix_odd(odd);
  v[0] = rounded<kShift>((a + b + c + d) * 8192);
  v[4 * stride] = rounded<kShift>((a - b - c + d) * 8192);
  v[2 * stride] = rounded<kShift>(10703 * (a - d) + 4433 * (b - c));
  v[6 * stride] = rounded<kShift>(4433 * (a - d) - 10704 * (b - c));
  for (int k = 0; k < 4; ++k) v[(2 * k + 1) * stride] = rounded<kShift>(odd[k]);
}
STOKER_HD inline int32_t to_quantum(int32_t v, const JpegQuanta::Quantum& quantum) {
  const int32_t size = v < 0 ? -v : v;
  const auto n =
      static_cast<int32_t>((static_cast<float>(size + 4 * quantum.size) + 0.5f) * quantum.share);
  return (v < 0 ? -n : n) * quantum.size;
}

// Distorts kBlocks blocks at once: value k of block b is v[k * kBlocks + b], and 0 is the middle.
template <int kBlocks>
STOKER_HD void distort(int32_t* v, const JpegQuanta::Quantum* quanta) {
  constexpr int kRow = 8 * kBlocks;
  for (int k = 0; k < 8; ++k)
    for (int b = 0; b < kBlocks; ++b) to_waves<11>(v + k * kRow + b, kBlocks);
  for (int k = 0; k < kRow; ++k) to_waves<15>(v + k, kRow);
  for (int k = 0; k < 64; ++k) {
    const JpegQuanta::Quantum quantum = quanta[k];
    for (int b = 0; b < kBlocks; ++b) v[k * kBlocks + b] = to_quantum(v[k * kBlocks + b], quantum);
  }
  for (int k = 0; k < kRow; ++k) from_waves<11>(v + k, kRow);
  for (int k = 0; k < 8; ++k)
    for (int b = 0; b < kBlocks; ++b) from_waves<18>(v + k * kRow + b, kBlocks);
}

}  // namespace jpeg
}  // namespace stoker
