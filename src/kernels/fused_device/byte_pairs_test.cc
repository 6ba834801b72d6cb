// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/fused_device/byte_pairs.h"

#include <gtest/gtest.h>

#include <iterator>

namespace stoker {
namespace {

constexpr int32_t kWeights[] = {-32768, -32767, -1, 0, 1, 255, 16384, 32767};
constexpr uint8_t kBytes[] = {0, 1, 127, 128, 254, 255};
constexpr int32_t kSums[] = {INT32_MIN, -1, 0, 1, INT32_MAX};

uint32_t pair_of(int32_t first, int32_t second) {
  return static_cast<uint32_t>(static_cast<uint16_t>(second)) << 16 | static_cast<uint16_t>(first);
}
uint64_t eight_of(const uint8_t (&bytes)[8]) {
  uint64_t v = 0;
  for (int k = 8; k-- > 0;) v = v << 8 | bytes[k];
  return v;
}
int32_t naive(int32_t sum, int32_t w0, int32_t w1, uint8_t a, uint8_t b) {
  return static_cast<int32_t>(
      static_cast<uint32_t>(int64_t{sum} + int64_t{w0} * a + int64_t{w1} * b));
}

// Each column has other bytes, so that confused columns show.
TEST(BytePairs, AllCornersInEveryColumn) {
  constexpr size_t kCount = std::size(kBytes);
  for (const int32_t w0 : kWeights)
    for (const int32_t w1 : kWeights)
      for (const int32_t start : kSums)
        for (size_t i = 0; i < kCount * kCount; ++i) {
          uint8_t a[8], b[8];
          int32_t sum[8];
          for (size_t k = 0; k < 8; ++k) {
            a[k] = kBytes[(i + k) % kCount];
            b[k] = kBytes[(i / kCount + 2 * k + k / 3) % kCount];
            sum[k] = start;
          }
          add_two_rows(sum, pair_of(w0, w1), eight_of(a), eight_of(b));
          for (size_t k = 0; k < 8; ++k)
            ASSERT_EQ(sum[k], naive(start, w0, w1, a[k], b[k])) << w0 << " " << w1 << " " << k;
        }
}

}  // namespace
}  // namespace stoker
