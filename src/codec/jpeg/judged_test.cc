// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Damage fails a picture where the judged window needs the data: Note [Judged windows] (codec.h).
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/foreign_bytes.h"
#include "codec/jpeg/maker_testing.h"
#include "codec/orientation.h"
#include "codec/plain_jpeg/outcome_testing.h"
#include "codec/testing.h"

namespace stoker {
namespace {

using test::File;
using test::JpegKind;
using test::k420;
using test::make_jpeg;
using test::Outcome;
using test::outcome;
using test::pick;
using test::random_window;
using test::Sampling;

constexpr Sampling k444 = {}, k440 = {{1, 1, 1, 1}, {2, 1, 1, 1}};

Window rows(int64_t begin, int64_t end, const Shape& full) {
  return {{begin, 0, 0}, {end, full[1], full[2]}};
}

size_t find(const File& f, uint8_t marker, size_t from = 0) {
  const uint8_t m[] = {0xFF, marker};
  return static_cast<size_t>(std::search(f.begin() + static_cast<long>(from), f.end(), m, m + 2) -
                             f.begin());
}

size_t data_of_scan(const File& f, size_t sos) {
  return sos + 2 + number_at<uint16_t>(f, sos + 2, ByteOrder::kBig);
}

File without(const File& f, size_t begin, size_t end) {
  File g = test::cut(f, begin);
  g.insert(g.end(), f.begin() + static_cast<long>(end), f.end());
  return g;
}

// One of four windows that hold this one.
Window around(std::mt19937& random, const Window& w, const Shape& full) {
  Window more = random_window(random, full);
  more.include(w);
  return more;
}

JpegKind judged_kind(std::mt19937& random, unsigned seed) {
  constexpr Sampling kSamplings[] = {k444,
                                     k420,
                                     k440,
                                     {{2, 1, 1, 1}, {1, 1, 1, 1}},
                                     {{4, 1, 1, 1}, {2, 1, 1, 1}},
                                     {{1, 1, 1, 1}, {4, 1, 1, 1}}};
  JpegKind k;
  k.seed = seed;
  k.width = 9 + static_cast<int>(pick(random, 80));
  k.height = 9 + static_cast<int>(pick(random, 80));
  if (random() % 8 == 0) k.stored = JCS_GRAYSCALE;
  else k.sampling = kSamplings[random() % std::size(kSamplings)];
  k.progressive = random() % 2;
  k.arithmetic = random() % 5 == 0;
  k.separate_scans = random() % 4 == 0;
  k.restart_interval = random() % 2 ? 1 + static_cast<int>(pick(random, 12)) : 0;
  k.orientation = static_cast<int>(pick(random, 9));
  return k;
}

File damaged(std::mt19937& random, const File& f, bool is_cut) {
  const size_t data = data_of_scan(f, find(f, 0xDA));
  const size_t at = data + random() % (f.size() - data);
  if (is_cut) return test::cut(f, at);
  File g = f;
  switch (random() % 5) {
    case 0: g[at] = static_cast<uint8_t>(random()); break;
    case 1: g[at] = 0xFF; break;
    case 2: g.insert(g.begin() + static_cast<long>(at), 1 + random() % 30, 0x55); break;
    case 3: g = without(f, at, std::min(f.size(), at + 1 + random() % 60)); break;
    default: g.insert(g.begin() + static_cast<long>(at), {0xFF, 0xD9});
  }
  return g;
}

TEST(JpegJudged, TheVerdictDoesNotDependOnWhatIsMade) {
  std::mt19937 random(41);
  int good = 0, bad = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    const JpegKind kind = judged_kind(random, seed);
    const File f = make_jpeg(kind);
    const Shape full = test::shape_of(f);
    const Window all = Window::all(full);
    const File sound = test::decode(f);
    for (int damage = 0; damage < 6; ++damage) {
      const bool is_cut = damage % 2;
      const File g = damaged(random, f, is_cut);
      const Window judged = random_window(random, full);
      const Outcome want = outcome(g, judged, judged);
      ++(want.is_good() ? good : bad);
      SCOPED_TRACE(kind.str() + " orientation " + std::to_string(kind.orientation) + " window " +
                   judged.begin.str() + " to " + judged.end.str());
      for (const Window& made : {all, around(random, judged, full), around(random, judged, full)}) {
        const Outcome got = outcome(g, made, judged);
        ASSERT_EQ(got.error, want.error);
        ASSERT_EQ(got.offset, want.offset);
        ASSERT_TRUE(got.pixels == want.pixels);
      }
      if (is_cut && want.is_good()) {
        ASSERT_TRUE(want.pixels == test::crop(sound, full, judged));
      }
      if (outcome(g, all, all).is_good()) {
        ASSERT_TRUE(want.is_good());
      }
    }
  }
  EXPECT_GT(good, 300);
  EXPECT_GT(bad, 300);
}

// Every interval between restart markers is one row of MCUs. One of them is left out.
TEST(JpegJudged, ADamagedRowCountsForTheRowsOfPixelsThatNeedIt) {
  for (const Sampling& sampling : {k444, k420, k440})
    for (int orientation = 1; orientation <= 8; ++orientation) {
      const int factor = sampling.v[0], mcu_rows = 5, height = 8 * factor * mcu_rows - 3;
      const int mcus = sampling.h[0] == 2 ? 3 : 6;
      const File f = make_jpeg({.width = 45,
                                .height = height,
                                .sampling = sampling,
                                .restart_interval = mcus,
                                .orientation = orientation});
      const Shape full = test::shape_of(f);
      std::vector<size_t> begins{data_of_scan(f, find(f, 0xDA))};
      for (int k = 0; k + 1 < mcu_rows; ++k)
        begins.push_back(find(f, static_cast<uint8_t>(0xD0 + k), begins.back()) + 2);
      const bool is_high = swaps_axes(orientation);
      const int axis = is_high ? 1 : 0;
      for (int row = 0; row < mcu_rows; ++row) {
        const size_t end = row + 1 < mcu_rows ? begins[row + 1] - 2 : f.size() - 2;
        const File g = without(f, begins[row], end);
        for (int64_t at = 0; at < full[axis]; ++at) {
          Window judged = Window::all(full);
          judged.begin[axis] = at;
          judged.end[axis] = at + 1;
          File none(static_cast<size_t>(judged.shape().volume()));
          const View stored =
              as_stored(View::window(none.data(), DType::kUint8, judged, full, "HWC"), orientation);
          // Smooth upsampling looks at the chroma below.
          const int64_t last = stored.origin[0] + (factor > 1 ? factor : 0);
          const bool is_needed = std::min<int64_t>(last, height - 1) / (8 * factor) >= row;
          for (const Window& made : {judged, Window::all(full)})
            EXPECT_EQ(outcome(g, made, judged).is_good(), !is_needed)
                << "factor " << factor << ", orientation " << orientation << ", row of MCUs " << row
                << ", window at " << at;
        }
      }
    }
}

TEST(JpegJudged, AWindowThatHoldsTheLastStoredRowIsJudgedToTheEnd) {
  const File f = make_jpeg({.width = 40, .height = 40});
  File g = f;
  g.insert(g.end() - 2, 40, 0x11);  // more than padding, behind the last row
  const Shape full = test::shape_of(f);
  const Window all = Window::all(full);
  for (const Window& made : {all, rows(20, 40, full)}) {
    EXPECT_FALSE(outcome(g, made, rows(39, 40, full)).is_good());
    EXPECT_TRUE(outcome(g, made, rows(20, 39, full)).is_good());
  }
  DecodeOptions verify;
  verify.verify = true;
  EXPECT_FALSE(outcome(g, all, rows(0, 1, full), verify).is_good());
  EXPECT_TRUE(outcome(f, all, rows(0, 1, full), verify).is_good());
}

// The last scan may lack its end; a scan that has not begun leaves every row without its last bits.
TEST(JpegJudged, EveryScanCounts) {
  for (const bool progressive : {false, true})
    for (const bool arithmetic : {false, true}) {
      const File f = make_jpeg({.width = 64,
                                .height = 64,
                                .progressive = progressive,
                                .arithmetic = arithmetic,
                                .separate_scans = true});
      std::vector<size_t> scans;
      for (size_t at = find(f, 0xDA); at < f.size(); at = find(f, 0xDA, at + 2))
        scans.push_back(at);
      ASSERT_EQ(scans.size(), progressive ? 6u : 3u);
      const Shape full = test::shape_of(f);
      const Window all = Window::all(full), top = rows(0, 9, full);
      const File sound = test::decode(f);
      for (size_t k = 0; k < scans.size(); ++k) {
        const size_t begin = data_of_scan(f, scans[k]);
        const size_t end = k + 1 < scans.size() ? scans[k + 1] : f.size() - 2;
        const File late = test::cut(f, begin + (end - begin) * 3 / 4);
        const File early = test::cut(f, begin + (end - begin) / 16);
        const bool is_last = k + 1 == scans.size();
        for (const Window& made : {top, all}) {
          const Outcome got = outcome(late, made, top);
          EXPECT_EQ(got.is_good(), is_last) << k << got.error;
          if (is_last) EXPECT_TRUE(got.pixels == test::crop(sound, full, top));
          else EXPECT_EQ(got.error, "JPEG data ends prematurely");
          EXPECT_FALSE(outcome(early, made, top).is_good()) << k;
        }
        EXPECT_FALSE(outcome(late, all, all).is_good());
      }
    }
}

TEST(JpegJudged, AnEmptyWindowJudgesTheHeaderOnly) {
  const File f = make_jpeg({.width = 40, .height = 30});
  const Shape full = test::shape_of(f);
  const Window none{{10, 0, 0}, {10, 40, 3}};
  const size_t frame = find(f, 0xC0);
  for (size_t size = frame; size < f.size(); size += 7)
    for (const Window& made : {none, Window::all(full), rows(3, 12, full)}) {
      const File g = test::cut(f, size);
      EXPECT_EQ(outcome(g, made, none).is_good(), size >= frame + 19) << size;
    }
}

}  // namespace
}  // namespace stoker
