// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "base/picture_formats.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "base/content.h"

namespace stoker {
namespace {

using std::string_view_literals::operator""sv;

std::span<const uint8_t> as_bytes(std::string_view s) {
  return {reinterpret_cast<const uint8_t*>(s.data()), s.size()};
}

TEST(Beginning, IsAllOfThePattern) {
  constexpr Beginning kPlain{4, "ab\0"sv, ""};
  EXPECT_EQ(kPlain.matched(as_bytes("1234ab\0"sv)), 3u);
  EXPECT_EQ(kPlain.matched(as_bytes("1234ab"sv)), 0u);
  EXPECT_EQ(kPlain.matched(as_bytes("1234abc"sv)), 0u);
  EXPECT_EQ(kPlain.matched(as_bytes("12"sv)), 0u);
  EXPECT_EQ(kPlain.matched({}), 0u);
}

TEST(Beginning, TakesOneByteOfASet) {
  constexpr Beginning kSets{0, "P[1-7][ \t-\r#\xFA-\xFF]"sv, ""};
  for (int digit = 0; digit < 256; ++digit)
    for (int blank = 0; blank < 256; ++blank) {
      const char bytes[] = {'P', static_cast<char>(digit), static_cast<char>(blank)};
      const bool is_right =
          digit >= '1' && digit <= '7' &&
          (blank == ' ' || blank == '#' || (blank >= '\t' && blank <= '\r') || blank >= 0xFA);
      EXPECT_EQ(kSets.matched(as_bytes({bytes, 3})), is_right ? 3u : 0u) << digit << ' ' << blank;
    }
  EXPECT_EQ(kSets.matched(as_bytes("P5")), 0u);
}

TEST(PictureFormats, HaveEndingsOfTheirOwnAndTheirNamesInWords) {
  std::set<std::string_view> endings;
  for (const PictureFormat& f : picture_formats()) {
    EXPECT_FALSE(f.beginnings.empty()) << f.name;
    for (const Beginning& b : f.beginnings)
      EXPECT_NE(std::string_view(b.words).find(f.name), std::string_view::npos) << b.words;
    for (const std::string_view e : f.endings) EXPECT_TRUE(endings.insert(e).second) << e;
  }
  EXPECT_TRUE(endings.contains(".jpg"));
}

TEST(PictureFormats, AreToldApart) {
  EXPECT_TRUE(begins_as("TIFF", as_bytes("MM\0+"sv)));
  EXPECT_FALSE(begins_as("TIFF", as_bytes("MM\0,"sv)));
  EXPECT_FALSE(begins_as("BMP", as_bytes("MM\0+"sv)));
  EXPECT_FALSE(begins_as("no such format", as_bytes("MM\0+"sv)));
}

// A short beginning may be chance, and does not hide a longer one.
TEST(DescribeContent, TakesTheLongestBeginning) {
  std::string tar(512, '\0');
  tar.replace(0, 5, "BMW.x").replace(257, 5, "ustar");
  EXPECT_EQ(describe_content(as_bytes(tar)), "a tar archive");
  EXPECT_EQ(describe_content(as_bytes("BM..ftypavif")), "an AVIF image");
  EXPECT_EQ(describe_content(as_bytes("BM..ftypisom")), "an MP4 or QuickTime file");
  EXPECT_EQ(describe_content(as_bytes("BM..WAVE")), "a BMP image");
  EXPECT_EQ(describe_content(as_bytes("P6 1 1 255\n")), "a PNM image");
  EXPECT_EQ(describe_content(as_bytes("P8 1 1 255")), "text that begins with \"P8 1 1 255\"");
}

}  // namespace
}  // namespace stoker
