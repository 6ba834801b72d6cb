// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// libjpeg takes its memory from the scratch memory, and what that throws passes through libjpeg.
#include "codec/jpeg/memory.h"

#include <gtest/gtest.h>

#include "codec/jpeg/maker_testing.h"
#include "codec/plain_jpeg/decoder.h"
#include "codec/testing.h"

namespace stoker {
namespace {

using test::File;
using test::make_jpeg;

constexpr test::Sampling k411 = {{4, 1, 1, 1}, {1, 1, 1, 1}};

// Decodes the top left pixels. Returns what was needed besides them.
size_t need_of_corner(const File& f, Arena& scratch) {
  const EncodedImage image = peek(f, {});
  uint8_t pixels[3 * 9 * 3];
  const Window w{{0, 0, 0}, {3, 9, 3}};
  image.codec->decode(image, View::window(pixels, DType::kUint8, w, image.type().shape, "HWC"), w,
                      scratch);
  return scratch.need();
}

// 64 coefficients of two bytes for each block. Blocks fill whole units of a component's sampling.
size_t coefficients(const test::JpegKind& k) {
  const int channels = test::channels_of(k.stored);
  int most_h = 1, most_v = 1;
  for (int c = 0; c < channels; ++c) {
    most_h = std::max(most_h, k.sampling.h[c]);
    most_v = std::max(most_v, k.sampling.v[c]);
  }
  const auto units = [](int pixels, int most) { return (pixels + 8 * most - 1) / (8 * most); };
  size_t blocks = 0;
  for (int c = 0; c < channels; ++c)
    blocks += static_cast<size_t>(units(k.width, most_h) * k.sampling.h[c]) *
              static_cast<size_t>(units(k.height, most_v) * k.sampling.v[c]);
  return blocks * 128;
}

// Progressive files that our own decoder would take are given to libjpeg too.
class JpegMemory : public ::testing::Test {
 protected:
  void SetUp() override { leave_plain_jpeg_to_libjpeg(true); }
  void TearDown() override { leave_plain_jpeg_to_libjpeg(false); }
};

TEST_F(JpegMemory, HoldsTheCoefficientsOfPicturesInSeveralPasses) {
  for (const auto& sampling : {test::Sampling{}, test::k420, k411})
    for (const J_COLOR_SPACE stored : {JCS_YCbCr, JCS_GRAYSCALE, JCS_CMYK}) {
      test::JpegKind kind{.width = 803, .height = 601, .stored = stored};
      if (stored == JCS_YCbCr) kind.sampling = sampling;
      Arena scratch;
      const size_t plain = need_of_corner(make_jpeg(kind), scratch);
      EXPECT_LT(plain, size_t{803} * 601 / 2) << kind.str();
      for (const bool progressive : {true, false}) {
        kind.progressive = progressive;
        kind.separate_scans = stored != JCS_GRAYSCALE;
        if (!kind.progressive && !kind.separate_scans) continue;
        scratch.reset();
        const size_t need = need_of_corner(make_jpeg(kind), scratch);
        EXPECT_GE(need, coefficients(kind)) << kind.str();
        EXPECT_LE(need, coefficients(kind) + plain + (64 << 10)) << kind.str();
      }
    }
}

TEST_F(JpegMemory, WhatScratchMemoryThrowsPassesThroughLibjpeg) {
  const test::JpegKind kind{
      .width = 800, .height = 600, .sampling = test::k420, .progressive = true};
  const File f = make_jpeg(kind);
  const size_t enough = coefficients(kind) + (600 << 10);
  Arena fits(SIZE_MAX, enough);
  need_of_corner(f, fits);
  // Each ceiling makes another of libjpeg's requests fail.
  for (size_t ceiling = 0; ceiling < coefficients(kind); ceiling += 4 << 10) {
    Arena scratch(SIZE_MAX, ceiling);
    EXPECT_THROW(need_of_corner(f, scratch), TooLarge) << ceiling;
  }
  Arena shared(coefficients(kind), enough);
  EXPECT_THROW(need_of_corner(f, shared), BeyondShare);
}

}  // namespace
}  // namespace stoker
