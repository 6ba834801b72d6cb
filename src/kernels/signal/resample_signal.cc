// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/signal/resample_signal.h"

#include <algorithm>
#include <cmath>

#include "base/exact_math.h"
#include "kernels/levels.h"

namespace stoker {

namespace {

constexpr double kPi = 0x1.921fb54442d18p+1;

double weight(double t, int lobes) {
  if (std::fabs(t) >= lobes) return 0;
  if (t == std::round(t)) return t == 0;
  const double sinc = exact::sin(kPi * t) / (kPi * t);
  return sinc * (1 + exact::cos(kPi * t / lobes)) / 2;
}

}  // namespace

SignalWeights::SignalWeights(double quality)
    : lobes(static_cast<int>(std::lround(0.007 * quality * quality - 0.09 * quality + 3))),
      taps((2 * lobes + SignalResampler::kLanes - 1) / SignalResampler::kLanes *
           SignalResampler::kLanes) {
  constexpr int kPhases = SignalResampler::kPhases;
  rows.resize(static_cast<size_t>(taps) * (kPhases + 1));
  auto row = rows.begin();
  for (int p = 0; p <= kPhases; ++p, row += taps)
    for (int k = 0; k < 2 * lobes; ++k)
      row[k] = static_cast<float>(weight(k - lobes + 1 - static_cast<double>(p) / kPhases, lobes));
}

int64_t resampled_length(int64_t length, double scale) {
  return static_cast<int64_t>(std::ceil(static_cast<double>(length) * scale));
}

PaddedSignal::PaddedSignal(const SignalResampler& r, int64_t length, Arena& scratch) {
  float* all = scratch.array<float>(static_cast<size_t>(r.lobes + length + r.taps));
  values = all + r.lobes;
  std::fill(all, values, 0.0f);
  std::fill_n(values + length, r.taps, 0.0f);
}

void resample_signal(const SignalResampler& r, const float* in, int64_t origin, int64_t begin,
                     int64_t count, float* out) {
  at_cpu_level([=] {
    for (int64_t i = 0; i < count; ++i) out[i] = r.value(begin + i, in, origin);
  });
}

}  // namespace stoker
