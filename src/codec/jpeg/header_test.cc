// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/jpeg/header.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/error.h"
#include "codec/jpeg/maker_testing.h"
#include "codec/jpeg/reader.h"

namespace stoker {
namespace {

using File = std::vector<uint8_t>;

size_t find_marker(const File& f, uint8_t marker) {
  const uint8_t m[] = {0xFF, marker};
  return static_cast<size_t>(std::search(f.begin(), f.end(), m, m + 2) - f.begin());
}

std::string header_refusal(const File& f) {
  try {
    read_jpeg_header(f);
  } catch (const SampleError& e) {
    EXPECT_GE(e.offset, 0);
    EXPECT_LE(e.offset, static_cast<int64_t>(f.size()));
    return e.what();
  }
  return "no error";
}

TEST(JpegHeader, TellsSizeComponentsAndOrientation) {
  for (const bool little : {false, true}) {
    const JpegHeader h = read_jpeg_header(
        test::make_jpeg({.width = 300, .height = 20, .orientation = 7, .little_endian = little}));
    EXPECT_EQ(h.width, 300);
    EXPECT_EQ(h.height, 20);
    EXPECT_EQ(h.components, 3);
    EXPECT_EQ(h.orientation, 7);
  }
  EXPECT_EQ(read_jpeg_header(test::make_jpeg({.stored = JCS_GRAYSCALE})).components, 1);
}

// Every mix of the signs that tell colours, with libjpeg's reading of them as oracle.
TEST(JpegHeader, TellsColoursAsLibjpeg) {
  const File jfif = {0xFF, 0xE0, 0, 16, 'J', 'F', 'I', 'F', 0, 1, 1, 0, 0, 1, 0, 1, 0, 0};
  int ycbcr = 0, others = 0;
  for (const J_COLOR_SPACE stored : {JCS_YCbCr, JCS_RGB, JCS_GRAYSCALE, JCS_CMYK})
    for (const char* names : {"\1\2\3\4", "RGB\4", "rgb\4", "\0\1\2\3"})
      for (const bool has_jfif : {false, true})
        for (int transform = -1; transform < 3; ++transform) {
          File f = test::make_jpeg({.stored = stored});
          while (f[3] == 0xE0 || f[3] == 0xEE) f.erase(f.begin() + 2, f.begin() + 4 + f[5]);
          const int components = f[find_marker(f, 0xC0) + 9];
          for (int i = 0; i < components; ++i) {
            f[find_marker(f, 0xC0) + 10 + 3 * i] = static_cast<uint8_t>(names[i]);
            f[find_marker(f, 0xDA) + 5 + 2 * i] = static_cast<uint8_t>(names[i]);
          }
          const File adobe = {0xFF, 0xEE, 0, 14, 'A', 'd', 'o', 'b',
                              'e',  0,    1, 0,  0,   0,   0,   static_cast<uint8_t>(transform)};
          if (transform >= 0) f.insert(f.begin() + 2, adobe.begin(), adobe.end());
          if (has_jfif) f.insert(f.begin() + 2, jfif.begin(), jfif.end());
          JpegReader reader(f, false);
          reader.read_header();
          const bool want = reader.stored_color() == JCS_YCbCr;
          EXPECT_EQ(read_jpeg_header(f).is_ycbcr, want)
              << stored << " " << names << " " << has_jfif << " " << transform;
          ++(want ? ycbcr : others);
        }
  EXPECT_GT(ycbcr, 20);
  EXPECT_GT(others, 20);
}

TEST(JpegHeader, TellsWhetherItIsProgressive) {
  for (const bool progressive : {false, true})
    for (const bool arithmetic : {false, true})
      EXPECT_EQ(
          read_jpeg_header(test::make_jpeg({.progressive = progressive, .arithmetic = arithmetic}))
              .is_progressive,
          progressive);
}

TEST(JpegHeader, TwoFrameHeadersAreRefused) {
  File f = test::make_jpeg({});
  const size_t at = find_marker(f, 0xC0);
  const File frame(f.begin() + static_cast<long>(at), f.begin() + static_cast<long>(at) + 19);
  f.insert(f.begin() + static_cast<long>(at), frame.begin(), frame.end());
  EXPECT_EQ(header_refusal(f), "JPEG header is damaged: it holds two frame headers");
}

TEST(JpegHeader, NeedsNothingBehindTheFrameHeader) {
  File f = test::make_jpeg({.width = 31, .orientation = 3});
  const size_t frame = find_marker(f, 0xC0);
  for (size_t n = 3; n < f.size(); ++n) {
    const File cut(f.begin(), f.begin() + static_cast<long>(n));
    if (n >= frame + 19) {
      EXPECT_EQ(read_jpeg_header(cut).width, 31);
    } else {
      EXPECT_EQ(header_refusal(cut), "JPEG data ends prematurely, within its header") << n;
    }
  }
}

TEST(JpegHeader, PassesOverBytesBetweenSegments) {
  File f = test::make_jpeg({.width = 31});
  const File junk = {1, 2, 0xFF, 0x00, 3, 0xFF, 0xFF};
  f.insert(f.begin() + static_cast<long>(find_marker(f, 0xC0)), junk.begin(), junk.end());
  EXPECT_EQ(read_jpeg_header(f).width, 31);
}

TEST(JpegHeader, NamesWhatIsNotSupported) {
  const File f = test::make_jpeg({});
  const size_t frame = find_marker(f, 0xC0);
  auto with = [&](size_t at, int value) {
    File g = f;
    g[at] = static_cast<uint8_t>(value);
    return header_refusal(g);
  };
  EXPECT_EQ(with(frame + 1, 0xCB), "lossless JPEG (arithmetic coding) is not supported");
  EXPECT_EQ(with(frame + 1, 0xC5), "hierarchical JPEG is not supported");
  EXPECT_EQ(with(frame + 4, 12), "JPEG of 12 bits per sample is not supported, only of 8");
  File lossless = f;
  lossless[frame + 1] = 0xC3;
  EXPECT_TRUE(read_jpeg_header(lossless).is_lossless);
  lossless[frame + 4] = 17;
  EXPECT_EQ(header_refusal(lossless),
            "JPEG of 17 bits per sample is not supported, only of 2 to 16");
  EXPECT_NE(with(frame + 9, 0).find("no error"), 0u);
  EXPECT_NE(with(frame + 6, 0).find("33 x 0 pixels"), std::string::npos);
  EXPECT_NE(with(frame + 1, 0xFE).find("no frame header"), std::string::npos);
}

}  // namespace
}  // namespace stoker
