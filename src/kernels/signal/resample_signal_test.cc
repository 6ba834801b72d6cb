// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/signal/resample_signal.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/elements/levels_testing.h"

namespace stoker {
namespace {

// The sum that Note [Resampling signals] defines, in double precision.
double exact_value(const std::vector<float>& in, double at, int lobes) {
  double sum = 0;
  for (size_t k = 0; k < in.size(); ++k) {
    const double t = static_cast<double>(k) - at, angle = M_PI * t;
    if (std::fabs(t) > lobes) continue;
    const double sinc = t == 0 ? 1 : std::sin(angle) / angle;
    sum += in[k] * sinc * (1 + std::cos(angle / lobes)) / 2;
  }
  return sum;
}

std::vector<float> signal(size_t length) {
  std::vector<float> s;
  for (size_t i = 0; i < length; ++i)
    s.push_back(static_cast<float>(std::sin(0.3 * static_cast<double>(i * i % 97))));
  return s;
}

std::vector<float> resampled(const std::vector<float>& in, double quality, double scale,
                             int64_t begin, int64_t end) {
  Arena scratch;
  const SignalWeights weights(quality);
  const SignalResampler r = weights.resampler(scale);
  const PaddedSignal padded(r, static_cast<int64_t>(in.size()), scratch);
  std::copy(in.begin(), in.end(), padded.values);
  std::vector<float> out(static_cast<size_t>(end - begin));
  resample_signal(r, padded.values, 0, begin, end - begin, out.data());
  return out;
}

TEST(SignalWeights, HaveAsManyLobesAsTheQualitySays) {
  EXPECT_EQ(SignalWeights(0).lobes, 3);
  EXPECT_EQ(SignalWeights(50).lobes, 16);
  EXPECT_EQ(SignalWeights(100).lobes, 64);
}

TEST(ResampleSignal, IsTheSum) {
  const std::vector<float> in = signal(300);
  for (const double quality : {0.0, 20.0, 50.0, 100.0})
    for (const double scale : {1.0, 0.5, 2.0, 0.362811, 2.75625, 0.01, 31.7}) {
      const int lobes = SignalWeights(quality).lobes;
      const int64_t length = resampled_length(300, scale);
      const std::vector<float> out = resampled(in, quality, scale, 0, length);
      for (int64_t i = 0; i < length; ++i)
        ASSERT_NEAR(out[static_cast<size_t>(i)],
                    exact_value(in, static_cast<double>(i) / scale, lobes), 3e-6)
            << quality << " " << scale << " " << i;
    }
}

TEST(ResampleSignal, KeepsTheSignalAtItsOwnRate) {
  const std::vector<float> in = signal(77);
  EXPECT_EQ(resampled(in, 50, 1, 0, 77), in);
}

TEST(ResampleSignal, GivesTheSameBytesForEveryWindow) {
  const std::vector<float> in = signal(500);
  const std::vector<float> whole = resampled(in, 50, 1.37, 0, 685);
  for (const int64_t begin : {0, 1, 7, 300})
    for (const int64_t end : {begin, begin + 1, int64_t{685}})
      EXPECT_EQ(resampled(in, 50, 1.37, begin, end),
                std::vector<float>(whole.begin() + begin, whole.begin() + end));
}

using ResampleSignalAtLevel = AtCpuLevel;

TEST_P(ResampleSignalAtLevel, GivesTheSameBytes) {
  const std::vector<float> in = signal(500), out = resampled(in, 50, 1.37, 0, 685);
  const CpuLevel level = set_cpu_level_for_test(CpuLevel::kBase);
  EXPECT_EQ(resampled(in, 50, 1.37, 0, 685), out);
  set_cpu_level_for_test(level);
}
INSTANTIATE_TEST_SUITE_P(Levels, ResampleSignalAtLevel, testing::ValuesIn(kCpuLevels), level_name);

}  // namespace
}  // namespace stoker
