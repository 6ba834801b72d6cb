// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/signal/resample_signal.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "base/exact_math.h"
#include "base/mutex.h"
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

// The odd number that `v` is, times 2^power.
int64_t odd_part(double v, int& power) {
  constexpr int kBits = 53;
  const auto all = static_cast<int64_t>(std::ldexp(std::frexp(v, &power), kBits));
  const int zeros = std::countr_zero(static_cast<uint64_t>(all));
  power += zeros - kBits;
  return all >> zeros;
}

int lobes_of(double quality) {
  return static_cast<int>(std::lround(0.007 * quality * quality - 0.09 * quality + 3));
}

}  // namespace

RateRatio RateRatio::of(double to, double from) {
  constexpr double kLeast = 0x1p-36;
  if (to == 0) return {0, 1};
  if (to < from * kLeast) return of(kLeast, 1);
  int to_power = 0, from_power = 0;
  int64_t up = odd_part(to, to_power), down = odd_part(from, from_power);
  const int64_t common = std::gcd(up, down);
  up /= common;
  down /= common;
  const int power = to_power - from_power;
  return power > 0 ? RateRatio{up << power, down} : RateRatio{up, down << -power};
}

SignalWeights::SignalWeights(double quality)
    : lobes(lobes_of(quality)),
      taps((2 * lobes + SignalResampler::kLanes - 1) / SignalResampler::kLanes *
           SignalResampler::kLanes) {
  constexpr int kPhases = SignalResampler::kPhases;
  rows.resize(static_cast<size_t>(taps) * (kPhases + 1));
  auto row = rows.begin();
  for (int p = 0; p <= kPhases; ++p, row += taps)
    for (int k = 0; k < 2 * lobes; ++k)
      row[k] = static_cast<float>(weight(k - lobes + 1 - static_cast<double>(p) / kPhases, lobes));
}

std::shared_ptr<const SignalWeights> SignalWeights::of(double quality) {
  struct Last {
    Mutex mutex;
    std::shared_ptr<const SignalWeights> weights STOKER_GUARDED_BY(mutex);
  };
  static Last& last = *new Last;
  MutexLock lock(last.mutex);
  if (!last.weights || last.weights->lobes != lobes_of(quality))
    last.weights = std::make_shared<const SignalWeights>(quality);
  return last.weights;
}

PaddedSignal::PaddedSignal(const SignalResampler& r, int64_t length, Arena& scratch) {
  float* all = scratch.array<float>(static_cast<size_t>(r.lobes + length + r.taps));
  values = all + r.lobes;
  std::fill(all, values, 0.0f);
  std::fill_n(values + length, r.taps, 0.0f);
}

const float* phase_weights(const SignalResampler& r, int64_t outputs, Arena& scratch) {
  const int64_t phases = r.ratio.up;
  if (phases > SignalResampler::kPhases || phases > outputs / 2) return nullptr;
  float* const rows = scratch.array<float>(static_cast<size_t>(phases * r.taps));
  at_cpu_level([=] {
    for (int64_t p = 0; p < phases; ++p) {
      const SignalResampler::Weights w = r.weights_at(p);
      for (int k = 0; k < r.taps; ++k) rows[p * r.taps + k] = w[k];
    }
  });
  return rows;
}

void resample_signal(const SignalResampler& r, const float* phases, const float* in, int64_t origin,
                     int64_t begin, int64_t count, float* out) {
  at_cpu_level([=] {
    const auto [up, down] = r.ratio;
    const int64_t step = down / up, part_step = down % up;
    const float* x = in + (r.first(begin) - origin);
    int64_t part = begin * down % up;
    for (int64_t i = 0; i < count; ++i) {
      out[i] = phases ? r.sum(x, phases + part * r.taps) : r.sum(x, r.weights_at(part));
      x += step;
      part += part_step;
      if (part >= up) part -= up, ++x;
    }
  });
}

}  // namespace stoker
