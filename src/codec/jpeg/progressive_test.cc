// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Our own decoder of progressive files is judged by libjpeg-turbo: the same coefficients, pixels,
// verdicts and messages, and none of the usual files may be left to libjpeg-turbo unnoticed.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "codec/jpeg/progressive_testing.h"
#include "codec/plain_jpeg/outcome_testing.h"
#include "codec/plain_jpeg/progressive_rows.h"
#include "kernels/jpeg/idct.h"

namespace stoker {
namespace {

using test::by_libjpeg;
using test::data_begin;
using test::File;
using test::is_ours;
using test::JpegKind;
using test::k420;
using test::make_jpeg;
using test::Outcome;
using test::outcome;
using test::pick;
using test::progressive_kind;
using test::random_options;
using test::random_window;
using test::scan_begins;

// Whether both give the same verdict, message and pixels.
void expect_same(const File& f, const Window& made, const Window& judged,
                 const DecodeOptions& o = {}) {
  const Outcome got = outcome(f, made, judged, o), want = by_libjpeg(f, made, judged, o);
  SCOPED_TRACE("window " + judged.begin.str() + " to " + judged.end.str());
  ASSERT_EQ(got.error, want.error);
  ASSERT_EQ(got.offset, want.offset);
  ASSERT_TRUE(got.pixels == want.pixels);
}

TEST(ProgressiveJpeg, EveryFileIsOursWithTheBytesOfLibjpeg) {
  std::mt19937 random(71);
  for (unsigned seed = 0; seed < 800; ++seed) {
    const JpegKind kind = progressive_kind(random, seed);
    const File f = make_jpeg(kind);
    const DecodeOptions o = random_options(random);
    const Shape full = test::shape_of(f, o);
    SCOPED_TRACE(kind.str() + " as type " + std::to_string(static_cast<int>(o.output_type)));
    for (int i = 0; i < 4; ++i) {
      const Window w = i == 0 ? Window::all(full) : random_window(random, full);
      ASSERT_TRUE(is_ours(f, o, w));
      const Outcome got = outcome(f, w, w, o);
      ASSERT_EQ(got.error, "");
      expect_same(f, w, w, o);
    }
  }
}

TEST(ProgressiveJpeg, EverySizeIsOurs) {
  for (const test::Sampling& sampling : test::kPlainSamplings)
    for (int size = 1; size <= 67; ++size) {
      test::expect_ours(
          {.width = size, .height = 68 - size, .sampling = sampling, .progressive = true});
      if (HasFatalFailure()) return;
    }
}

// Pictures of one colour end thousands of blocks at once; noise and steps make full blocks.
TEST(ProgressiveJpeg, EveryPictureIsOurs) {
  std::mt19937 random(72);
  for (int round = 0; round < 60; ++round) {
    JpegKind kind = progressive_kind(random, static_cast<unsigned>(round));
    if (kind.stored == JCS_GRAYSCALE) continue;
    kind.orientation = 0;
    if (round % 10 == 0) kind.width = kind.height = 1200;
    const std::vector<uint8_t> pixels = test::extreme_pixels(kind, round, random);
    for (const int quality : {1, 50, 100}) {
      kind.quality = quality;
      test::expect_ours(kind, &pixels);
      if (HasFatalFailure()) return;
    }
  }
}

// The coefficients of a component's blocks in natural order, without those that only fill MCUs.
std::vector<int16_t> own_coefficients(const File& f) {
  const ProgressiveFrame p = read_progressive_frame(f).value();
  const PlainFrame& frame = p.frame;
  Arena scratch;
  ProgressiveRows rows(f, frame, p.scans, frame.mcus_down(), scratch);
  std::vector<int16_t> values[3];
  for (int64_t y = 0; y < frame.mcus_down(); ++y) {
    EXPECT_TRUE(rows.read_next(0));
    for (int c = 0; c < frame.count; ++c) {
      const PlainFrame::Component& of = frame.components[c];
      const auto blocks = [](int64_t pixels, int own, int most) {
        return (pixels * own + 8 * most - 1) / (8 * most);
      };
      const int64_t across = blocks(frame.width, of.across, frame.most_across);
      const int64_t down = blocks(frame.height, of.down, frame.most_down);
      for (int r = 0; r < of.down && y * of.down + r < down; ++r) {
        const int16_t* g = rows.groups(c, r, 0, (across + 3) / 4);
        for (int64_t x = 0; x < across; ++x)
          for (int k = 0; k < 64; ++k)
            values[c].push_back(g[x / 4 * jpeg::kGroupSize + k / 8 * 32 + x % 4 * 8 + k % 8]);
      }
    }
  }
  EXPECT_TRUE(rows.is_at_end());
  values[0].insert(values[0].end(), values[1].begin(), values[1].end());
  values[0].insert(values[0].end(), values[2].begin(), values[2].end());
  return values[0];
}

TEST(ProgressiveJpeg, CoefficientsAreThoseOfLibjpeg) {
  std::mt19937 random(73);
  for (unsigned seed = 0; seed < 300; ++seed) {
    JpegKind kind = progressive_kind(random, seed);
    // Some scans are longer than what is loaded at once, and some pictures are read in parts.
    if (seed % 30 == 0) kind.width = kind.height = 500, kind.quality = 98;
    const File f = make_jpeg(kind);
    std::vector<int16_t> want;
    test::take_block_rows(f, [&](const jpeg_decompress_struct& c, int i, JBLOCKROW row) {
      for (JDIMENSION x = 0; x < c.comp_info[i].width_in_blocks; ++x)
        want.insert(want.end(), row[x], row[x] + 64);
    });
    ASSERT_TRUE(own_coefficients(f) == want) << kind.str();
  }
}

// Without a scan, with one twice, with two that changed places, or with another head.
File with_other_scans(std::mt19937& random, const File& f) {
  const std::vector<size_t> begins = scan_begins(f);
  const size_t scans = begins.size() - 1, a = random() % scans, b = a + random() % (scans - a);
  const auto part = [&](size_t from, size_t to) {
    return File(f.begin() + static_cast<long>(from), f.begin() + static_cast<long>(to));
  };
  File g = part(0, begins[a]);
  const auto append = [&](const File& more) { g.insert(g.end(), more.begin(), more.end()); };
  switch (random() % 4) {
    case 0: break;
    case 1:
      append(part(begins[a], begins[a + 1]));
      append(part(begins[a], begins[a + 1]));
      break;
    case 2:
      if (a == b) break;
      append(part(begins[b], begins[b + 1]));
      append(part(begins[a + 1], begins[b]));
      append(part(begins[a], begins[a + 1]));
      append(part(begins[b + 1], f.size()));
      return g;
    default: {
      g = f;
      const size_t end = begins[a] + 2 + f[begins[a] + 3];
      g[end - 1 - random() % 8] ^= static_cast<uint8_t>(1 << random() % 8);
      return g;
    }
  }
  append(part(begins[a + 1], f.size()));
  return g;
}

TEST(ProgressiveJpeg, DamageMeansWhatLibjpegSays) {
  std::mt19937 random(74);
  int good = 0, bad = 0, ours = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    const JpegKind kind = progressive_kind(random, seed);
    const File f = make_jpeg(kind);
    for (int damage = 0; damage < 10; ++damage) {
      auto d = test::damaged(random, f);
      if (!d) continue;
      if (damage > 6)
        d->file = with_other_scans(random, f), d->full = test::shape_of(f, d->options);
      for (int i = 0; i < 3; ++i) {
        const Window judged = i == 0 ? Window::all(d->full) : random_window(random, d->full);
        Window made = random_window(random, d->full);
        made.include(judged);
        SCOPED_TRACE(kind.str() + " damage " + std::to_string(damage));
        expect_same(d->file, made, judged, d->options);
        if (HasFatalFailure()) return;
        ++(outcome(d->file, made, judged, d->options).is_good() ? good : bad);
        ours += is_ours(d->file, d->options, judged);
      }
    }
  }
  EXPECT_GT(good, 1000);
  EXPECT_GT(bad, 2000);
  EXPECT_GT(ours, 200) << "damage behind the judged rows";
}

TEST(ProgressiveJpeg, EveryCutMeansWhatLibjpegSays) {
  std::mt19937 random(75);
  for (unsigned seed = 0; seed < 12; ++seed) {
    JpegKind kind = progressive_kind(random, seed);
    kind.width = 20 + static_cast<int>(seed), kind.height = 40;
    const File f = make_jpeg(kind);
    DecodeOptions tolerant;
    tolerant.tolerate_corrupt = true;
    const Shape full = test::shape_of(f);
    for (size_t size = data_begin(f); size < f.size(); size += 1 + f.size() / 400) {
      SCOPED_TRACE(kind.str() + " cut at " + std::to_string(size));
      const File g = test::cut(f, size);
      const Window w = random_window(random, full);
      expect_same(g, w, w);
      expect_same(g, Window::all(full), w, tolerant);
      if (HasFatalFailure()) return;
      EXPECT_FALSE(is_ours(g, {}, w));
    }
  }
}

// Each must be noticed, although the pixels may look right: libjpeg warns of it, or reads on.
TEST(ProgressiveJpeg, WhatIsUnusualIsLeftToLibjpeg) {
  const File f = make_jpeg({.width = 40, .height = 40, .progressive = true, .restart_interval = 5});
  const Window all = Window::all(test::shape_of(f));
  const std::vector<size_t> scans = scan_begins(f);
  ASSERT_TRUE(is_ours(f, {}, all));
  const auto with = [&](size_t at, std::vector<uint8_t> bytes) {
    File g = f;
    g.insert(g.begin() + static_cast<long>(at), bytes.begin(), bytes.end());
    return g;
  };
  const auto without = [&](size_t begin, size_t end) {
    File g = test::cut(f, begin);
    g.insert(g.end(), f.begin() + static_cast<long>(end), f.end());
    return g;
  };
  size_t restart = data_begin(f);
  while (f[restart] != 0xFF || f[restart + 1] == 0) ++restart;
  size_t codes = restart;
  while (f[codes] != 0xFF || f[codes + 1] != 0xC4) ++codes;
  File other_number = f;
  other_number[restart + 1] = 0xD3;
  EXPECT_FALSE(is_ours(other_number, {}, all)) << "another restart marker";
  EXPECT_FALSE(is_ours(with(restart, {0x12}), {}, all)) << "a byte before a restart marker";
  EXPECT_FALSE(is_ours(with(codes, {0x12}), {}, all)) << "a byte behind a scan";
  EXPECT_FALSE(is_ours(with(codes, {0xFF, 0xD7}), {}, all)) << "one more restart marker";
  EXPECT_FALSE(is_ours(with(codes, {0xFF, 0xFE, 0, 3, 1}), {}, all)) << "a comment between scans";
  EXPECT_FALSE(is_ours(with(f.size() - 2, {0x12}), {}, all)) << "a byte before the end";
  EXPECT_FALSE(is_ours(test::cut(f, f.size() - 2), {}, all)) << "no end";
  for (size_t k = 0; k + 1 < scans.size(); ++k)
    EXPECT_FALSE(is_ours(without(scans[k], scans[k + 1]), {}, all)) << "without scan " << k;
  EXPECT_TRUE(is_ours(with(restart, {0xFF, 0xFF}), {}, all)) << "FF before a marker";
  EXPECT_TRUE(is_ours(with(codes, {0xFF, 0xDD, 0, 4, 0, 5}), {}, all)) << "an interval once more";
  EXPECT_FALSE(is_ours(with(codes, {0xFF, 0xDD, 0, 4, 0, 6}), {}, all)) << "another interval";
  EXPECT_TRUE(is_ours(with(f.size(), {0x12, 0xFF, 0xD8}), {}, all)) << "bytes behind the end";
  const File many = make_jpeg({.progressive = true, .many_scans = 20});
  EXPECT_FALSE(is_ours(many, {}, Window::all(test::shape_of(many))));
}

size_t need_of(const File& f, int64_t rows) {
  const EncodedImage image = peek(f, {});
  const Window w{{0, 0, 0}, {rows, 9, 3}};
  File out(static_cast<size_t>(w.shape().volume()));
  Arena scratch;
  const View view = View::window(out.data(), DType::kUint8, w, image.type().shape, "HWC");
  image.codec->decode(image, view, w, scratch);
  return scratch.need();
}

TEST(ProgressiveJpeg, MemoryDoesNotGrowWithHeight) {
  JpegKind kind{.width = 400, .height = 1000, .sampling = k420, .progressive = true};
  const size_t need = need_of(make_jpeg(kind), 1000);
  EXPECT_LT(need, size_t{400} * 1000 * 3) << "what the coefficients of all rows would take";
  kind.height = 3000;
  EXPECT_EQ(need_of(make_jpeg(kind), 3000), need);
}

TEST(ProgressiveJpeg, WhatScratchMemoryThrowsIsThrown) {
  const File f = make_jpeg({.width = 400, .height = 300, .sampling = k420, .progressive = true});
  const size_t need = need_of(f, 10);
  const EncodedImage image = peek(f, {});
  const Window w{{0, 0, 0}, {10, 9, 3}};
  File out(static_cast<size_t>(w.shape().volume()));
  const View view = View::window(out.data(), DType::kUint8, w, image.type().shape, "HWC");
  for (size_t ceiling = 0; ceiling < need; ceiling += 16 << 10) {
    Arena scratch(SIZE_MAX, ceiling);
    EXPECT_THROW(image.codec->decode(image, view, w, scratch), TooLarge) << ceiling;
  }
}

}  // namespace
}  // namespace stoker
