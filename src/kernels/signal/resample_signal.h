// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A signal at another sampling rate. Pure functions; thread-safe.
//
// Note [Resampling signals]
// Value i of the output is the sum of in[k] w(k - i / scale) over all k, where
//   w(t) = sinc(t) (1 + cos(pi t / lobes)) / 2 for |t| <= lobes, and else 0.
// Nothing is filtered out when a signal shrinks: half the rate takes every second value. The
// weights of kPhases places between two values are computed once, and others are interpolated
// between those, to 1e-7 of the largest. Products are summed up in kLanes lanes, which are added in
// a fixed order, so that every CPU and device gives the same bytes.
#pragma once
#include <cstdint>
#include <vector>

#include "base/types.h"
#include "memory/arena.h"

namespace stoker {

// Plain data, for the CPU and devices. `weights` has kPhases + 1 rows of `taps`.
struct SignalResampler {
  static constexpr int kPhases = 2048, kLanes = 8;
  const float* weights;
  int lobes, taps;  // taps: 2 lobes, and zeros up to a multiple of kLanes
  double scale;

  // Which values of a signal of this length outputs [begin, end) need.
  struct Range {
    int64_t begin, end;
  };
  Range needed(int64_t begin, int64_t end, int64_t length) const {
    if (begin >= end) return {0, 0};
    const auto inside = [&](int64_t k) { return k < 0 ? 0 : k > length ? length : k; };
    return {inside(first(begin)), inside(first(end - 1) + taps)};
  }
  // Output i. Requires: `in` has zeros around the signal: `lobes` before it and `taps` behind it;
  // in[0] is its value at `origin`.
  STOKER_HD float value(int64_t i, const float* in, int64_t origin) const {
    const double at = place(i);
    const auto whole = static_cast<int64_t>(at);
    const double phase = (at - static_cast<double>(whole)) * kPhases;
    const auto row = static_cast<int64_t>(phase);
    const auto share = static_cast<float>(phase - static_cast<double>(row));
    const float* low = weights + row * taps;
    const float* x = in + (first(i) - origin);
    float sum[kLanes] = {};
    for (int k = 0; k < taps; k += kLanes)
      for (int l = 0; l < kLanes; ++l) {
        const float w = add(low[k + l], mul(share, low[taps + k + l] - low[k + l]));
        sum[l] = add(sum[l], mul(x[k + l], w));
      }
    for (int n = kLanes / 2; n > 0; n /= 2)
      for (int l = 0; l < n; ++l) sum[l] = sum[l] + sum[l + n];
    return sum[0];
  }

 private:
  // The first value of the input that output i needs.
  STOKER_HD int64_t first(int64_t i) const { return static_cast<int64_t>(place(i)) - lobes + 1; }
  // Where output i lies between the values of the input.
  STOKER_HD double place(int64_t i) const { return static_cast<double>(i) / scale; }
  // Rounded once each, on devices too.
#ifdef __CUDA_ARCH__
  STOKER_HD static float add(float a, float b) { return __fadd_rn(a, b); }
  STOKER_HD static float mul(float a, float b) { return __fmul_rn(a, b); }
#else
  STOKER_HD static float add(float a, float b) { return a + b; }
  STOKER_HD static float mul(float a, float b) { return a * b; }
#endif
};

// The weights for a quality from 0 to 100, which decides the number of lobes: 3, 16 at 50, 64.
struct SignalWeights {
  explicit SignalWeights(double quality);
  SignalResampler resampler(double scale) const { return {rows.data(), lobes, taps, scale}; }

  int lobes, taps;
  std::vector<float> rows;
};

// The length of a signal of so many values at `scale` times its rate.
int64_t resampled_length(int64_t length, double scale);

// Room for a signal with zeros around it, as SignalResampler::value requires.
struct PaddedSignal {
  PaddedSignal(const SignalResampler& r, int64_t length, Arena& scratch);
  float* values;
};

// Writes outputs [begin, begin + count). `in` and `origin` as for SignalResampler::value.
void resample_signal(const SignalResampler& r, const float* in, int64_t origin, int64_t begin,
                     int64_t count, float* out);

}  // namespace stoker
