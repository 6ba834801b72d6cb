// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/signal/resample_signal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

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

std::vector<float> resampled(const std::vector<float>& in, double quality, const RateRatio& ratio,
                             int64_t begin, int64_t end) {
  Arena scratch;
  const SignalWeights weights(quality);
  const SignalResampler r = weights.resampler(ratio);
  const PaddedSignal padded(r, static_cast<int64_t>(in.size()), scratch);
  std::copy(in.begin(), in.end(), padded.values);
  std::vector<float> out(static_cast<size_t>(end - begin));
  const float* const phases = phase_weights(r, end - begin, scratch);
  resample_signal(r, phases, padded.values, 0, begin, end - begin, out.data());
  return out;
}

void expect_ratio(const RateRatio& r, int64_t up, int64_t down) {
  EXPECT_EQ(r.up, up);
  EXPECT_EQ(r.down, down);
}

TEST(RateRatio, IsExactInLowestTerms) {
  expect_ratio(RateRatio::of(16000, 44100), 160, 441);
  expect_ratio(RateRatio::of(22050.5, 11025.25), 2, 1);
  expect_ratio(RateRatio::of(0.75, 1), 3, 4);
  expect_ratio(RateRatio::of(0.1f, 1), 13421773, int64_t{1} << 27);
  expect_ratio(RateRatio::of(1e-30f, 1e30f), 1, int64_t{1} << 36);
  expect_ratio(RateRatio::of(0, 7), 0, 1);
}

TEST(RateRatio, GivesASecondAsManyValuesAsTheRateSays) {
  for (const int64_t from : {8000, 11025, 16000, 44100, 48000})
    for (const int64_t to : {8000, 16000, 22050, 44100, 48000})
      for (const int64_t seconds : {1, 10, 3600}) {
        const RateRatio r = RateRatio::of(static_cast<double>(to), static_cast<double>(from));
        EXPECT_EQ(r.length_of(seconds * from), seconds * to);
        EXPECT_EQ(r.length_of(seconds * from - 1),
                  to < from ? seconds * to : seconds * to - to / from);
      }
}

TEST(RateRatio, SaysForWhichSignalsItsPlacesCanBeCounted) {
  const RateRatio r = RateRatio::of(16000.1f, 44100.1f);
  EXPECT_TRUE(r.covers(int64_t{1} << 36));
  EXPECT_FALSE(r.covers(int64_t{1} << 41));
  EXPECT_TRUE(RateRatio::of(0, 7).covers(INT64_MAX));
}

TEST(SignalWeights, AreMadeOnceInARow) {
  const auto first = SignalWeights::of(20), again = SignalWeights::of(20);
  EXPECT_EQ(first, again);
  for (const double quality : {90.0, 20.0}) {
    const auto weights = SignalWeights::of(quality);
    EXPECT_EQ(weights->lobes, SignalWeights(quality).lobes);
    EXPECT_EQ(weights->rows, SignalWeights(quality).rows);
  }
}

TEST(SignalWeights, HaveAsManyLobesAsTheQualitySays) {
  EXPECT_EQ(SignalWeights(0).lobes, 3);
  EXPECT_EQ(SignalWeights(50).lobes, 16);
  EXPECT_EQ(SignalWeights(100).lobes, 64);
}

TEST(ResampleSignal, IsTheSum) {
  const std::vector<float> in = signal(300);
  const std::pair<float, float> rates[] = {
      {1, 1},         {1, 2},    {2, 1},           {160, 441}, {44100, 16000},
      {48000, 44100}, {0.7f, 1}, {2.75625f, 1.1f}, {0.01f, 1}, {31.7f, 0.9f}};
  for (const double quality : {0.0, 20.0, 50.0, 100.0})
    for (const auto& [to, from] : rates) {
      const int lobes = SignalWeights(quality).lobes;
      const RateRatio ratio = RateRatio::of(to, from);
      const int64_t length = ratio.length_of(300);
      const std::vector<float> out = resampled(in, quality, ratio, 0, length);
      for (int64_t i = 0; i < length; ++i)
        ASSERT_NEAR(out[static_cast<size_t>(i)],
                    exact_value(in, static_cast<double>(i) * from / to, lobes), 3e-6)
            << quality << " " << to << " " << from << " " << i;
    }
}

TEST(ResampleSignal, KeepsTheSignalAtItsOwnRate) {
  const std::vector<float> in = signal(77);
  EXPECT_EQ(resampled(in, 50, RateRatio::of(1, 1), 0, 77), in);
}

// Of these ratios, the first has so few phases that the whole interpolates each once.
const RateRatio kRatios[] = {RateRatio::of(60, 44), RateRatio::of(1.37f, 1)};

TEST(ResampleSignal, GivesTheSameBytesForEveryWindow) {
  const std::vector<float> in = signal(500);
  for (const RateRatio& ratio : kRatios) {
    const int64_t length = ratio.length_of(500);
    const std::vector<float> whole = resampled(in, 50, ratio, 0, length);
    for (const int64_t begin : {0, 1, 7, 300})
      for (const int64_t end : {begin, begin + 1, length})
        EXPECT_EQ(resampled(in, 50, ratio, begin, end),
                  std::vector<float>(whole.begin() + begin, whole.begin() + end));
  }
}

TEST(ResampleSignal, GivesTheValuesThatDevicesCompute) {
  const std::vector<float> in = signal(500);
  Arena scratch;
  const SignalWeights weights(50);
  for (const RateRatio& ratio : kRatios) {
    const SignalResampler r = weights.resampler(ratio);
    const PaddedSignal padded(r, 500, scratch);
    std::copy(in.begin(), in.end(), padded.values);
    const std::vector<float> whole = resampled(in, 50, ratio, 0, ratio.length_of(500));
    for (size_t i = 0; i < whole.size(); ++i)
      ASSERT_EQ(whole[i], r.value(static_cast<int64_t>(i), padded.values, 0)) << i;
  }
}

using ResampleSignalAtLevel = AtCpuLevel;

TEST_P(ResampleSignalAtLevel, GivesTheSameBytes) {
  const std::vector<float> in = signal(500);
  for (const RateRatio& ratio : kRatios) {
    const std::vector<float> out = resampled(in, 50, ratio, 0, 680);
    const CpuLevel level = set_cpu_level_for_test(CpuLevel::kBase);
    EXPECT_EQ(resampled(in, 50, ratio, 0, 680), out);
    set_cpu_level_for_test(level);
  }
}
INSTANTIATE_TEST_SUITE_P(Levels, ResampleSignalAtLevel, testing::ValuesIn(kCpuLevels), level_name);

}  // namespace
}  // namespace stoker
