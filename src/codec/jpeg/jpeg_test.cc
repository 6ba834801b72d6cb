// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>

#include "codec/color.h"
#include "codec/jpeg/maker_testing.h"
#include "codec/testing.h"

namespace stoker {
namespace {

using test::decode;
using test::File;
using test::JpegKind;
using test::make_jpeg;
using test::pick;
using test::shape_of;

DecodeOptions as(ImageType type) {
  DecodeOptions o;
  o.output_type = type;
  return o;
}

TEST(JpegColor, EveryOutputTypeOfColourAndGray) {
  for (const J_COLOR_SPACE stored : {JCS_YCbCr, JCS_RGB, JCS_GRAYSCALE}) {
    const File f = make_jpeg({.stored = stored});
    const File rgb = test::plain_decode(f, JCS_RGB);
    EXPECT_EQ(decode(f), rgb);
    EXPECT_EQ(decode(f, as(ImageType::kAny)),
              stored == JCS_GRAYSCALE ? test::plain_decode(f, JCS_GRAYSCALE) : rgb);
    const File bgr = decode(f, as(ImageType::kBGR)), ycc = decode(f, as(ImageType::kYCbCr)),
               gray = decode(f, as(ImageType::kGray));
    ASSERT_EQ(3 * gray.size(), rgb.size());
    if (stored != JCS_RGB) {
      EXPECT_EQ(gray, test::plain_decode(f, JCS_GRAYSCALE));
    }
    for (size_t i = 0; i < rgb.size(); i += 3) {
      ASSERT_EQ((Pixel3{bgr[i], bgr[i + 1], bgr[i + 2]}), (Pixel3{rgb[i + 2], rgb[i + 1], rgb[i]}));
      ASSERT_EQ((Pixel3{ycc[i], ycc[i + 1], ycc[i + 2]}),
                ycbcr_of_rgb(rgb[i], rgb[i + 1], rgb[i + 2]));
      if (stored == JCS_RGB) {
        ASSERT_EQ(gray[i / 3], luma(rgb[i], rgb[i + 1], rgb[i + 2]));
      }
    }
  }
}

TEST(JpegColor, EveryOutputTypeOfCmyk) {
  for (const J_COLOR_SPACE stored : {JCS_CMYK, JCS_YCCK}) {
    const File f = make_jpeg({.stored = stored});
    const File inverted = test::plain_decode(f, JCS_CMYK);
    const File ink = decode(f, as(ImageType::kAny)), rgb = decode(f),
               bgr = decode(f, as(ImageType::kBGR)), ycc = decode(f, as(ImageType::kYCbCr)),
               gray = decode(f, as(ImageType::kGray));
    ASSERT_EQ(ink.size(), inverted.size());
    ASSERT_EQ(4 * gray.size(), inverted.size());
    for (size_t p = 0; p < gray.size(); ++p) {
      const uint8_t* v = &inverted[4 * p];
      for (int c = 0; c < 4; ++c) ASSERT_EQ(ink[4 * p + c], 255 - v[c]);
      const Pixel3 want = rgb_of_inverted_cmyk(v[0], v[1], v[2], v[3]);
      ASSERT_EQ((Pixel3{rgb[3 * p], rgb[3 * p + 1], rgb[3 * p + 2]}), want);
      ASSERT_EQ((Pixel3{bgr[3 * p], bgr[3 * p + 1], bgr[3 * p + 2]}),
                (Pixel3{want.c, want.b, want.a}));
      ASSERT_EQ((Pixel3{ycc[3 * p], ycc[3 * p + 1], ycc[3 * p + 2]}),
                ycbcr_of_rgb(want.a, want.b, want.c));
      ASSERT_EQ(gray[p], luma(want.a, want.b, want.c));
    }
  }
}

TEST(JpegColor, TwoComponentsAreKeptOrRefused) {
  const File f = make_jpeg({.stored = JCS_UNKNOWN});
  EXPECT_EQ(decode(f, as(ImageType::kAny)), test::plain_decode(f, JCS_UNKNOWN));
  EXPECT_THROW(peek(f, {}), SampleError);
}

// The header is not read again: a file that was changed since peek() is decoded as that found it.
TEST(JpegOrientation, IsTheOneThatPeekFound) {
  File f = make_jpeg({.orientation = 3});
  DecodeOptions as_stored;
  as_stored.adjust_orientation = false;
  const File upright = decode(f, as_stored);
  const EncodedImage image = peek(f, {});
  const File exif = test::exif_segment(3, true), other = test::exif_segment(1, true);
  std::copy(other.begin(), other.end(), std::search(f.begin(), f.end(), exif.begin(), exif.end()));
  EXPECT_EQ(decode(f), upright);
  File out(upright.size());
  Arena scratch;
  const View view = View::dense(out.data(), DType::kUint8, image.type().shape, "HWC");
  image.codec->decode(image, view, view.covers(), scratch);
  EXPECT_NE(out, upright);
}

TEST(JpegOrientation, PeekTellsTheDisplayedSize) {
  const File f = make_jpeg({.width = 40, .height = 30, .orientation = 6});
  const ImageInfo shown = peek(f, {}).info;
  EXPECT_EQ(shown.height, 40);
  EXPECT_EQ(shown.width, 30);
  EXPECT_EQ(shown.stored_height, 30);
  EXPECT_EQ(shown.stored_width, 40);
  EXPECT_EQ(shown.orientation, 6);
  EXPECT_EQ(shown.channels, 3);
  EXPECT_STREQ(shown.format, "JPEG");
  DecodeOptions as_stored;
  as_stored.adjust_orientation = false;
  EXPECT_EQ(peek(f, as_stored).info.height, 30);
  EXPECT_EQ(peek(f, as_stored).info.orientation, 6);
}

TEST(JpegOrientation, WindowsAreInDisplayedCoordinates) {
  std::mt19937 random(3);
  constexpr int kH = 37, kW = 53;
  for (const J_COLOR_SPACE stored : {JCS_YCbCr, JCS_GRAYSCALE, JCS_CMYK})
    for (int o = 1; o <= 8; ++o) {
      JpegKind kind{.width = kW, .height = kH, .stored = stored, .orientation = o};
      if (stored == JCS_YCbCr) kind.sampling = test::k420;
      const File f = make_jpeg(kind);
      DecodeOptions options = as(ImageType::kAny);
      const Shape full = shape_of(f, options);
      const int64_t channels = full[2];
      options.adjust_orientation = false;
      const File upright = decode(f, options);
      options.adjust_orientation = true;
      auto pixel = [&](int64_t y, int64_t x) {  // in displayed coordinates
        const int64_t a = o == 1 || o == 2   ? y
                          : o == 3 || o == 4 ? kH - 1 - y
                          : o == 5 || o == 8 ? x
                                             : kH - 1 - x;
        const int64_t b = o == 1 || o == 4   ? x
                          : o == 2 || o == 3 ? kW - 1 - x
                          : o == 5 || o == 6 ? y
                                             : kW - 1 - y;
        return &upright[static_cast<size_t>((a * kW + b) * channels)];
      };
      for (int i = 0; i < 20; ++i) {
        Window w{{pick(random, full[0]), pick(random, full[1]), 0}, full};
        w.end[0] = w.begin[0] + 1 + pick(random, full[0] - w.begin[0]);
        w.end[1] = w.begin[1] + 1 + pick(random, full[1] - w.begin[1]);
        const File got = decode(f, options, w);
        const uint8_t* p = got.data();
        for (int64_t y = w.begin[0]; y < w.end[0]; ++y)
          for (int64_t x = w.begin[1]; x < w.end[1]; ++x, p += channels)
            ASSERT_TRUE(std::equal(p, p + channels, pixel(y, x)))
                << "orientation " << o << " at " << y << ", " << x;
      }
    }
}

TEST(JpegView, AnyStrides) {
  const File f = make_jpeg({.sampling = test::k420, .orientation = 1});
  const Shape full = shape_of(f);
  const File want = decode(f);
  const int64_t h = full[0], w = full[1];
  constexpr int64_t kPad = 5;
  const Shape kStrides[] = {
      {w, 1, h * w},                          // planes
      {(w + kPad) * 3, 3, 1},                 // rows with space between
      {-w * 3, 3, 1},                         // bottom up
      {w * 3, 3, -1},                         // channels the other way
      {3, 3 * h, 1},                          // columns first
      {w * 8, 8, 2},                          // holes
  };
  for (const Shape& strides : kStrides) {
    File memory(static_cast<size_t>(4 * h * (w + kPad) * 8), 0xA5);
    View out = View::dense(memory.data() + memory.size() / 2, DType::kUint8, full, "HWC");
    out.strides = strides;
    Arena scratch;
    const EncodedImage image = peek(f, {});
    image.codec->decode(image, out, Window::all(full), scratch);
    size_t touched = 0;
    for (int64_t y = 0; y < h; ++y)
      for (int64_t x = 0; x < w; ++x)
        for (int64_t c = 0; c < 3; ++c, ++touched) {
          uint8_t& got = out.as<uint8_t>()[y * strides[0] + x * strides[1] + c * strides[2]];
          ASSERT_EQ(got, want[touched]) << strides.str();
          got = 0xA5;
        }
    EXPECT_EQ(static_cast<size_t>(std::count(memory.begin(), memory.end(), 0xA5)), memory.size())
        << strides.str();
  }
}

TEST(JpegView, OfAnotherPictureIsRefused) {
  const File f = make_jpeg({});
  File out(100000);
  Arena scratch;
  const EncodedImage image = peek(f, {});
  for (const View& v :
       {View::dense(out.data(), DType::kUint8, {20, 33, 3}),
        View::dense(out.data(), DType::kUint8, {21, 33, 1}),
        View::dense(out.data(), DType::kInt8, {21, 33, 3}),
        View::window(out.data(), DType::kUint8, {{0, 30, 0}, {21, 34, 3}}, {21, 33, 3}),
        View::window(out.data(), DType::kUint8, {{0, 0, 1}, {21, 33, 3}}, {21, 33, 3})})
    EXPECT_THROW(image.codec->decode(image, v, v.covers(), scratch), SampleError);
}

TEST(JpegThreads, DoNotMeet) {
  const File a = make_jpeg({.sampling = test::k420, .seed = 1}),
             b = make_jpeg({.progressive = true, .seed = 2});
  const File bad = test::cut(a, a.size() / 2);
  const File want_a = decode(a), want_b = decode(b);
  std::vector<int> wrong(4);
  std::vector<std::thread> threads;
  threads.reserve(wrong.size());
  for (size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        wrong[t] += decode(a) != want_a;
        wrong[t] += test::refusal(bad).what == "no error";
        wrong[t] += decode(b) != want_b;
      }
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(wrong, std::vector<int>(4));
}

}  // namespace
}  // namespace stoker
