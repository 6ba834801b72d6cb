// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/elements/mixing.h"

#include <gtest/gtest.h>

#include "kernels/elements/levels_testing.h"

namespace stoker {
namespace {

class MixTest : public AtCpuLevel {};

std::vector<uint8_t> bytes(bool is_first) {
  std::vector<uint8_t> all(1 << 16);
  for (size_t k = 0; k < all.size(); ++k)
    all[k] = static_cast<uint8_t>(is_first ? k >> 8 : k & 255);
  return all;
}

TEST_P(MixTest, BytesAreNearTheExactMixture) {
  std::vector<uint8_t> a = bytes(true), b = bytes(false), out(a.size());
  const Shape shape{256, 256};
  for (const float own : {0.0f, 1.0f, 0.5f, 0.3f, 0.7f, 1e-6f, 0.99999f, 0.123456f}) {
    mix(View::dense(a.data(), DType::kUint8, shape), View::dense(b.data(), DType::kUint8, shape),
        own, View::dense(out.data(), DType::kUint8, shape));
    const Mix<uint8_t> one(own);
    for (size_t k = 0; k < out.size(); ++k) {
      const double exact = double{own} * a[k] + (1 - double{own}) * b[k];
      ASSERT_LE(std::abs(out[k] - exact), 0.51) << own << ' ' << int{a[k]} << ' ' << int{b[k]};
      ASSERT_EQ(out[k], one(a[k], b[k]));  // as devices mix
    }
  }
}

TEST_P(MixTest, EqualValuesStay) {
  std::vector<uint8_t> a = bytes(true), out(a.size());
  const View in = View::dense(a.data(), DType::kUint8, {1 << 16});
  mix(in, in, 0.37f, View::dense(out.data(), DType::kUint8, {1 << 16}));
  EXPECT_EQ(out, a);
}

TEST_P(MixTest, FloatsAreRoundedOnce) {
  std::vector<float> a = {0, 1, -2.5f, 0x1p100f}, b = {1, 0, 4, -0x1p100f}, out(4);
  mix(View::dense(a.data(), DType::kFloat32, {4}), View::dense(b.data(), DType::kFloat32, {4}),
      0.25f, View::dense(out.data(), DType::kFloat32, {4}));
  EXPECT_EQ(out, (std::vector<float>{0.75f, 0.25f, 2.375f, -0x1p99f}));
}

INSTANTIATE_TEST_SUITE_P(Levels, MixTest, testing::ValuesIn(kCpuLevels), level_name);

}  // namespace
}  // namespace stoker
