// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Lanes that begin at the places of an index change no byte and no verdict, and notice places that
// are wrong.
#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "codec/plain_jpeg/index_testing.h"
#include "codec/plain_jpeg/lane_rows.h"
#include "codec/plain_jpeg/plain_testing.h"
#include "kernels/rows/targets_testing.h"

namespace stoker {
namespace {

using test::built;
using test::by_libjpeg;
using test::File;
using test::has_lanes;
using test::JpegKind;
using test::make_jpeg;
using test::Outcome;
using test::pick;
using test::with;

constexpr size_t kEnough = size_t{1} << 20;
constexpr int kSpaced[] = {0, 4, 8, 16};

// With 6 to 24 rows of MCUs, and 5 to 40 in a row.
JpegKind tall_kind(std::mt19937& random, unsigned seed) {
  JpegKind kind = test::plain_kind(random, seed);
  kind.restart_interval = 0;
  const PlainFrame frame = read_plain_frame(make_jpeg(kind)).value();
  const auto size = [&](int64_t mcus, int64_t of_mcu) {
    return static_cast<int>(of_mcu * mcus - pick(random, of_mcu));
  };
  kind.height = size(6 + pick(random, 19), frame.mcu_height());
  kind.width = size(5 + pick(random, 36), frame.mcu_width());
  const auto across = static_cast<int>((kind.width + frame.mcu_width() - 1) / frame.mcu_width());
  // Mostly none, sometimes behind each row or two, sometimes elsewhere.
  const int intervals[] = {0, 0, 0, 0, across, 2 * across, 7};
  kind.restart_interval = intervals[random() % std::size(intervals)];
  return kind;
}

bool reads_all(const File& f, const EntropyIndex& index) {
  const PlainFrame frame = read_plain_frame(f).value();
  return LaneRows::can_read(frame, index, {0, frame.mcus_down(), 0, frame.mcus_across()});
}

// A test for each set of instructions. Without full AVX-512, the same is read without lanes.
class LanesByIndexOnTarget : public ::testing::TestWithParam<test::Instructions> {
 protected:
  const test::Forced forced_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(All, LanesByIndexOnTarget, ::testing::ValuesIn(test::all_instructions()),
                         [](const auto& p) { return p.param.name(); });

TEST_P(LanesByIndexOnTarget, ChangeNoByte) {
  std::mt19937 random(81);
  int lanes = 0;
  for (unsigned seed = 0; seed < 48; ++seed) {
    const JpegKind kind = tall_kind(random, seed);
    const File f = make_jpeg(kind);
    const int every = kSpaced[seed % std::size(kSpaced)];
    EntropyIndexes grown(kEnough, every), whole(kEnough, every);
    whole.keep(built(f, every).value());
    lanes += reads_all(f, built(f, every).value());
    const DecodeOptions o = test::random_options(random);
    const Shape full = test::shape_of(f, o);
    for (int i = 0; i < 8; ++i) {
      Window w = test::random_window(random, full);
      if (i % 2 == 0) w.begin[0] = w.begin[0] / 4, w.begin[1] = w.begin[1] / 4;  // many large ones
      SCOPED_TRACE(kind.str() + " every " + std::to_string(every) + " window " + w.begin.str() +
                   " to " + w.end.str());
      const Outcome want = by_libjpeg(f, w, w, o);
      ASSERT_EQ(want.error, "");
      ASSERT_TRUE(with(grown, f, w, w, o) == want);
      ASSERT_TRUE(with(whole, f, w, w, o) == want);
      ASSERT_TRUE(test::is_ours(grown, f, o, w) && test::is_ours(whole, f, o, w));
    }
    EXPECT_EQ(grown.statistics().wrong + whole.statistics().wrong, 0);
  }
  EXPECT_TRUE(lanes > 24 || !has_lanes()) << lanes;
}

// What is above the damage has places, and lanes read it.
TEST(LanesByIndex, DamageMeansWhatLibjpegSays) {
  std::mt19937 random(82);
  int good = 0, bad = 0;
  for (unsigned seed = 0; seed < 50; ++seed) {
    const JpegKind kind = tall_kind(random, seed);
    const File f = make_jpeg(kind);
    EntropyIndexes indexes(kEnough, kSpaced[seed % std::size(kSpaced)]);
    for (int damage = 0; damage < 8; ++damage) {
      const auto d = test::damaged(random, f);
      if (!d) continue;
      const auto& [g, o, full] = *d;
      for (int i = 0; i < 6; ++i) {
        const Window judged = i == 4 ? Window::all(full) : test::random_window(random, full);
        Window made = test::random_window(random, full);
        made.include(judged);
        const Outcome got = with(indexes, g, made, judged, o),
                      want = by_libjpeg(g, made, judged, o);
        SCOPED_TRACE(kind.str() + " damage " + std::to_string(damage) + " window " +
                     judged.begin.str() + " to " + judged.end.str());
        ASSERT_TRUE(got == want) << got.error << " instead of " << want.error;
        ++(got.is_good() ? good : bad);
      }
    }
    EXPECT_EQ(indexes.statistics().wrong, 0);
  }
  EXPECT_GT(good, 600);
  EXPECT_GT(bad, 600);
}

// The numbers of the places at which lanes begin in a window, or which they have to reach.
std::vector<int64_t> places_used(const EntropyIndex& index, const PlainFrame& frame,
                                 const Window& w) {
  std::vector<int64_t> used;
  const int64_t first = w.begin[1] / frame.mcu_width(), last = (w.end[1] - 1) / frame.mcu_width();
  const int64_t middle = (first - first % index.every() + last + 1 + index.every()) / 2;
  for (int64_t row = w.begin[0] / frame.mcu_height(); row <= (w.end[0] - 1) / frame.mcu_height();
       ++row)
    for (const int64_t column : {first, middle}) used.push_back(index.number_of(row, column));
  return used;
}

// Each place from which a lane begins is one that another has to find, in all rows.
TEST(LanesByIndex, WrongPlacesAreNoticed) {
  const File f = make_jpeg({.width = 320, .height = 120, .quality = 90});
  const PlainFrame frame = read_plain_frame(f).value();
  const Window w{{9, 50, 0}, {110, 290, 3}};
  const Outcome want = by_libjpeg(f, w, w);
  int noticed = 0;
  for (const int every : {4, 8, 16}) {
    const EntropyIndex index = built(f, every).value();
    for (const int64_t place : places_used(index, frame, w))
      for (const size_t byte : {0, 1, 4, 6, 9})
        for (const uint8_t change : {1, 16, 128}) {
          EntropyIndexes indexes(kEnough);
          try {
            indexes.keep(test::with_changed_place(index, place, change, byte));
          } catch (const SampleError&) {
            continue;  // it lies before the one before it
          }
          SCOPED_TRACE("every " + std::to_string(every) + " place " + std::to_string(place) +
                       " byte " + std::to_string(byte));
          EXPECT_FALSE(test::is_ours(indexes, f, {}, w));
          EXPECT_EQ(indexes.statistics().files + indexes.statistics().wrong, 1);
          EXPECT_TRUE(with(indexes, f, w) == want);
          ++noticed;
        }
  }
  EXPECT_GT(noticed, 600);
}

// Where no place follows in the window, the first row is read to the next one behind it.
TEST(LanesByIndex, TheFirstRowIsProofWhereNoOtherIs) {
  const File f = make_jpeg({.width = 320, .height = 160, .quality = 90});
  const Window w{{30, 70, 0}, {150, 120, 3}};  // from row 3, columns 8 to 14, on
  const Outcome want = by_libjpeg(f, w, w);
  for (const int every : {0, 8}) {
    const EntropyIndex index = built(f, every).value();
    const int64_t first = index.number_of(3, 8);
    for (const int64_t place : {first, first + 1})
      for (const size_t byte : {0, 4, 8}) {
        EntropyIndexes indexes(kEnough);
        indexes.keep(test::with_changed_place(index, place, 1, byte));
        EXPECT_FALSE(test::is_ours(indexes, f, {}, w)) << every << " " << place << " " << byte;
        EXPECT_TRUE(with(indexes, f, w) == want);
      }
  }
}

TEST(LanesByIndex, AreForSomeAreasOnly) {
  JpegKind kind{.width = 320, .height = 160, .quality = 90};
  const auto can_read = [&](const McuArea& area, int every) {
    const File f = make_jpeg(kind);
    return LaneRows::can_read(read_plain_frame(f).value(), built(f, every).value(), area);
  };
  const McuArea area{4, 12, 3, 30};
  for (const int every : {0, 4, 8, 16}) EXPECT_EQ(can_read(area, every), has_lanes());
  EXPECT_FALSE(can_read({4, 9, 3, 30}, 8)) << "few rows";
  EXPECT_FALSE(can_read(area, 3)) << "places within groups of blocks";
  kind.restart_interval = 40;
  EXPECT_EQ(can_read(area, 8), has_lanes());
  kind.restart_interval = 20;
  EXPECT_FALSE(can_read(area, 8)) << "markers within rows";
}

}  // namespace
}  // namespace stoker
