// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Damaged and hostile JPEG data gives an error that says what is wrong and where, and nothing else.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/foreign_bytes.h"
#include "codec/jpeg/maker_testing.h"
#include "codec/testing.h"

namespace stoker {
namespace {

using test::cut;
using test::decode;
using test::File;
using test::make_jpeg;
using test::Refusal;
using test::refusal;

size_t scan_data(const File& f) {
  const uint8_t sos[] = {0xFF, 0xDA};
  const size_t at = static_cast<size_t>(std::search(f.begin(), f.end(), sos, sos + 2) - f.begin());
  return at + 2 + number_at<uint16_t>(f, at + 2, ByteOrder::kBig);
}

TEST(JpegDamage, PrematureEndIsAnErrorAtItsOffset) {
  for (const bool progressive : {false, true})
    for (const bool arithmetic : {false, true})
      for (const int restart : {0, 5}) {
        const File f = make_jpeg({.width = 120,
                                  .height = 90,
                                  .sampling = test::k420,
                                  .progressive = progressive,
                                  .arithmetic = arithmetic,
                                  .restart_interval = restart});
        for (const double part : {0.999, 0.9, 0.5, 0.3}) {
          const size_t size =
              std::min(static_cast<size_t>(part * static_cast<double>(f.size())), f.size() - 4);
          const Refusal r = refusal(cut(f, size));
          EXPECT_TRUE(r.says("ends prematurely")) << r.what;
          EXPECT_EQ(r.offset, static_cast<int64_t>(size));
          DecodeOptions tolerant;
          tolerant.tolerate_corrupt = true;
          if (size > scan_data(f)) {
            EXPECT_EQ(decode(cut(f, size), tolerant).size(), 120u * 90 * 3);
          }
        }
      }
}

TEST(JpegDamage, AMissingEndMarkerAloneIsHarmless) {
  const File f = make_jpeg({.sampling = test::k420});
  EXPECT_EQ(decode(cut(f, f.size() - 2)), decode(f));
  DecodeOptions verify;
  verify.verify = true;
  EXPECT_EQ(decode(cut(f, f.size() - 2), verify), decode(f));
}

TEST(JpegDamage, OnlyWhatTheWindowNeedsIsJudged) {
  const File f = make_jpeg({.width = 200, .height = 200, .sampling = test::k420});
  const File half = cut(f, f.size() / 2);
  const Window top{{10, 20, 0}, {50, 60, 3}};
  EXPECT_EQ(decode(half, {}, top), decode(f, {}, top));
  DecodeOptions verify;
  verify.verify = true;
  EXPECT_THROW(decode(half, verify, top), SampleError);
  EXPECT_THROW(decode(half, verify, {{0, 0, 0}, {0, 0, 3}}), SampleError);
  EXPECT_NO_THROW(decode(half, {}, {{0, 0, 0}, {0, 0, 3}}));
  EXPECT_EQ(decode(f, verify, top), decode(f, {}, top));
}

TEST(JpegDamage, ALostRestartMarkerIsAnError) {
  File f = make_jpeg({.width = 160, .height = 80, .restart_interval = 4});
  const uint8_t rst1[] = {0xFF, 0xD1};
  const auto at = std::search(f.begin() + static_cast<long>(scan_data(f)), f.end(), rst1, rst1 + 2);
  ASSERT_NE(at, f.end());
  const int64_t offset = at - f.begin();
  *(at + 1) = 0xD4;
  const Refusal r = refusal(f);
  EXPECT_TRUE(r.says("JPEG data is damaged")) << r.what;
  EXPECT_NEAR(r.offset, offset, 64);
  DecodeOptions tolerant;
  tolerant.tolerate_corrupt = true;
  EXPECT_NO_THROW(decode(f, tolerant));
}

TEST(JpegDamage, BytesLeftOverAreJudgedByTheirNumber) {
  const File f = make_jpeg({});
  DecodeOptions verify;
  verify.verify = true;
  auto padded = [&](size_t count) {
    File g = f;
    g.insert(g.end() - 2, count, 0x11);
    return g;
  };
  EXPECT_EQ(decode(padded(8), verify), decode(f));
  EXPECT_TRUE(refusal(padded(40), verify).says("extraneous bytes"));
  EXPECT_TRUE(
      refusal(padded(40)).says("extraneous bytes"));  // a whole picture is judged to its end
  Window top = Window::all(test::shape_of(f, {}));
  top.end[0] = 1;
  EXPECT_NO_THROW(decode(padded(40), {}, top));  // behind all that the window needs
}

TEST(JpegDamage, BytesBetweenHeaderSegmentsAreHarmless) {
  File f = make_jpeg({.orientation = 1});
  const File want = decode(f);
  const uint8_t dqt[] = {0xFF, 0xDB};
  f.insert(std::search(f.begin(), f.end(), dqt, dqt + 2), 100, 0x11);
  EXPECT_EQ(decode(f), want);
}

TEST(JpegDamage, TablesOfAnEarlierImageAreNotUsed) {
  File f = make_jpeg({});
  EXPECT_NO_THROW(decode(f));
  const uint8_t dqt[] = {0xFF, 0xDB};
  for (auto at = f.begin(); (at = std::search(at, f.end(), dqt, dqt + 2)) != f.end();)
    *(at + 1) = 0xFE;
  EXPECT_TRUE(refusal(f).says("uantization table")) << refusal(f).what;
}

TEST(JpegDamage, AnyWrongByteGivesAPictureOrAnError) {
  std::mt19937 random(11);
  int errors = 0;
  for (const bool progressive : {false, true}) {
    const File f = make_jpeg({.sampling = test::k420,
                              .progressive = progressive,
                              .restart_interval = 2,
                              .orientation = 5});
    const File want = decode(f);
    for (size_t at = 0; at < f.size(); ++at) {
      File g = f;
      g[at] ^= static_cast<uint8_t>(1 + random() % 255);
      DecodeOptions o;
      o.max_pixels = 1 << 20;
      o.tolerate_corrupt = random() % 2;
      o.verify = random() % 2;
      try {
        decode(g, o);
      } catch (const SampleError& e) {
        ++errors;
        EXPECT_FALSE(std::string(e.what()).empty());
        EXPECT_LE(e.offset, static_cast<int64_t>(g.size()));
      }
      if (at % 16 == 0) {
        ASSERT_EQ(decode(f), want);
      }
    }
  }
  EXPECT_GT(errors, 100);
}

TEST(JpegLimits, APictureThatClaimsTooMuchIsRefusedAtOnce) {
  File f = make_jpeg({});
  const uint8_t sof[] = {0xFF, 0xC0};
  auto at = std::search(f.begin(), f.end(), sof, sof + 2) + 5;
  for (const int v : {60000 >> 8, 60000 & 255, 60000 >> 8, 60000 & 255})
    *at++ = static_cast<uint8_t>(v);
  try {
    (void)peek(f, {});
    FAIL();
  } catch (const SampleError& e) {
    EXPECT_NE(std::string(e.what()).find("60000 x 60000"), std::string::npos) << e.what();
  }
  DecodeOptions small;
  small.max_pixels = 33 * 21 - 1;
  EXPECT_THROW(peek(make_jpeg({}), small), SampleError);
  small.max_pixels = 33 * 21;
  EXPECT_NO_THROW(peek(make_jpeg({}), small));
}

TEST(JpegLimits, ScansAreCounted) {
  EXPECT_NO_THROW(decode(make_jpeg({.progressive = true, .many_scans = 40})));
  EXPECT_TRUE(
      refusal(make_jpeg({.progressive = true, .many_scans = 60})).says("more than 256 scans"));
}

}  // namespace
}  // namespace stoker
