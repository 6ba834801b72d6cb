// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A signal at another sampling rate.
//
// Note [Resampling signals]
// Value i of the output is the sum of in[k] w(k - i / ratio) over all k, where
//   w(t) = sinc(t) (1 + cos(pi t / lobes)) / 2 for |t| <= lobes, and else 0.
// Nothing is filtered out when a signal shrinks: half the rate takes every second value. The ratio
// is one of whole numbers, so places are exact however long the signal is. The weights of kPhases
// places between two values are computed once, and others interpolated between those, to 1e-7 of
// the largest. Products are summed up in kLanes lanes, which are added in a fixed order, so that
// every CPU and device gives the same bytes. With the ratio up / down there are only `up` different
// rows of weights. Where these are few, the CPU interpolates each of them once.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "base/types.h"
#include "memory/arena.h"

namespace stoker {

// The new rate over the old one, in lowest terms.
struct RateRatio {
  static constexpr int64_t kMost = 1000;
  int64_t up = 1, down = 1;

  // Exact for whole numbers and float32. A ratio below 2^-36, which leaves one value of any signal,
  // becomes that. Requires: to >= 0, from > 0; of float32, to / from <= kMost.
  static RateRatio of(double to, double from);
  // Of a signal of so many values. Requires: covers(length).
  int64_t length_of(int64_t length) const { return (length * up + down - 1) / down; }
  // Whether the places of all outputs can be counted.
  bool covers(int64_t length) const { return up == 0 || length <= (INT64_MAX - down) / up; }
};

// For the CPU and devices. `weights` has kPhases + 1 rows of `taps`.
struct SignalResampler {
  static constexpr int kPhases = 2048, kLanes = 8;
  const float* weights;
  int lobes, taps;  // taps: 2 lobes, and zeros up to a multiple of kLanes
  RateRatio ratio;

  // Which values of a signal of this length outputs [begin, end) need.
  struct ValueInterval {
    int64_t begin, end;
  };
  ValueInterval needed(int64_t begin, int64_t end, int64_t length) const {
    if (begin >= end) return {0, 0};
    const auto inside = [&](int64_t k) { return k < 0 ? 0 : k > length ? length : k; };
    return {inside(first(begin)), inside(first(end - 1) + taps)};
  }
  // Output i. Requires: `in` has zeros around the signal, `lobes` before and `taps` behind it;
  // in[0] is its value at `origin`.
  STOKER_HD float value(int64_t i, const float* in, int64_t origin) const {
    return sum(in + (first(i) - origin), weights_at(i * ratio.down % ratio.up));
  }

  // The first value of the input that output i needs.
  STOKER_HD int64_t first(int64_t i) const { return i * ratio.down / ratio.up - lobes + 1; }
  // The weights of an output that lies `part` / ratio.up behind a value.
  struct Weights {
    const float *low, *high;
    float share;
    STOKER_HD float operator[](int k) const {
      return add(low[k], mul(share, add(high[k], -low[k])));
    }
  };
  STOKER_HD Weights weights_at(int64_t part) const {
    const double phase = static_cast<double>(part) * kPhases / static_cast<double>(ratio.up);
    const auto row = static_cast<int64_t>(phase);
    const float* const low = weights + row * taps;
    return {low, low + taps, static_cast<float>(phase - static_cast<double>(row))};
  }
  // `w` has the weight of x[k] at k.
  template <class W>
  STOKER_HD float sum(const float* x, W w) const {
    float lanes[kLanes] = {};
    for (int k = 0; k < taps; k += kLanes)
      for (int l = 0; l < kLanes; ++l) lanes[l] = add(lanes[l], mul(x[k + l], w[k + l]));
    for (int n = kLanes / 2; n > 0; n /= 2)
      for (int l = 0; l < n; ++l) lanes[l] = add(lanes[l], lanes[l + n]);
    return lanes[0];
  }

 private:
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
  // Those of the last call, if it was for the same quality. Any thread may call it.
  static std::shared_ptr<const SignalWeights> of(double quality);
  SignalResampler resampler(const RateRatio& ratio) const {
    return {rows.data(), lobes, taps, ratio};
  }

  int lobes, taps;
  std::vector<float> rows;
};

// Room for a signal with zeros around it, as SignalResampler::value requires.
struct PaddedSignal {
  PaddedSignal(const SignalResampler& r, int64_t length, Arena& scratch);
  float* values;
};

// The `ratio.up` rows of weights, or null where they are too many to be worth it.
const float* phase_weights(const SignalResampler& r, int64_t outputs, Arena& scratch);

// Writes outputs [begin, begin + count). `in` and `origin` are as for SignalResampler::value,
// `phases` from phase_weights().
void resample_signal(const SignalResampler& r, const float* phases, const float* in, int64_t origin,
                     int64_t begin, int64_t count, float* out);

}  // namespace stoker
