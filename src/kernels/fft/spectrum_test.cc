// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/fft/spectrum.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <random>
#include <vector>

#include "kernels/elements/levels_testing.h"

namespace stoker {
namespace {

std::vector<float> spectrum_of(const Spectrum& s, int64_t n, int64_t t) {
  std::vector<float> bins;
  for (int64_t k = 0; k <= n / 2; ++k) {
    std::complex<double> sum = 0;
    for (int64_t i = 0; i < s.length; ++i) {
      const double angle = -2 * M_PI * static_cast<double>(i * k % n) / static_cast<double>(n);
      sum += double{s.value(t, i)} * std::complex<double>(std::cos(angle), std::sin(angle));
    }
    bins.push_back(static_cast<float>(s.squares ? std::norm(sum) : std::abs(sum)));
  }
  return bins;
}

std::vector<float> noise(size_t count) {
  std::mt19937 random(4);
  std::vector<float> v(count);
  for (float& x : v) x = static_cast<float>(random() % 2001) / 1000 - 1;
  return v;
}

class SpectrumAtLevel : public AtCpuLevel {};

TEST_P(SpectrumAtLevel, SpectraAreWhatTheDefinitionSays) {
  const std::vector<float> signal = noise(300), weights = noise(128);
  for (const int64_t n : {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 31, 32, 60, 64, 77, 128}) {
    const Fft fft(n);
    const Spectrum s{signal.data(), 150,  2,         weights.data(), std::max<int64_t>(1, n - 2), 7,
                     n / 2,         true, n % 2 == 0};
    const int64_t windows = 22, bins = n / 2 + 1;
    std::vector<float> out(static_cast<size_t>(windows * bins));
    Arena arena;
    run_spectrum(s, fft, View::dense(out.data(), DType::kFloat32, {windows, bins}, "tf"), arena);
    for (int64_t t = 0; t < windows; ++t) {
      const auto want = spectrum_of(s, n, t);
      for (size_t k = 0; k < want.size(); ++k)
        EXPECT_NEAR(out[static_cast<size_t>(t * bins) + k], want[k], 1e-5f * (want[k] + 10))
            << n << ' ' << t << ' ' << k;
    }
  }
}

TEST_P(SpectrumAtLevel, WindowsHoldTheSameBytes) {
  const std::vector<float> signal = noise(300), weights = noise(40);
  const Fft fft(60);
  const Spectrum s{signal.data(), 300, 1, weights.data(), 40, 3, 20, false, true};
  const Shape full{31, 101};
  std::vector<float> whole(31 * 101), part(9 * 23);
  Arena arena;
  const CpuLevel before = set_cpu_level_for_test(CpuLevel::kBase);
  run_spectrum(s, fft, View::dense(whole.data(), DType::kFloat32, full, "ft"), arena);
  set_cpu_level_for_test(before);
  run_spectrum(s, fft, View::window(part.data(), DType::kFloat32, {{20, 70}, {29, 93}}, full, "ft"),
               arena);
  for (size_t k = 0; k < 9; ++k)
    for (size_t t = 0; t < 23; ++t)
      EXPECT_EQ(part[k * 23 + t], whole[(k + 20) * 101 + t + 70]) << k << ' ' << t;
}

INSTANTIATE_TEST_SUITE_P(Levels, SpectrumAtLevel, testing::ValuesIn(kCpuLevels), level_name);

}  // namespace
}  // namespace stoker
