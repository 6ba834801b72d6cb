// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "base/exact_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace stoker {
namespace {

using exact::detail::bits_of;
using exact::detail::from_bits;

// The distance in the last place. Doubles of one sign lie in the order of their bits.
int64_t ulps(double a, double b) {
  const auto order = [](double x) {
    const auto b = static_cast<int64_t>(bits_of(x));
    return b < 0 ? std::numeric_limits<int64_t>::min() - b : b;
  };
  return std::abs(order(a) - order(b));
}

template <class Mine, class Libm>
int64_t worst(Mine mine, Libm libm, double lo, double hi, int steps = 100000) {
  int64_t most = 0;
  for (int i = 0; i <= steps; ++i) {
    const double x = lo + (hi - lo) * i / steps;
    most = std::max(most, ulps(mine(x), libm(x)));
  }
  return most;
}
double libm_exp(double x) { return std::exp(x); }
double libm_log(double x) { return std::log(x); }
double libm_sin(double x) { return std::sin(x); }
double libm_cos(double x) { return std::cos(x); }

TEST(ExactMath, IsWithinFourUlpOfLibm) {
  EXPECT_LE(worst(exact::exp, libm_exp, -1, 1), 4);
  EXPECT_LE(worst(exact::exp, libm_exp, -745, 709.7), 4);
  EXPECT_LE(worst(exact::log, libm_log, 1e-300, 1e-200), 4);
  EXPECT_LE(worst(exact::log, libm_log, 1e-6, 3), 4);
  EXPECT_LE(worst(exact::log, libm_log, 0.999, 1.001), 4);
  EXPECT_LE(worst(exact::log, libm_log, 1, 1e308), 4);
  for (double range : {1e-3, 7.0, 1e4, 1e8}) {
    EXPECT_LE(worst(exact::sin, libm_sin, -range, range), 4) << range;
    EXPECT_LE(worst(exact::cos, libm_cos, -range, range), 4) << range;
  }
}

TEST(ExactMath, LosesNothingNextToMultiplesOfARightAngle) {
  for (int k = 1; k < 60000000; k = k * 3 / 2 + 1) {
    const double x = k * 1.5707963267948966;
    EXPECT_LE(ulps(exact::sin(x), std::sin(x)), 4) << k;
    EXPECT_LE(ulps(exact::cos(x), std::cos(x)), 4) << k;
  }
}

TEST(ExactMath, PartsOfATurnAreAngles) {
  for (uint64_t part = 0; part < uint64_t{1} << 32; part += 65537 * 7) {
    const double angle = static_cast<double>(part) * 0x1p-32 * 6.283185307179586;
    const exact::SinCos wave = exact::sin_cos_of_turn(static_cast<uint32_t>(part));
    EXPECT_NEAR(wave.sin, std::sin(angle), 1e-15) << part;
    EXPECT_NEAR(wave.cos, std::cos(angle), 1e-15) << part;
  }
  for (const uint32_t quarter : {0u, 1u, 2u, 3u}) {
    const exact::SinCos wave = exact::sin_cos_of_turn(quarter << 30);
    EXPECT_EQ(wave.sin, quarter == 1 ? 1 : quarter == 3 ? -1 : 0);
    EXPECT_EQ(wave.cos, quarter == 0 ? 1 : quarter == 2 ? -1 : 0);
  }
}

TEST(ExactMath, SmallAnglesHaveTheSameWaves) {
  for (int k = 0; k <= 30'000; ++k) {
    const double x = 0.75 * k / 30'000;
    const exact::SinCos wave = exact::sin_cos_of_small(x);
    EXPECT_EQ(bits_of(wave.sin), bits_of(exact::sin(x))) << x;
    EXPECT_EQ(bits_of(wave.cos), bits_of(exact::cos(x))) << x;
  }
}

TEST(ExactMath, EdgesAreDefined) {
  const double inf = std::numeric_limits<double>::infinity(),
               nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(exact::exp(0), 1);
  EXPECT_EQ(exact::exp(inf), inf);
  EXPECT_EQ(exact::exp(-inf), 0);
  EXPECT_EQ(exact::exp(710), inf);
  EXPECT_EQ(exact::exp(-746), 0);
  EXPECT_EQ(exact::log(1), 0);
  EXPECT_EQ(exact::log(0), -inf);
  EXPECT_EQ(exact::log(inf), inf);
  EXPECT_LE(ulps(exact::log(5e-324), std::log(5e-324)), 4);
  EXPECT_EQ(exact::sin(0), 0);
  EXPECT_EQ(exact::cos(0), 1);
  EXPECT_EQ(exact::sin(5e-324), 5e-324);
  EXPECT_EQ(bits_of(exact::sin(-0.0)), bits_of(-0.0));
  for (double x : {exact::exp(nan), exact::log(nan), exact::log(-1), exact::sin(nan),
                   exact::cos(inf), exact::sin(1.1e8)})
    EXPECT_EQ(bits_of(x), 0x7ff8000000000000u);
}

// Every compiler, CPU and device must give these bits.
TEST(ExactMath, GoldenBits) {
  const struct {
    double x;
    uint64_t exp, log, sin, cos;  // log of |x|
  } golden[] = {
      {0.1, 0x3ff1aec7b35a00d4, 0xc0026bb1bbb55515, 0x3fb98eaecb8bcb2c, 0x3fefd712f9a817c1},
      {-2.5, 0x3fb50385c094f425, 0x3fed5240f0e0e078, 0xbfe326af0dcfcab0, 0xbfe9a2f7ef858b7d},
      {100.25, 0x48f8c39b9134bac4, 0x40126e4046808320, 0xbfd1bf00980dc35c, 0x3feebec72ba6b0ec},
      {1e-10, 0x3ff000000006df38, 0xc037069e2aa2aa5b, 0x3ddb7cdfd9d7bdbb, 0x3ff0000000000000},
      {709.7, 0x7fed75ae7a50ee14, 0x401a42660825ce24, 0xbfd2e8dc01eac743, 0x3fee9243306dcd79},
      {-744, 0x0000000000000002, 0x401a72bae291ac29, 0xbfe0edd385d0d316, 0xbfeb27bfbd71e458},
      {0.7, 0x40001c2a61268987, 0xbfd6d3c324e13f50, 0x3fe49d6e694619b8, 0x3fe87996529f9d93},
      {3.14159, 0x4037240068789162, 0x3ff250cf662abf9a, 0x3ec6428a6aa44cd0, 0xbfefffffffff8420},
      {12345.678, 0x7ff0000000000000, 0x4022d79559791e31, 0xbfe687d5890974a5, 0x3fe6b94c3bbe24b8},
  };
  for (const auto& g : golden) {
    EXPECT_EQ(bits_of(exact::exp(g.x)), g.exp) << g.x;
    EXPECT_EQ(bits_of(exact::log(std::abs(g.x))), g.log) << g.x;
    EXPECT_EQ(bits_of(exact::sin(g.x)), g.sin) << g.x;
    EXPECT_EQ(bits_of(exact::cos(g.x)), g.cos) << g.x;
  }
}

// A digest of a hundred thousand results: a single fused product would change it.
TEST(ExactMath, GoldenDigest) {
  uint64_t digest = 0;
  const auto add = [&](double y) {
    digest = (digest ^ bits_of(y)) * 0x100000001b3 + (digest >> 29);
  };
  for (int i = 1; i <= 25000; ++i) {
    add(exact::exp((i - 12500) * 0x1p-5));
    add(exact::log(i * 0x1.8p-9));
    add(exact::sin(i * 0x1.1p-4));
    add(exact::cos(i * 0x1.1p-4));
  }
  EXPECT_EQ(digest, 0xaa75eed4eb665e74u);
}

}  // namespace
}  // namespace stoker
