// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Files with a restart marker behind each row of MCUs are judged by libjpeg-turbo as all are. They
// have enough rows for lanes.
#include "codec/plain_jpeg/lane_rows.h"

#include <gtest/gtest.h>

#include <random>

#include "codec/jpeg/maker_testing.h"
#include "codec/plain_jpeg/index_testing.h"
#include "codec/plain_jpeg/plain_testing.h"
#include "codec/testing.h"

namespace stoker {
namespace {

using test::by_libjpeg;
using test::File;
using test::has_lanes;
using test::is_ours;
using test::JpegKind;
using test::make_jpeg;
using test::mutated;
using test::Outcome;
using test::outcome;
using test::plain_kind;
using test::random_options;
using test::random_window;

// With 8 to 20 rows of MCUs.
JpegKind kind_with_rows(std::mt19937& random, unsigned seed) {
  JpegKind kind = plain_kind(random, seed);
  kind.restart_interval = 0;
  const PlainFrame frame = read_plain_frame(make_jpeg(kind)).value();
  kind.height = static_cast<int>(frame.mcu_height() * (8 + test::pick(random, 12)) -
                                 test::pick(random, frame.mcu_height()));
  kind.restart_interval = static_cast<int>(frame.mcus_across());
  return kind;
}

TEST(LaneRows, ReadFilesWithAMarkerBehindEachRow) {
  JpegKind kind{.width = 50, .height = 16 * 8, .sampling = test::k420, .restart_interval = 4};
  const auto can_read = [&](int64_t rows) {
    return LaneRows::can_read(read_plain_frame(make_jpeg(kind)).value(), rows);
  };
  EXPECT_EQ(can_read(6), has_lanes());
  EXPECT_FALSE(can_read(5)) << "few rows";
  kind.restart_interval = 8;
  EXPECT_FALSE(can_read(8)) << "a marker behind every second row";
  kind.restart_interval = 0;
  EXPECT_FALSE(can_read(8)) << "no markers";
}

TEST(LaneRows, MakeThePixelsOfLibjpeg) {
  std::mt19937 random(71);
  int lanes = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    const JpegKind kind = kind_with_rows(random, seed);
    const File f = make_jpeg(kind);
    lanes += LaneRows::can_read(read_plain_frame(f).value(), 8);
    const DecodeOptions o = random_options(random);
    const Shape full = test::shape_of(f, o);
    for (int i = 0; i < 4; ++i) {
      const Window w = i == 0 ? Window::all(full) : random_window(random, full);
      SCOPED_TRACE(kind.str() + " window " + w.begin.str() + " to " + w.end.str());
      ASSERT_TRUE(is_ours(f, o, w));
      const Outcome got = outcome(f, w, w, o), want = by_libjpeg(f, w, w, o);
      ASSERT_EQ(got.error, "");
      ASSERT_TRUE(got.pixels == want.pixels);
    }
  }
  EXPECT_TRUE(lanes > 250 || !has_lanes()) << lanes;
}

TEST(LaneRows, DamageMeansWhatLibjpegSays) {
  std::mt19937 random(72);
  int good = 0, bad = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    const JpegKind kind = kind_with_rows(random, seed);
    const File f = make_jpeg(kind);
    for (int damage = 0; damage < 10; ++damage) {
      const auto d = test::damaged(random, f);
      if (!d) continue;
      const auto& [g, o, full] = *d;
      const Window judged = damage % 2 ? Window::all(full) : random_window(random, full);
      Window made = random_window(random, full);
      made.include(judged);
      SCOPED_TRACE(kind.str() + " damage " + std::to_string(damage));
      const Outcome got = outcome(g, made, judged, o), want = by_libjpeg(g, made, judged, o);
      ASSERT_TRUE(got == want) << got.error << " instead of " << want.error;
      ++(got.is_good() ? good : bad);
    }
  }
  EXPECT_GT(good, 400);
  EXPECT_GT(bad, 400);
}

TEST(LaneRows, WhatIsUnusualIsLeftToLibjpeg) {
  const File f = make_jpeg({.width = 40, .height = 64, .restart_interval = 5});
  const Window all = Window::all(test::shape_of(f));
  ASSERT_TRUE(is_ours(f, {}, all));
  size_t restart = test::data_begin(f);
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
  EXPECT_TRUE(is_ours(with(restart, {0xFF, 0xFF}), {}, all)) << "FF before a marker";
  EXPECT_TRUE(is_ours(with(f.size(), {0x12, 0xFF, 0xD8}), {}, all)) << "bytes behind the end";
}

}  // namespace
}  // namespace stoker
