// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares the inverse transform, on every SIMD target, with the published algorithm in plain C++.
#include "kernels/jpeg/idct.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/rows/rows_testing.h"

namespace stoker {
namespace {

constexpr int kBits = 13;
constexpr int64_t fixed(double v) { return static_cast<int64_t>(v * (1 << kBits) + 0.5); }

// The transform of Loeffler, Ligtenberg and Moschytz, in fixed point with 13 bits. Values are
// `stride` apart, and are rounded to multiples of 2^shift.
void transform(int64_t* v, int stride, int shift) {
  const auto in = [&](int k) { return v[k * stride]; };
  const int64_t turned = (in(2) + in(6)) * fixed(0.541196100);
  const int64_t e2 = turned - in(6) * fixed(1.847759065), e3 = turned + in(2) * fixed(0.765366865);
  const int64_t e0 = (in(0) + in(4)) << kBits, e1 = (in(0) - in(4)) << kBits;
  const int64_t even[4] = {e0 + e3, e1 + e2, e1 - e2, e0 - e3};
  const int64_t z5 = (in(7) + in(3) + in(5) + in(1)) * fixed(1.175875602);
  const int64_t z1 = -(in(7) + in(1)) * fixed(0.899976223);
  const int64_t z2 = -(in(5) + in(3)) * fixed(2.562915447);
  const int64_t z3 = z5 - (in(7) + in(3)) * fixed(1.961570560);
  const int64_t z4 = z5 - (in(5) + in(1)) * fixed(0.390180644);
  const int64_t odd[4] = {
      in(1) * fixed(1.501321110) + z1 + z4, in(3) * fixed(3.072711026) + z2 + z3,
      in(5) * fixed(2.053119869) + z2 + z4, in(7) * fixed(0.298631336) + z1 + z3};
  for (int k = 0; k < 4; ++k) {
    v[k * stride] = (even[k] + odd[k] + (int64_t{1} << (shift - 1))) >> shift;
    v[(7 - k) * stride] = (even[k] - odd[k] + (int64_t{1} << (shift - 1))) >> shift;
  }
}

struct Blocks {
  int64_t count;  // of groups
  std::vector<int16_t> memory;
  uint16_t quanta[64];

  explicit Blocks(int64_t groups) : count(groups) {
    memory.resize(static_cast<size_t>(groups * jpeg::kGroupSize + 32));
  }
  int16_t* groups() {
    const auto address = reinterpret_cast<uintptr_t>(memory.data());
    return memory.data() + (64 - address % 64) % 64 / 2;
  }
  int16_t& at(int64_t block, int k) {
    return groups()[block / 4 * jpeg::kGroupSize + k / 8 * 32 + block % 4 * 8 + k % 8];
  }
  std::vector<uint8_t> want(int64_t stride) {
    std::vector<uint8_t> out(static_cast<size_t>(8 * stride), 77);
    for (int64_t b = 0; b < 4 * count; ++b) {
      int64_t v[64];
      for (int k = 0; k < 64; ++k) v[k] = at(b, k) * quanta[k];
      for (int k = 0; k < 8; ++k) transform(v + k, 8, kBits - 2);
      for (int k = 0; k < 8; ++k) transform(v + 8 * k, 1, kBits + 2 + 3);
      for (int k = 0; k < 64; ++k)
        out[static_cast<size_t>(k / 8 * stride + 8 * b + k % 8)] =
            static_cast<uint8_t>(std::clamp<int64_t>(v[k] + 128, 0, 255));
    }
    return out;
  }
};

class IdctOnTarget : public test::OnTarget {
 protected:
  // Returns whether all values are in the range, and then compares them.
  static bool agrees(Blocks& blocks, const char* what) {
    const int64_t stride = 32 * blocks.count + 5;  // with bytes that nobody may write
    std::vector<uint8_t> out(static_cast<size_t>(8 * stride), 77);
    if (!jpeg::inverse_transform(blocks.groups(), blocks.count, blocks.quanta, out.data(), stride))
      return false;
    EXPECT_EQ(out, blocks.want(stride)) << what;
    return true;
  }
};

TEST_P(IdctOnTarget, AgreesWithThePublishedAlgorithm) {
  for (int64_t count : {1, 2, 5})
    for (const int64_t most : {0, 1, 5, 63})
      for (const int64_t size : {1, 40, 300}) {
        Blocks blocks(count);
        for (uint16_t& q : blocks.quanta) q = static_cast<uint16_t>(pick(1, 3));
        for (int64_t b = 0; b < 4 * count; ++b)
          for (int64_t n = pick(0, most); n >= 0; --n)
            blocks.at(b, static_cast<int>(pick(0, most))) = static_cast<int16_t>(pick(-size, size));
        ASSERT_TRUE(agrees(blocks, "random")) << count << ' ' << most << ' ' << size;
      }
}

TEST_P(IdctOnTarget, TransformsEachCoefficient) {
  for (int k = 0; k < 64; ++k)
    for (const int16_t value : {-1024, -129, 1, 8, 1023}) {
      Blocks blocks(1);
      std::fill(std::begin(blocks.quanta), std::end(blocks.quanta), uint16_t{1});
      for (int b = 0; b < 4; ++b) blocks.at(b, k) = static_cast<int16_t>(value - b);
      ASSERT_TRUE(agrees(blocks, "one coefficient")) << k << ' ' << value;
    }
}

// The largest values that are transformed, and the smallest that are not, in any block.
TEST_P(IdctOnTarget, KnowsItsRange) {
  for (int b = 0; b < 8; ++b)
    for (const int sign : {-1, 1}) {
      Blocks blocks(2);
      std::fill(std::begin(blocks.quanta), std::end(blocks.quanta), uint16_t{3});
      blocks.at(b, 0) = static_cast<int16_t>(sign * 1365);  // 4095, and 4 times that of columns
      EXPECT_TRUE(agrees(blocks, "in the range")) << b;
      blocks.at(b, 0) = static_cast<int16_t>(sign * 1366);
      EXPECT_FALSE(agrees(blocks, "columns are too large")) << b;
      // Coefficients whose sums do not fit, wherever they lie and whatever else is there.
      blocks.at(b, 0) = 0;
      std::fill(std::begin(blocks.quanta), std::end(blocks.quanta), uint16_t{8});
      for (int k = 0; k < 64; ++k) {
        Blocks full = blocks;
        for (int other = k % 8; other < 64; other += 8)
          full.at(b, other) = static_cast<int16_t>(pick(-2048, 2047));
        full.at(b, k) = static_cast<int16_t>(sign * 2048);
        EXPECT_FALSE(agrees(full, "coefficients are too large")) << b << ' ' << k;
      }
    }
}

INSTANTIATE_TEST_SUITE_P(All, IdctOnTarget, ::testing::ValuesIn(test::all_instructions()),
                         [](const auto& p) { return p.param.name(); });

}  // namespace
}  // namespace stoker
