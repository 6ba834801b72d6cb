// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "base/types.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

TEST(DType, FullIntensity) {
  EXPECT_EQ(full_intensity(DType::kUint8), 255);
  EXPECT_EQ(full_intensity(DType::kInt8), 127);
  EXPECT_EQ(full_intensity(DType::kInt16), 32767);
  EXPECT_EQ(full_intensity(DType::kUint64), 0x1p64);  // the nearest double
  EXPECT_EQ(full_intensity(DType::kFloat16), 1);
  EXPECT_EQ(full_intensity(DType::kBool), 1);
}

}  // namespace
}  // namespace stoker
