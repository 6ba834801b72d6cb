// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/resample/taps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/rows/targets_testing.h"

namespace stoker {
namespace {

struct Taps {
  TapInterval range;
  std::vector<double> weights;
};
Taps taps(const ResampleAxis& a, int64_t extent, int64_t o) {
  std::vector<double> w(static_cast<size_t>(most_taps(a, extent)));
  const TapInterval r = taps_of(a, extent, o, w.data());
  w.resize(static_cast<size_t>(r.end - r.begin));
  return {r, w};
}
ResampleAxis axis(Filter f, int64_t out, double lo, double hi, double radius = 1) {
  return {0, out, lo, hi, f, radius};
}

TEST(Taps, NearestIsTheFloorOfTheCentreInsideTheInput) {
  const auto a = axis(Filter::kNearest, 4, 0, 10);
  const int64_t want[] = {1, 3, 6, 8};
  for (int o = 0; o < 4; ++o) EXPECT_EQ(tap_interval(a, 10, o).begin, want[o]);
  EXPECT_EQ(tap_interval(axis(Filter::kNearest, 2, -5, 20), 10, 0).begin, 1);
  EXPECT_EQ(tap_interval(axis(Filter::kNearest, 2, -9, -1), 10, 1).begin, 0);
  EXPECT_EQ(tap_interval(axis(Filter::kNearest, 2, 30, 40), 10, 1).begin, 9);
}

TEST(Taps, LinearIsTwoTapsWhateverTheScale) {
  const Taps t = taps(axis(Filter::kLinear, 2, 0, 9), 9, 0);  // centre 2.25
  EXPECT_EQ(t.range.begin, 1);
  EXPECT_EQ(t.weights, (std::vector<double>{0.25, 0.75}));
  EXPECT_EQ(taps(axis(Filter::kLinear, 20, 0, 10), 10, 0).weights, (std::vector<double>{1}));
  EXPECT_EQ(taps(axis(Filter::kLinear, 20, 0, 10), 10, 19).range.begin, 9);
  EXPECT_EQ(taps(axis(Filter::kLinear, 5, 0, 5), 5, 3).weights.size(), 1u);
}

TEST(Taps, TriangleOfTwiceTheWidthHalves) {
  const Taps t = taps(axis(Filter::kTriangular, 5, 0, 10, 2), 10, 2);  // centre 5: 3.5 4.5 5.5 6.5
  EXPECT_EQ(t.range.begin, 3);
  EXPECT_EQ(t.weights, (std::vector<double>{0.125, 0.375, 0.375, 0.125}));
  const Taps edge =
      taps(axis(Filter::kTriangular, 5, 0, 10, 2), 10, 0);  // without what lies outside
  EXPECT_EQ(edge.range.begin, 0);
  EXPECT_EQ(edge.weights.size(), 3u);
  EXPECT_DOUBLE_EQ(edge.weights[0], 0.375 / 0.875);
}

ResampleAxis clamped(ResampleAxis a) {
  a.clamped = true;
  return a;
}

TEST(Taps, ClampedAxesGiveTheOutermostPositionWhatLiesBeyondIt) {
  const auto wide = clamped(axis(Filter::kTriangular, 5, 0, 10, 2));
  const Taps first = taps(wide, 10, 0);  // centre 1: -0.5 0.5 1.5 2.5
  EXPECT_EQ(first.range.begin, 0);
  EXPECT_EQ(first.weights, (std::vector<double>{0.5, 0.375, 0.125}));
  const Taps last = taps(wide, 10, 4);  // centre 9
  EXPECT_EQ(last.range.begin, 7);
  EXPECT_EQ(last.weights, (std::vector<double>{0.125, 0.375, 0.5}));
  const auto lobes = clamped(axis(Filter::kLanczos3, 1, -1.85, -1.35, 6));
  EXPECT_EQ(taps(lobes, 1, 0).weights, std::vector<double>{1});
  EXPECT_EQ(taps(lobes, 10, 0).range.begin, 0);
  EXPECT_GT(taps(lobes, 10, 0).weights.size(), 1u);
  const auto far = clamped(axis(Filter::kCubic, 1, 900, 901, 2));
  EXPECT_EQ(taps(far, 10, 0).range.begin, 9);
  EXPECT_EQ(taps(far, 10, 0).weights, std::vector<double>{1});
}

TEST(Taps, ClampedAxesAreTheSameInsideAndAsOfALongerInputAtTheEdge) {
  for (Filter f : {Filter::kTriangular, Filter::kCubic, Filter::kLanczos3})
    for (double radius : {1.0, 2.3, 7.0}) {
      const auto a = axis(f, 20, 0, 30, radius), longer = axis(f, 20, 50, 80, radius);
      for (int64_t o = 0; o < 20; ++o) {
        const Taps got = taps(clamped(a), 30, o), all = taps(longer, 130, o);
        std::vector<double> folded(30), found(30);
        for (size_t i = 0; i < all.weights.size(); ++i) {
          const int64_t p = all.range.begin + static_cast<int64_t>(i) - 50;
          folded[static_cast<size_t>(std::clamp<int64_t>(p, 0, 29))] += all.weights[i];
        }
        std::copy(got.weights.begin(), got.weights.end(), found.begin() + got.range.begin);
        for (size_t i = 0; i < 30; ++i) ASSERT_NEAR(found[i], folded[i], 1e-12);
        const Taps open = taps(a, 30, o);
        if (all.range.begin < 50 || all.range.end > 80) continue;
        ASSERT_EQ(got.range.begin, open.range.begin);
        ASSERT_EQ(got.weights, open.weights);
      }
    }
}

TEST(Taps, ClampedAxesLookOnlySoFarBeyondTheEdge) {
  const double far = 1e15;
  const auto a = clamped(axis(Filter::kTriangular, 1, -far, far, far));
  const Taps t = taps(a, 3, 0);  // else this would sum 10^15 weights
  ASSERT_EQ(t.weights.size(), 3u);
  EXPECT_NEAR(t.weights[1], 1.0 / (2 * kMostOutside + 3), 1e-12);
}

TEST(Taps, CubicLanczosAndGaussianAreTheirFormulas) {
  const double d[] = {-1.75, -0.75, 0.25, 1.25};
  const Taps cubic = taps(axis(Filter::kCubic, 20, 0, 40. * 20 / 40, 2), 20, 9);
  EXPECT_EQ(cubic.weights.size(), 1u);  // scale 1 keeps values
  const Taps c = taps(axis(Filter::kCubic, 1, 9.75, 10.75, 2), 20, 0);  // centre 10.25
  ASSERT_EQ(c.weights.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    const double x = std::fabs(d[i]);
    EXPECT_NEAR(
        c.weights[i],
        x < 1 ? 1.5 * x * x * x - 2.5 * x * x + 1 : -0.5 * x * x * x + 2.5 * x * x - 4 * x + 2,
        1e-12);
  }
  const Taps l = taps(axis(Filter::kLanczos3, 1, 9.75, 10.75, 3), 20, 0);
  ASSERT_EQ(l.weights.size(), 6u);
  const auto sinc = [](double x) { return x == 0 ? 1 : std::sin(M_PI * x) / (M_PI * x); };
  double sum = 0;
  for (int i = 0; i < 6; ++i) sum += sinc(i - 2.75) * sinc((i - 2.75) / 3);
  for (int i = 0; i < 6; ++i)
    EXPECT_NEAR(l.weights[static_cast<size_t>(i)], sinc(i - 2.75) * sinc((i - 2.75) / 3) / sum,
                1e-12);
  const Taps g = taps(axis(Filter::kGaussian, 1, 9.75, 10.75, 2), 20, 0);
  EXPECT_NEAR(g.weights[2] / g.weights[1], std::exp(-0.25 * 0.25 + 0.75 * 0.75), 1e-12);
}

// The numbers are those that NVIDIA DALI 2.4 gives for an impulse.
TEST(Taps, ClampedGaussiansTakeAnEdgeOfTheFilter) {
  const auto same = clamped(axis(Filter::kGaussian, 9, 0, 9));
  for (int64_t o = 0; o < 9; ++o) {
    const Taps t = taps(same, 9, o);
    ASSERT_EQ(t.range.begin, o < 3 ? o : o - 1);
    ASSERT_EQ(t.weights.size(), 2u);
    ASSERT_NEAR(t.weights[o < 3 ? 0 : 1], 0.982013762, 1e-7);
    ASSERT_NEAR(t.weights[o < 3 ? 1 : 0], 0.017986210, 1e-7);
  }
  const auto thirds = clamped(axis(Filter::kGaussian, 20, 0, 60, 3));
  for (int64_t o = 1; o < 19; ++o) {
    const Taps t = taps(thirds, 60, o);
    ASSERT_EQ(t.range.begin, o < 2 ? 2 : 3 * o - 2);
    ASSERT_EQ(t.range.end, o < 2 ? 8 : 3 * o + 4);
  }
  const auto fifths = clamped(axis(Filter::kGaussian, 20, 0, 100, 5));
  for (int64_t o = 1; o < 19; ++o) ASSERT_EQ(taps(fifths, 100, o).range.begin, 5 * o - 3);
}

TEST(Taps, ClampedGaussiansAreLinesBetweenTheirEntries) {
  const auto a = clamped(axis(Filter::kGaussian, 30, 0, 41, 41. / 30));
  const Taps t = taps(a, 41, 2);  // centre 3.41667
  const double right[] = {0.13455783, 0.7994705, 0.06597161};
  ASSERT_EQ(t.range.begin, 2);
  ASSERT_EQ(t.weights.size(), 3u);
  for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(t.weights[i], right[i], 1e-6);
}

TEST(Taps, SumToOneLieInTheRangeAndNeverLeaveTheInput) {
  for (int f = 0; f <= 5; ++f)
    for (int64_t extent : {1, 2, 7, 100})
      for (int64_t out : {1, 3, 64, 250})
        for (double lo :
             {0.0, -3.3, 0.4 * static_cast<double>(extent), 2.0 * static_cast<double>(extent)})
          for (double width :
               {1e-3, 0.7, 0.5 * static_cast<double>(extent), 3.0 * static_cast<double>(extent)})
            for (double radius : {0.05, 1.0, 3.0, 30.0})
              for (int way = 0; way < 4; ++way) {
                const bool mirrored = way & 1;
                auto a = mirrored ? axis(static_cast<Filter>(f), out, lo + width, lo, radius)
                                  : axis(static_cast<Filter>(f), out, lo, lo + width, radius);
                a.clamped = way & 2;
                TapInterval before{};
                for (int64_t o = 0; o < out; ++o) {
                  const TapInterval r = tap_interval(a, extent, o);
                  ASSERT_TRUE(0 <= r.begin && r.begin < r.end && r.end <= extent);
                  const Taps t = taps(a, extent, o);
                  ASSERT_TRUE(r.begin <= t.range.begin && t.range.end <= r.end &&
                              !t.weights.empty());
                  ASSERT_NEAR(std::accumulate(t.weights.begin(), t.weights.end(), 0.0), 1, 1e-12);
                  if (o > 0) {
                    ASSERT_TRUE(mirrored ? r.begin <= before.begin && r.end <= before.end
                                         : r.begin >= before.begin && r.end >= before.end);
                  }
                  before = r;
                }
              }
}

TEST(Taps, MirroringTheIntervalMirrorsTheTaps) {
  const auto a = axis(Filter::kTriangular, 224, 3.5, 283.25, 1.25),
             m = axis(Filter::kTriangular, 224, 283.25, 3.5, 1.25);
  for (int64_t o = 0; o < 224; ++o) {
    const Taps t = taps(a, 300, o), u = taps(m, 300, 223 - o);
    ASSERT_EQ(t.range.begin, u.range.begin);
    for (size_t i = 0; i < t.weights.size(); ++i) ASSERT_NEAR(t.weights[i], u.weights[i], 1e-12);
  }
}

TEST(Taps, OnlyAnAxisThatChangesNothingIsAnIdentity) {
  for (Filter f : {Filter::kNearest, Filter::kLinear, Filter::kTriangular, Filter::kCubic,
                   Filter::kLanczos3}) {
    const double radius = f == Filter::kLanczos3 ? 3 : f == Filter::kCubic ? 2 : 1;
    ASSERT_TRUE(is_identity(axis(f, 57, 0, 57, radius), 57));
    for (int64_t o = 0; o < 57; ++o) {
      const Taps t = taps(axis(f, 57, 0, 57, radius), 57, o);
      ASSERT_EQ(t.range.begin, o);
      ASSERT_EQ(t.weights, std::vector<double>{1});
    }
    EXPECT_FALSE(is_identity(axis(f, 56, 0, 57, radius), 57));
    EXPECT_FALSE(is_identity(axis(f, 57, 57, 0, radius), 57));
    EXPECT_FALSE(is_identity(axis(f, 57, 0.5, 57, radius), 57));
  }
  EXPECT_FALSE(is_identity(axis(Filter::kGaussian, 57, 0, 57, 2), 57));
  EXPECT_FALSE(is_identity(axis(Filter::kTriangular, 57, 0, 57, 2), 57));
}

TEST(Taps, FixedPointSumsToOneExactlyAndStaysClose) {
  for (Filter f : {Filter::kTriangular, Filter::kCubic, Filter::kLanczos3, Filter::kGaussian})
    for (double radius : {1.0, 3.7, 120.0}) {
      const auto a = axis(f, 5, 0, 300, radius);
      for (int64_t o = 0; o < 5; ++o) {
        const Taps t = taps(a, 300, o);
        std::vector<int16_t> q(t.weights.size());
        quantise(t.weights, q.data());
        int sum = 0;
        double running = 0;
        for (size_t i = 0; i < q.size(); ++i) {
          sum += q[i];
          running += t.weights[i];
          ASSERT_LE(std::fabs(q[i] - t.weights[i] * 16384), 1.0);
          ASSERT_LE(std::fabs(sum - running * 16384), 0.5 + 1e-6);
        }
        ASSERT_EQ(sum, 1 << 14);
      }
    }
}

TEST(Taps, WeightsThatNearlyCancelBecomeTheNearestPosition) {
  // Only the negative lobe of the filter reaches the input.
  const Taps t = taps(axis(Filter::kLanczos3, 1, -1.85, -1.35, 6), 10, 0);
  EXPECT_EQ(t.weights, std::vector<double>{1});
  EXPECT_EQ(t.range.begin, 0);
}

class TapTables : public ::testing::TestWithParam<test::Instructions> {
 protected:
  const test::Forced forced_{GetParam()};

  template <class W>
  void expect_taps(const ResampleAxis& a, int64_t extent) {
    Arena arena;
    const auto table = tap_table<W>(a, extent, a.out - 1, -1, a.out, arena);
    std::vector<W> want(static_cast<size_t>(table.pitch));
    for (int64_t i = 0; i < a.out; ++i) {
      const Taps t = taps(a, extent, a.out - 1 - i);
      ASSERT_EQ(table.first[i], t.range.begin);
      ASSERT_EQ(table.taps[i], static_cast<int>(t.weights.size()));
      std::fill(want.begin(), want.end(), W{0});
      if constexpr (std::is_same_v<W, int16_t>) quantise(t.weights, want.data());
      else
        for (size_t k = 0; k < t.weights.size(); ++k) want[k] = static_cast<W>(t.weights[k]);
      ASSERT_EQ(std::memcmp(table.row(i), want.data(), want.size() * sizeof(W)), 0)
          << static_cast<int>(a.filter) << ' ' << a.lo << ' ' << a.hi << ' ' << a.radius << ' '
          << i;
    }
  }
};

TEST_P(TapTables, HoldTheSameBitsAsSingleTaps) {
  for (int f = 0; f <= 5; ++f)
    for (int64_t extent : {1, 2, 7, 100})
      for (int64_t out : {1, 3, 64, 100})
        for (double lo :
             {0.0, -3.3, 0.4 * static_cast<double>(extent), 2.0 * static_cast<double>(extent)})
          for (double width :
               {1e-3, 0.7, 1.0 * static_cast<double>(extent), 3.0 * static_cast<double>(extent)})
            for (double radius : {0.05, 1.0, 1.27, 2.0, 3.0, 30.0}) {
              auto a = axis(static_cast<Filter>(f), out, lo, lo + width, radius);
              expect_taps<int16_t>(a, extent);
              expect_taps<float>(a, extent);
              std::swap(a.lo, a.hi);
              expect_taps<double>(a, extent);
              a.clamped = true;
              expect_taps<float>(a, extent);
              std::swap(a.lo, a.hi);
              expect_taps<int16_t>(a, extent);
              if (HasFatalFailure()) return;
            }
}
INSTANTIATE_TEST_SUITE_P(Taps, TapTables, ::testing::ValuesIn(test::all_instructions()),
                         [](const auto& p) { return p.param.name(); });

TEST(Taps, TablesHoldTheTapsOfAnySelection) {
  Arena arena;
  const auto a = axis(Filter::kTriangular, 50, 0, 173, 3.46);
  const auto table = tap_table<double>(a, 173, 49, -3, 10, arena);
  EXPECT_EQ(table.count, 10);
  EXPECT_EQ(table.pitch % 2, 0);
  int64_t begin = 173, end = 0;
  for (int64_t i = 0; i < 10; ++i) {
    const Taps t = taps(a, 173, 49 - 3 * i);
    ASSERT_EQ(table.first[i], t.range.begin);
    ASSERT_EQ(table.taps[i], static_cast<int>(t.weights.size()));
    for (int64_t k = 0; k < table.pitch; ++k)
      ASSERT_EQ(table.row(i)[k], k < table.taps[i] ? t.weights[static_cast<size_t>(k)] : 0);
    begin = std::min(begin, t.range.begin);
    end = std::max(end, t.range.end);
  }
  EXPECT_EQ(table.begin, begin);
  EXPECT_EQ(table.end, end);
}

// A hash of thousands of weights: any change of the arithmetic changes it.
TEST(Taps, HaveTheSameBitsEverywhere) {
  uint64_t sum = 0;
  for (int f = 0; f <= 5; ++f)
    for (int64_t o = 0; o < 224; ++o) {
      const Taps t = taps(axis(static_cast<Filter>(f), 224, 3.25, 370.5, 4.92), 375, o);
      for (double w : t.weights) sum = sum * 0x9e3779b97f4a7c15 + __builtin_bit_cast(uint64_t, w);
    }
  EXPECT_EQ(sum, 16731759081602764693u);
}

}  // namespace
}  // namespace stoker
