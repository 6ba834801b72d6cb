// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A window of a JPEG is, bit for bit, that part of the whole picture.
#include <gtest/gtest.h>

#include <random>

#include "codec/jpeg/maker_testing.h"
#include "codec/testing.h"

namespace stoker {
namespace {

using test::crop;
using test::JpegKind;
using test::make_jpeg;
using test::Sampling;

constexpr uint8_t kCanary = 0xA5;
constexpr size_t kGuard = 64;

// Decodes a window into memory with guards around it and `room` spare bytes between the rows.
std::vector<uint8_t> decode(const std::vector<uint8_t>& jpeg, const DecodeOptions& options,
                            const Window& w, const Shape& full, int64_t room = 0,
                            bool is_fast = false) {
  View view = View::window(nullptr, DType::kUint8, w, full, "HWC");
  const int64_t row = view.strides[0];
  view.strides[0] += room;
  const size_t size = static_cast<size_t>(room + view.shape[0] * view.strides[0]);
  std::vector<uint8_t> memory(size + 2 * kGuard, kCanary), pixels;
  view.data = memory.data() + kGuard + room;
  Arena scratch;
  EncodedImage image = peek(jpeg, options);
  image.jpeg.use_fast_idct = is_fast;
  image.codec->decode(image, view, w, scratch, room);
  for (size_t i = 0; i < kGuard; ++i) {
    EXPECT_EQ(memory[i], kCanary);
    EXPECT_EQ(memory[kGuard + size + i], kCanary);
  }
  for (int64_t y = 0; y < view.shape[0]; ++y) {
    const uint8_t* at = view.as<uint8_t>() + y * view.strides[0];
    pixels.insert(pixels.end(), at, at + row);
  }
  return pixels;
}

constexpr Sampling kColor[] = {
    {},  // 4:4:4
    {{2, 1, 1, 1}, {1, 1, 1, 1}},  // 4:2:2
    {{1, 1, 1, 1}, {2, 1, 1, 1}},  // 4:4:0
    {{2, 1, 1, 1}, {2, 1, 1, 1}},  // 4:2:0
    {{4, 1, 1, 1}, {1, 1, 1, 1}},  // 4:1:1
    {{4, 1, 1, 1}, {2, 1, 1, 1}},  // 4:1:0
    {{1, 1, 1, 1}, {4, 1, 1, 1}},  // upright 4:1:1
    {{3, 1, 1, 1}, {1, 1, 1, 1}},
    {{3, 1, 1, 1}, {2, 1, 1, 1}},
    {{2, 2, 1, 1}, {2, 1, 2, 1}},  // each component differs
    {{1, 2, 2, 1}, {1, 2, 2, 1}},  // luma is the small one
    {{2, 1, 2, 1}, {1, 1, 1, 1}},
    {{2, 2, 2, 1}, {1, 1, 1, 1}},  // the same factor for all
    {{1, 1, 1, 1}, {2, 2, 1, 1}},
};
constexpr Sampling kFour[] = {
    {}, {{2, 1, 1, 2}, {2, 1, 1, 2}}, {{2, 1, 1, 2}, {1, 1, 1, 1}}, {{1, 1, 1, 1}, {2, 1, 1, 2}}};

JpegKind random_kind(std::mt19937& random, unsigned seed) {
  constexpr J_COLOR_SPACE kStored[] = {JCS_YCbCr,     JCS_YCbCr, JCS_YCbCr, JCS_RGB,
                                       JCS_GRAYSCALE, JCS_CMYK,  JCS_YCCK};
  JpegKind k;
  k.seed = seed;
  k.stored = kStored[random() % std::size(kStored)];
  const int channels = test::channels_of(k.stored);
  if (channels == 3) k.sampling = kColor[random() % std::size(kColor)];
  if (channels == 4) k.sampling = kFour[random() % std::size(kFour)];
  if (channels == 1) k.sampling.h[0] = k.sampling.v[0] = 1 + random() % 2;
  const int largest = random() % 4 == 0 ? 9 : 130;
  k.width = 1 + random() % largest;
  k.height = 1 + random() % largest;
  k.quality = 20 + random() % 80;
  k.progressive = random() % 3 == 0;
  k.arithmetic = random() % 6 == 0;
  k.separate_scans = random() % 6 == 0;
  k.restart_interval = random() % 3 == 0 ? 1 + random() % 20 : 0;
  return k;
}

// Makes edges as likely as the middle.
void random_range(std::mt19937& random, int64_t full, int64_t& begin, int64_t& end) {
  begin = random() % full;
  end = begin + 1 + random() % (full - begin);
  if (random() % 4 == 0) begin = 0;
  if (random() % 4 == 0) end = full;
  if (random() % 8 == 0) end = begin + 1;
}

TEST(JpegWindow, IsThatPartOfTheWhole) {
  std::mt19937 random(20240917);
  constexpr int kFiles = 500, kWindows = 8;
  for (unsigned file = 0; file < kFiles; ++file) {
    const JpegKind kind = random_kind(random, file);
    SCOPED_TRACE(kind.str());
    const auto jpeg = make_jpeg(kind);
    DecodeOptions options;
    constexpr ImageType kTypes[] = {ImageType::kRGB, ImageType::kRGB,  ImageType::kRGB,
                                    ImageType::kBGR, ImageType::kGray, ImageType::kYCbCr,
                                    ImageType::kAny};
    options.output_type = kTypes[random() % std::size(kTypes)];
    const bool is_fast = random() % 8 == 0;
    const Shape full = peek(jpeg, options).type().shape;
    ASSERT_EQ(full, (Shape{kind.height, kind.width, full[2]}));
    const auto whole = decode(jpeg, options, Window::all(full), full, 0, is_fast);
    if (options.output_type == ImageType::kRGB && test::channels_of(kind.stored) != 4) {
      ASSERT_EQ(whole, test::plain_decode(jpeg, JCS_RGB, is_fast));
    }
    for (int i = 0; i < kWindows; ++i) {
      Window w = Window::all(full);
      random_range(random, full[0], w.begin[0], w.end[0]);
      random_range(random, full[1], w.begin[1], w.end[1]);
      SCOPED_TRACE("window " + w.begin.str() + " to " + w.end.str());
      options.verify = random() % 4 == 0;
      constexpr int64_t kRooms[] = {0, 7, 24, 128};
      const int64_t room = kRooms[random() % std::size(kRooms)];
      ASSERT_EQ(decode(jpeg, options, w, full, room, is_fast), crop(whole, full, w))
          << "room " << room;
    }
  }
}

TEST(JpegWindow, IsThatPartOfTheWholeAtEveryPosition) {
  for (const Sampling& sampling : kColor)
    for (const bool progressive : {false, true}) {
      const JpegKind kind{
          .width = 67, .height = 67, .sampling = sampling, .progressive = progressive};
      SCOPED_TRACE(kind.str());
      const auto jpeg = make_jpeg(kind);
      const Shape full{67, 67, 3};
      const auto whole = test::plain_decode(jpeg, JCS_RGB);
      for (int64_t at = 0; at < 67; ++at) {
        const Window w{{at, 66 - at, 0},
                       {std::min<int64_t>(at + 3, 67), std::min<int64_t>(66 - at + 2, 67), 3}};
        SCOPED_TRACE("window " + w.begin.str() + " to " + w.end.str());
        for (const int64_t room : {0, 128})
          ASSERT_EQ(decode(jpeg, {}, w, full, room), crop(whole, full, w)) << "room " << room;
      }
    }
}

// libjpeg smooths block borders while coefficients are missing, as in a cut progressive file.
TEST(JpegWindow, IsThatPartOfTheWholeWhereBlocksAreSmoothed) {
  for (const Sampling& sampling : {kColor[0], kColor[3]}) {
    const auto jpeg =
        make_jpeg({.width = 95, .height = 83, .sampling = sampling, .progressive = true});
    int cuts = 0;
    for (size_t cut = jpeg.size() / 8; cut < jpeg.size() - 2; cut += jpeg.size() / 8, ++cuts) {
      auto damaged = jpeg;
      damaged.resize(cut);
      DecodeOptions options;
      options.tolerate_corrupt = true;
      const Shape full{83, 95, 3};
      const auto whole = decode(damaged, options, Window::all(full), full);
      ASSERT_EQ(whole, test::plain_decode(damaged, JCS_RGB));
      for (const Window& w : {Window{{0, 0, 0}, {20, 20, 3}}, Window{{16, 32, 0}, {40, 64, 3}},
                              Window{{60, 70, 0}, {83, 95, 3}}})
        ASSERT_EQ(decode(damaged, options, w, full), crop(whole, full, w)) << "cut at " << cut;
      EXPECT_THROW(decode(damaged, {}, Window::all(full), full), SampleError);
    }
    EXPECT_GE(cuts, 6);
  }
}

TEST(JpegWindow, OfNothingTouchesNothing) {
  const auto jpeg = make_jpeg({.width = 20, .height = 10});
  const Window none{{10, 20, 0}, {10, 20, 3}};
  EXPECT_TRUE(decode(jpeg, {}, none, {10, 20, 3}).empty());
}

}  // namespace
}  // namespace stoker
