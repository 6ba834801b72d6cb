// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/exif.h"

#include <gtest/gtest.h>

#include <random>

#include "codec/jpeg/maker_testing.h"

namespace stoker {
namespace {

std::vector<uint8_t> tiff(int orientation, bool little) {
  const auto s = test::exif_segment(orientation, little);
  return {s.begin() + 6, s.end()};
}

TEST(Exif, FindsTheOrientationInBothByteOrders) {
  for (const bool little : {false, true}) {
    for (int o = 1; o <= 8; ++o) EXPECT_EQ(exif_orientation(tiff(o, little)), o);
    for (const int o : {0, 9, 256, 65535}) EXPECT_EQ(exif_orientation(tiff(o, little)), 1);
  }
}

TEST(Exif, TakesWhatIsThereOfACutStructure) {
  const auto whole = tiff(6, true);
  for (size_t n = 0; n <= whole.size(); ++n) {
    // A copy of its own, so that the address sanitizer sees a read behind it. The value ends 6
    // bytes before the end.
    const std::vector<uint8_t> cut(whole.begin(), whole.begin() + static_cast<long>(n));
    EXPECT_EQ(exif_orientation(cut), n >= whole.size() - 6 ? 6 : 1) << n;
  }
}

TEST(Exif, BearsAnyBytes) {
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    auto t = tiff(1 + static_cast<int>(random() % 8), random() % 2);
    for (int k = 0; k < 3; ++k) t[random() % t.size()] = static_cast<uint8_t>(random());
    const int o = exif_orientation(t);
    EXPECT_TRUE(o >= 1 && o <= 8);
  }
}

}  // namespace
}  // namespace stoker
