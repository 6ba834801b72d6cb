// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Our own decoder is judged by libjpeg-turbo: the same pixels, verdicts and messages for plain
// files with and without damage, none of which may be left to libjpeg-turbo unnoticed.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "codec/jpeg/maker_testing.h"
#include "codec/orientation.h"
#include "codec/plain_jpeg/decoder.h"
#include "codec/plain_jpeg/outcome_testing.h"
#include "codec/plain_jpeg/plain_testing.h"
#include "codec/plain_jpeg/scan_reader.h"
#include "codec/testing.h"
#include "kernels/jpeg/idct.h"

namespace stoker {
namespace {

using test::by_libjpeg;
using test::data_begin;
using test::expect_ours;
using test::extreme_pixels;
using test::File;
using test::is_ours;
using test::JpegKind;
using test::k420;
using test::kPlainSamplings;
using test::make_jpeg;
using test::mutated;
using test::Outcome;
using test::outcome;
using test::plain_kind;
using test::random_options;
using test::random_window;
using test::Sampling;

TEST(PlainJpeg, EveryPlainFileIsOursWithTheBytesOfLibjpeg) {
  std::mt19937 random(61);
  for (unsigned seed = 0; seed < 1500; ++seed) {
    const JpegKind kind = plain_kind(random, seed);
    const File f = make_jpeg(kind);
    const DecodeOptions o = random_options(random);
    const Shape full = test::shape_of(f, o);
    SCOPED_TRACE(kind.str() + " as type " + std::to_string(static_cast<int>(o.output_type)));
    for (int i = 0; i < 4; ++i) {
      const Window w = i == 0 ? Window::all(full) : random_window(random, full);
      ASSERT_TRUE(is_ours(f, o, w));
      const Outcome got = outcome(f, w, w, o), want = by_libjpeg(f, w, w, o);
      ASSERT_EQ(got.error, "");
      ASSERT_TRUE(got.pixels == want.pixels) << "window " << w.begin.str() << " to " << w.end.str();
    }
  }
}

TEST(PlainJpeg, EverySizeIsOurs) {
  for (const Sampling& sampling : kPlainSamplings)
    for (int size = 1; size <= 67; ++size) {
      expect_ours({.width = size, .height = 68 - size, .sampling = sampling});
      if (HasFatalFailure()) return;
    }
}

// Pictures of one colour, noise and steps make blocks of one symbol, full ones, and large values.
TEST(PlainJpeg, EveryPictureIsOurs) {
  std::mt19937 random(62);
  for (int round = 0; round < 60; ++round) {
    JpegKind kind = plain_kind(random, static_cast<unsigned>(round));
    kind.stored = JCS_YCbCr;
    kind.sampling = kPlainSamplings[round % std::size(kPlainSamplings)];
    const std::vector<uint8_t> pixels = extreme_pixels(kind, round, random);
    for (const int quality : {1, 50, 100}) {
      kind.quality = quality;
      expect_ours(kind, &pixels);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(PlainJpeg, OtherKindsAreLeftToLibjpeg) {
  const JpegKind kinds[] = {
      {.arithmetic = true},     {.progressive = true, .arithmetic = true},
      {.separate_scans = true}, {.stored = JCS_CMYK},
      {.stored = JCS_YCCK},
  };
  for (const JpegKind& kind : kinds) {
    const File f = make_jpeg(kind);
    EXPECT_FALSE(is_ours(f, {}, Window::all(test::shape_of(f)))) << kind.str();
  }
  const File f = make_jpeg({});
  EncodedImage image = peek(f, {});
  image.jpeg.use_fast_idct = true;
  File out(static_cast<size_t>(image.type().shape.volume()));
  const Window all = Window::all(image.type().shape);
  Arena scratch;
  EXPECT_FALSE(decode_plain_jpeg(
      image, View::window(out.data(), DType::kUint8, all, image.type().shape, "HWC"), 21, scratch));
}

// The coefficients of a file in natural order, by component and rows of blocks in whole MCUs.
std::vector<int16_t> coefficients_by_libjpeg(const File& f) {
  std::vector<int16_t> all;
  test::take_block_rows(f, [&](const jpeg_decompress_struct& c, int i, JBLOCKROW row) {
    for (JDIMENSION x = 0; x < c.comp_info[i].width_in_blocks; ++x)
      all.insert(all.end(), row[x], row[x] + 64);
  });
  return all;
}

// The same by our reader, which starts once more at a restart marker if there is one.
struct OwnCoefficients {
  PlainFrame frame;
  Arena scratch;
  jpeg::Mcu mcu;
  int64_t groups[3] = {};
  int16_t* planes[3] = {};

  explicit OwnCoefficients(const File& f) : frame(read_plain_frame(f).value()) {}

  std::vector<int16_t> read(const File& f) {
    ScanReader scan(f, frame, scratch);
    for (int c = 0; c < frame.count; ++c) add_component(c, scan);
    scan.start({.offset = frame.data});
    for (int64_t y = 0; y < frame.mcus_down(); ++y) {
      EXPECT_TRUE(scan.read(mcu, 0, frame.mcus_across()));
      int b = 0;
      for (int c = 0; c < frame.count; ++c)
        for (int k = frame.components[c].across * frame.components[c].down; k > 0; --k)
          mcu.blocks[b++].row += frame.components[c].down * groups[c] * jpeg::kGroupSize;
    }
    EXPECT_TRUE(scan.is_at_end());
    return all();
  }

  void add_component(int c, ScanReader& scan) {
    const PlainFrame::Component& of = frame.components[c];
    groups[c] = (frame.mcus_across() * of.across + 3) / 4;
    const int64_t size = groups[c] * frame.mcus_down() * of.down * jpeg::kGroupSize;
    planes[c] = scratch.array<int16_t>(static_cast<size_t>(size));
    std::fill_n(planes[c], size, int16_t{0});
    auto* dc = scratch.array<jpeg::DcTable>(1);
    auto* ac = scratch.array<jpeg::AcTable>(1);
    dc->build(frame.dc_codes[of.dc_code]);
    ac->build(frame.ac_codes[of.ac_code]);
    for (int y = 0; y < of.down; ++y)
      for (int x = 0; x < of.across; ++x)
        mcu.blocks[mcu.count++] = {
            dc, ac, scan.predictor(c), planes[c] + y * groups[c] * jpeg::kGroupSize, of.across, x};
  }

  std::vector<int16_t> all() const {
    std::vector<int16_t> values;
    for (int c = 0; c < frame.count; ++c) {
      const PlainFrame::Component& of = frame.components[c];
      const auto blocks = [](int64_t pixels, int own, int most) {
        return (pixels * own + 8 * most - 1) / (8 * most);
      };
      for (int64_t y = 0; y < blocks(frame.height, of.down, frame.most_down); ++y)
        for (int64_t x = 0; x < blocks(frame.width, of.across, frame.most_across); ++x)
          for (int k = 0; k < 64; ++k)
            values.push_back(planes[c][(y * groups[c] + x / 4) * jpeg::kGroupSize + k / 8 * 32 +
                                       x % 4 * 8 + k % 8]);
    }
    return values;
  }
};

TEST(PlainJpeg, CoefficientsAreThoseOfLibjpeg) {
  std::mt19937 random(63);
  for (unsigned seed = 0; seed < 300; ++seed) {
    JpegKind kind = plain_kind(random, seed);
    // Some data is longer than what is loaded at once.
    if (seed % 50 == 0) kind.width = kind.height = 300, kind.quality = 98;
    const File f = make_jpeg(kind);
    ASSERT_TRUE(OwnCoefficients(f).read(f) == coefficients_by_libjpeg(f)) << kind.str();
  }
}

TEST(PlainJpeg, ReadingBeginsAtAnyPlace) {
  const File f = make_jpeg({.width = 200, .height = 150, .sampling = k420, .restart_interval = 9});
  OwnCoefficients own(f);
  const std::vector<int16_t> want = own.read(f);
  const PlainFrame& frame = own.frame;
  size_t at = frame.data;
  for (int64_t mcu = 9; mcu < frame.mcus_across() * frame.mcus_down(); mcu += 9) {
    while (f[at] != 0xFF || f[at + 1] == 0) ++at;
    at += 2;
    OwnCoefficients rest(f);
    ScanReader scan(f, frame, rest.scratch);
    for (int c = 0; c < frame.count; ++c) rest.add_component(c, scan);
    scan.start({.offset = at, .mcu = mcu});
    const int64_t x = mcu % frame.mcus_across();
    ASSERT_TRUE(scan.read(rest.mcu, x, frame.mcus_across()));
    const int64_t row = mcu / frame.mcus_across() * 2, column = 2 * x;
    const int64_t to = (column / 4) * jpeg::kGroupSize + column % 4 * 8;
    for (int k = 0; k < 64; ++k)
      ASSERT_EQ(rest.planes[0][to + k / 8 * 32 + k % 8],
                own.planes[0][row * own.groups[0] * jpeg::kGroupSize + to + k / 8 * 32 + k % 8]);
  }
}

TEST(PlainJpeg, DamageMeansWhatLibjpegSays) {
  std::mt19937 random(64);
  int good = 0, bad = 0, ours = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    const JpegKind kind = plain_kind(random, seed);
    const File f = make_jpeg(kind);
    for (int damage = 0; damage < 10; ++damage) {
      const auto d = test::damaged(random, f);
      if (!d) continue;
      const auto& [g, o, full] = *d;
      for (int i = 0; i < 3; ++i) {
        const Window judged = i == 0 ? Window::all(full) : random_window(random, full);
        Window made = random_window(random, full);
        made.include(judged);
        const Outcome got = outcome(g, made, judged, o), want = by_libjpeg(g, made, judged, o);
        SCOPED_TRACE(kind.str() + " damage " + std::to_string(damage) + " window " +
                     judged.begin.str() + " to " + judged.end.str());
        ASSERT_EQ(got.error, want.error);
        ASSERT_EQ(got.offset, want.offset);
        ASSERT_TRUE(got.pixels == want.pixels);
        ++(got.error.empty() ? good : bad);
        ours += is_ours(g, o, judged);
      }
    }
  }
  EXPECT_GT(good, 3000);
  EXPECT_GT(bad, 3000);
  EXPECT_GT(ours, 1500) << "damage behind the judged rows";
}

// Each must be noticed, although the pixels may look right: libjpeg warns of it, or reads on.
TEST(PlainJpeg, WhatIsUnusualIsLeftToLibjpeg) {
  const File f = make_jpeg({.width = 40, .height = 40, .restart_interval = 5});
  const Window all = Window::all(test::shape_of(f));
  ASSERT_TRUE(is_ours(f, {}, all));
  size_t restart = data_begin(f);
  while (f[restart] != 0xFF || f[restart + 1] == 0) ++restart;
  const auto with = [&](size_t at, std::initializer_list<uint8_t> bytes) {
    File g = f;
    g.insert(g.begin() + static_cast<long>(at), bytes);
    return g;
  };
  File other_number = f;
  other_number[restart + 1] = 0xD3;
  EXPECT_FALSE(is_ours(other_number, {}, all)) << "another restart marker";
  EXPECT_FALSE(is_ours(with(restart, {0x12}), {}, all)) << "a byte before a restart marker";
  EXPECT_FALSE(is_ours(with(f.size() - 2, {0x12}), {}, all)) << "a byte before the end";
  EXPECT_FALSE(is_ours(with(f.size() - 2, {0xFF, 0xD7}), {}, all)) << "one more restart marker";
  EXPECT_FALSE(is_ours(test::cut(f, f.size() - 2), {}, all)) << "no end";
  EXPECT_FALSE(is_ours(with(20, {0x12}), {}, all)) << "a byte before a segment";
  EXPECT_TRUE(is_ours(with(restart, {0xFF, 0xFF}), {}, all)) << "FF before a marker";
  EXPECT_TRUE(is_ours(with(f.size(), {0x12, 0xFF, 0xD8}), {}, all)) << "bytes behind the end";
}

}  // namespace
}  // namespace stoker
