// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Blurs with symmetric weights along up to three axes, and sums of such blurs.
//
// Note [Blur]
// Axes are blurred one after the other, outermost first. Beyond an edge the tensor is mirrored
// about the outermost element. A value is w[0] x[0] + w[1] (x[-1] + x[1]) + w[2] (x[-2] + x[2]) and
// so on, summed up in this order, so the bytes are the same on every CPU and device. Nothing is
// rounded to the output's type between the axes, nor between blurs that are summed up. From uint8
// to uint8 everything is in 16-bit integers: values count from 128 in 1/64, weights in 2^-15, and
// each product is rounded. That is off by at most half of 1/64, so kMostFixed pairs in all add up
// to less than one level.
#pragma once
#include <span>
#include <vector>

#include "base/view.h"
#include "kernels/convert.h"
#include "kernels/neighbourhood/border.h"
#include "memory/arena.h"

namespace stoker {

struct BlurAxis {
  int axis;
  std::vector<double> weights;  // at the distances 0, 1, ...
  int radius() const { return static_cast<int>(weights.size()) - 1; }
};

// A Gaussian bell's weights, which add up to 1 over both sides. Sigma 0 means OpenCV's for the
// radius: 0.3 (radius - 1) + 0.8.
std::vector<double> gaussian(double sigma, int radius);

inline constexpr int kMostFixed = 64;
inline bool is_fixed_point(DType in, DType out, std::span<const BlurAxis> axes) {
  int pairs = 0;
  for (const BlurAxis& a : axes) pairs += a.radius();
  return in == DType::kUint8 && out == DType::kUint8 && pairs <= kMostFixed;
}

struct FixedBlur {
  using Number = int16_t;
  STOKER_HD static int16_t load(uint8_t v) { return static_cast<int16_t>((v - 128) * 64); }
  STOKER_HD static int16_t load(int16_t v) { return v; }
  STOKER_HD static int16_t sum(int16_t a, int16_t b) { return static_cast<int16_t>(a + b); }
  STOKER_HD static int16_t pair(uint8_t a, uint8_t b) {
    return static_cast<int16_t>((a + b - 256) * 64);
  }
  STOKER_HD static int16_t pair(int16_t a, int16_t b) { return sum(a, b); }
  STOKER_HD static int16_t product(int16_t a, int16_t b) {
    return static_cast<int16_t>(((a * b >> 14) + 1) >> 1);
  }
  template <class To>
  STOKER_HD static To store(int16_t v) {
    if constexpr (std::is_same_v<To, int16_t>) return v;
    const auto rounded = static_cast<int16_t>(((v + 32) >> 6) + 128);
    return static_cast<To>(rounded < 0 ? 0 : rounded > 255 ? 255 : rounded);
  }
  // They add up to 1, so that a constant stays as it is. Zeros at the end are left out. w[0] alone
  // counts as 1.
  static std::vector<int16_t> weights(std::span<const double> w);
};

template <class A>
struct FloatBlur {
  using Number = A;
  template <class From>
  STOKER_HD static A load(From v) {
    return convert<A>(v);
  }
  STOKER_HD static A sum(A a, A b) { return detail::add_once(a, b); }
  STOKER_HD static A pair(A a, A b) { return sum(a, b); }
  STOKER_HD static A product(A a, A b) { return detail::mul_once(a, b); }
  template <class To>
  STOKER_HD static To store(A v) {
    return convert<To>(v);
  }
  static std::vector<A> weights(std::span<const double> w) { return {w.begin(), w.end()}; }
};

template <class F>
void with_blur(DType in, DType out, std::span<const BlurAxis> axes, F&& f) {
  if (is_fixed_point(in, out, axes)) f(FixedBlur{});
  else if (is_wide(in) || is_wide(out)) f(FloatBlur<double>{});
  else f(FloatBlur<float>{});
}

// The window of the input that the window `wanted` of the output needs.
Window blur_demand(const Window& wanted, const Shape& full, std::span<const BlurAxis> axes);

// Sets `out`, which is dense, to the blurred `in`: Note [Blur]. Requires: one to three axes, in
// order and without gaps between them; `in` covers blur_demand() of `out` and does not overlap it.
void blur(const View& in, const View& out, std::span<const BlurAxis> axes, Arena& scratch);

// The axes of each of several blurs, which are the same for all.
using BlurList = std::vector<std::vector<BlurAxis>>;

// Sets `out` to the sum of these blurs, in floats; their weights need not add up to 1. Requires:
// what blur() requires of each.
void sum_of_blurs(const View& in, const View& out, const BlurList& blurs, Arena& scratch);

}  // namespace stoker
