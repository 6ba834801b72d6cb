// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Damage and odd sizes. tests/pipelines/test_orientation.py compares orientations with Pillow's.
#include "codec/exif.h"

#include <gtest/gtest.h>

#include <random>

#include "codec/jpeg/maker_testing.h"

namespace stoker {
namespace {

using Bytes = std::vector<uint8_t>;

// A copy of its own, so that the address sanitizer sees a read behind it.
int orientation_of(const Bytes& segment) {
  const std::unique_ptr<uint8_t[]> copy(new uint8_t[segment.size()]);
  std::copy(segment.begin(), segment.end(), copy.get());
  Exif exif;
  exif.add({copy.get(), segment.size()});
  return exif.orientation();
}

TEST(Exif, FindsTheOrientationInBothByteOrders) {
  for (const bool little : {false, true}) {
    for (int o = 1; o <= 8; ++o) EXPECT_EQ(orientation_of(test::exif_segment(o, little)), o);
    for (const int o : {0, 9, 256, 65535})
      EXPECT_EQ(orientation_of(test::exif_segment(o, little)), 1);
  }
}

TEST(Exif, TakesWhatIsThereOfACutStructure) {
  const Bytes whole = test::exif_segment(6, true);
  for (size_t n = 0; n <= whole.size(); ++n) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<long>(n));
    EXPECT_EQ(orientation_of(cut), n >= whole.size() - 4 ? 6 : 1) << n;
  }
}

TEST(Exif, JoinsItsSegments) {
  const Bytes whole = test::exif_segment(6, false);
  for (size_t cut = 6; cut <= whole.size(); ++cut) {
    Bytes first(whole.begin(), whole.begin() + static_cast<long>(cut)),
        second = {'E', 'x', 'i', 'f', 0, 0};
    second.insert(second.end(), whole.begin() + static_cast<long>(cut), whole.end());
    Exif exif;
    exif.add(first);
    exif.add(second);
    EXPECT_EQ(exif.orientation(), 6) << cut;
  }
}

TEST(Exif, TakesXmpAsAttributesAndElements) {
  const auto by_xmp = [](std::string_view xmp) {
    Exif exif;
    exif.add_xmp(xmp);
    return exif.orientation();
  };
  EXPECT_EQ(by_xmp("<x tiff:Orientation=\"6\"/>"), 6);
  EXPECT_EQ(by_xmp("<tiff:Orientation>8</tiff:Orientation>"), 8);
  EXPECT_EQ(by_xmp("tiff:Orientation tiff:Orientation=\"3\""), 3);
  for (const char* none : {"", "tiff:Orientation", "tiff:Orientation>", "<tiff:Orientation>x",
                           "tiff:Orientation=\"9\"", "tiff:Orientation='6'"})
    EXPECT_EQ(by_xmp(none), 1) << none;
}

TEST(Exif, BearsAnyBytes) {
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    Bytes t = test::exif_segment(1 + static_cast<int>(random() % 8), random() % 2);
    for (int k = 0; k < 3; ++k) t[6 + random() % (t.size() - 6)] = static_cast<uint8_t>(random());
    t.resize(6 + random() % (t.size() - 5));
    const int o = orientation_of(t);
    EXPECT_TRUE(o >= 1 && o <= 8);
  }
}

}  // namespace
}  // namespace stoker
