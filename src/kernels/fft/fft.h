// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The discrete Fourier transform of any length, as stages that the CPU and devices do alike.
//
// Note [Stages of a transform]
// Stockham's form, which needs no reordering (Van Loan: Computational frameworks for the fast
// Fourier transform; 1992). A stage of radix r splits each of its sub-transforms into r.
// Butterflies may run in any order or at once. One works on values of type V: a float on devices,
// and on the CPU a vector of one value from each of several transforms. Both do the same operations
// in the same order, so they give the same bits.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "base/types.h"

namespace stoker {

// Butterfly b of a stage reads the values b + j * count for j below the radix.
struct FftStage {
  int64_t radix, count, stride;  // stride: the product of the radices before
};

// exp(-2 pi i k / n) for k in [0, n), as real and imaginary parts in turn.
struct FftTables {
  const float* roots;
  int64_t n;
};

inline constexpr int kMaxFftStages = 20;

// A transform of n values, 1 to 2^20.
struct Fft {
  int64_t n = 1;
  std::vector<FftStage> stages;  // at most kMaxFftStages
  std::vector<float> roots;

  explicit Fft(int64_t n);
  FftTables tables() const { return {roots.data(), n}; }
};

template <class V>
struct Complex {
  V re, im;

  STOKER_HD Complex operator+(const Complex& o) const { return {re + o.re, im + o.im}; }
  STOKER_HD Complex operator-(const Complex& o) const { return {re - o.re, im - o.im}; }
  // Times a number that is the same for all transforms.
  STOKER_HD Complex times(float a, float b) const { return {re * a - im * b, re * b + im * a}; }
  STOKER_HD Complex times_i() const { return {-im, re}; }
};

// One butterfly, from `in` to `out`, which do not overlap. Value k is in[2 k] + i * in[2 k + 1].
template <class V>
STOKER_HD inline void fft_butterfly(const FftTables& t, const FftStage& s, int64_t b, const V* in,
                                    V* out) {
  const int64_t place = b % s.stride, part = b / s.stride;
  const auto load = [&](int64_t j) {
    const V* from = in + 2 * (b + j * s.count);
    return Complex<V>{from[0], from[1]};
  };
  const auto store = [&](int64_t k, const Complex<V>& v) {
    const float* root = t.roots + 2 * (part * s.stride * k % t.n);
    const Complex<V> turned = k == 0 || part == 0 ? v : v.times(root[0], root[1]);
    V* to = out + 2 * (place + s.stride * (s.radix * part + k));
    to[0] = turned.re;
    to[1] = turned.im;
  };
  if (s.radix == 2) {
    const Complex<V> x = load(0), y = load(1);
    store(0, x + y);
    store(1, x - y);
  } else if (s.radix == 4) {
    const Complex<V> x0 = load(0), x1 = load(1), x2 = load(2), x3 = load(3);
    const Complex<V> even = x0 + x2, even_rest = x0 - x2, odd = x1 + x3;
    const Complex<V> odd_rest = (x1 - x3).times_i();
    store(0, even + odd);
    store(1, even_rest - odd_rest);
    store(2, even - odd);
    store(3, even_rest + odd_rest);
  } else {
    for (int64_t k = 0; k < s.radix; ++k) {
      Complex<V> sum = load(0);
      for (int64_t j = 1; j < s.radix; ++j) {
        const float* root = t.roots + 2 * (j * k % s.radix * (t.n / s.radix));
        sum = sum + load(j).times(root[0], root[1]);
      }
      store(k, sum);
    }
  }
}

}  // namespace stoker
