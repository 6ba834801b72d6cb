// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// An index changes no byte and no verdict, and one that is not of the file is never used.
#include "codec/plain_jpeg/entropy_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <thread>

#include "codec/plain_jpeg/index_testing.h"
#include "codec/plain_jpeg/plain_testing.h"

namespace stoker {
namespace {

using test::built;
using test::by_libjpeg;
using test::File;
using test::is_ours;
using test::JpegKind;
using test::k420;
using test::make_jpeg;
using test::Outcome;
using test::plain_kind;
using test::random_options;
using test::random_window;
using test::with;
using test::with_changed_place;

constexpr size_t kRoom = size_t{1} << 20;
constexpr int kEvery[] = {0, 1, 3, 8, 16};

// A photograph-like file of several loads, its lower right corner, and an index of it.
struct Sample {
  File file;
  Window corner;

  explicit Sample(unsigned seed = 1, int restart_interval = 0, test::Sampling sampling = k420)
      : file(make_jpeg({.width = 320,
                        .height = 240,
                        .sampling = sampling,
                        .quality = 97,
                        .restart_interval = restart_interval,
                        .seed = seed})),
        corner{{160, 170, 0}, {230, 300, 3}} {}
};

TEST(EntropyIndex, ChangesNoByte) {
  std::mt19937 random(71);
  for (unsigned seed = 0; seed < 400; ++seed) {
    JpegKind kind = plain_kind(random, seed);
    if (seed % 40 == 0) kind.width = 310, kind.height = 290, kind.quality = 98;
    const File f = make_jpeg(kind);
    DecodeOptions o = random_options(random);
    const Shape full = test::shape_of(f, o);
    const int every = kEvery[seed % std::size(kEvery)];
    SCOPED_TRACE(kind.str() + " every " + std::to_string(every));
    EntropyIndexes grown(kRoom, every), whole(kRoom, every);
    const std::optional<EntropyIndex> index = built(f, every);
    ASSERT_TRUE(index && index->is_whole());
    whole.keep(*index);
    int parts = 0;
    for (int i = 0; i < 6; ++i) {
      Window w = random_window(random, full);
      if (i == 5) {  // a part, for which all is read
        o.verify = true;
        w = Window::all(full);
        for (int a = 0; a < 2; ++a) w.begin[a] = std::min<int64_t>(1, full[a] - 1);
      }
      parts += w != Window::all(full);
      const Outcome want = by_libjpeg(f, w, w, o);
      ASSERT_EQ(want.error, "");
      ASSERT_TRUE(with(grown, f, w, w, o) == want) << w.begin.str() << " to " << w.end.str();
      ASSERT_TRUE(with(whole, f, w, w, o) == want) << w.begin.str() << " to " << w.end.str();
      ASSERT_TRUE(is_ours(grown, f, o, w) && is_ours(whole, f, o, w));
    }
    EXPECT_EQ(grown.statistics().wrong + whole.statistics().wrong, 0);
    EXPECT_EQ(whole.statistics().hits, 2 * parts);
    EXPECT_EQ(whole.statistics().misses, 0);
    if (full[0] * full[1] == 1) continue;
    // What grew in passing is what was built at once.
    EXPECT_EQ(grown.find(index->key(), *read_plain_frame(f))->saved(), index->saved());
  }
}

// Reading begins at every place of an index, and then comes to all that follow.
TEST(EntropyIndex, PlacesAreThoseOfTheFile) {
  for (const int restart_interval : {0, 1, 7, 20, 100}) {
    const Sample s(3, restart_interval);
    const PlainFrame frame = read_plain_frame(s.file).value();
    const EntropyIndex all = built(s.file, 1).value();
    ASSERT_EQ(all.count(), frame.mcus_across() * frame.mcus_down());
    ASSERT_EQ(all.place(0), (ScanPlace{.offset = frame.data}));
    for (const int every : kEvery) {
      const EntropyIndex index = built(s.file, every).value();
      for (int64_t i = 0; i < index.count(); ++i)
        ASSERT_EQ(index.place(i), all.place(index.place(i).mcu)) << "every " << every;
    }
    if (restart_interval == 7) {
      const ScanPlace behind = all.place(14);
      EXPECT_EQ(behind.bit, 0);
      EXPECT_EQ(s.file[behind.offset - 2], 0xFF);
      EXPECT_EQ(s.file[behind.offset - 1], 0xD1);
    }
  }
}

// A verdict depends on the file and the judged window alone, not on what an index knows of others.
TEST(EntropyIndex, DamageMeansWhatLibjpegSays) {
  std::mt19937 random(72);
  int good = 0, bad = 0;
  for (unsigned seed = 0; seed < 150; ++seed) {
    const JpegKind kind = plain_kind(random, seed);
    const File f = make_jpeg(kind);
    const int every = kEvery[seed % std::size(kEvery)];
    EntropyIndexes indexes(kRoom, every);
    indexes.keep(built(f, every).value());
    for (int damage = 0; damage < 8; ++damage) {
      const auto d = test::damaged(random, f);
      if (!d) continue;
      const auto& [g, o, full] = *d;
      for (int i = 0; i < 5; ++i) {
        const Window judged = i == 3 ? Window::all(full) : random_window(random, full);
        Window made = random_window(random, full);
        made.include(judged);
        const Outcome got = with(indexes, g, made, judged, o),
                      want = by_libjpeg(g, made, judged, o);
        SCOPED_TRACE(kind.str() + " damage " + std::to_string(damage) + " window " +
                     judged.begin.str() + " to " + judged.end.str());
        ASSERT_EQ(got.error, want.error);
        ASSERT_EQ(got.offset, want.offset);
        ASSERT_TRUE(got.pixels == want.pixels);
        ++(got.is_good() ? good : bad);
      }
    }
    EXPECT_EQ(indexes.statistics().wrong, 0);
  }
  EXPECT_GT(good, 1500);
  EXPECT_GT(bad, 1500);
}

TEST(EntropyIndex, IsOfUndamagedPlainFilesOnly) {
  EXPECT_FALSE(built(make_jpeg({.progressive = true})));
  EXPECT_FALSE(built(make_jpeg({.stored = JCS_CMYK})));
  EXPECT_FALSE(built({}));
  const Sample s;
  ASSERT_TRUE(built(s.file));
  EXPECT_FALSE(built(test::cut(s.file, s.file.size() - 2))) << "no end";
  EXPECT_FALSE(built(test::cut(s.file, s.file.size() / 2)));
  // Damage below the window does not hinder an index of what is above it.
  File broken = s.file;
  std::fill_n(broken.end() - 300, 100, uint8_t{0xFF});
  EXPECT_FALSE(built(broken));
  EntropyIndexes indexes(kRoom);
  const Window upper{{70, 60, 0}, {120, 90, 3}};
  EXPECT_TRUE(is_ours(indexes, broken, {}, upper));
  EXPECT_EQ(indexes.statistics().files, 1);
  EXPECT_TRUE(is_ours(indexes, broken, {}, upper));
  EXPECT_EQ(indexes.statistics().hits, 1);
  const Window all = Window::all(test::shape_of(broken));
  EXPECT_NE(with(indexes, broken, all).error, "");
  EXPECT_EQ(with(indexes, broken, all).error, by_libjpeg(broken, all, all).error);
}

// Another file, of the same size and the same kind.
TEST(EntropyIndex, OfAnotherFileIsNotUsed) {
  const Sample s;
  File other = s.file;
  const auto at = other.begin() + static_cast<long>(test::data_begin(s.file) + 5000);
  *std::find_if(at, other.end(), [](uint8_t b) { return b > 0 && b < 128; }) ^= 1;
  const EntropyIndex index = built(s.file).value();
  const PlainFrame frame = read_plain_frame(other).value();
  EXPECT_TRUE(index.is_of(FileKey::of(s.file), frame));
  EXPECT_FALSE(index.is_of(FileKey::of(other), frame));
  EntropyIndexes indexes(kRoom);
  indexes.keep(index);
  EXPECT_TRUE(with(indexes, other, s.corner) == by_libjpeg(other, s.corner, s.corner));
  EXPECT_EQ(indexes.statistics().hits, 0);
  EXPECT_EQ(indexes.statistics().misses, 1);
}

TEST(EntropyIndex, WrongPlacesAreNoticed) {
  const Sample s;
  const EntropyIndex index = built(s.file).value();
  // The corner begins in the row of MCUs 10, with one more above it for smooth upsampling.
  for (const int64_t place : {9, 10})
    for (const uint8_t change : {1, 2, 4, 8, 64}) {
      EntropyIndexes indexes(kRoom);
      indexes.keep(with_changed_place(index, place, change));
      EXPECT_FALSE(is_ours(indexes, s.file, {}, s.corner));
      EXPECT_EQ(indexes.statistics().hits, 1);
      EXPECT_EQ(indexes.statistics().files + indexes.statistics().wrong, 1);
      EXPECT_TRUE(with(indexes, s.file, s.corner) == by_libjpeg(s.file, s.corner, s.corner));
    }
}

std::string refusal(const std::vector<uint8_t>& bytes) {
  try {
    (void)EntropyIndex::of_saved(bytes);
  } catch (const SampleError& e) {
    EXPECT_LE(e.offset, static_cast<int64_t>(bytes.size()));
    return e.what();
  }
  return "";
}

TEST(EntropyIndex, SavedIsTheSame) {
  for (const int every : kEvery)
    for (const bool is_gray : {false, true}) {
      const File f =
          make_jpeg({.width = 70, .height = 90, .stored = is_gray ? JCS_GRAYSCALE : JCS_YCbCr});
      const EntropyIndex index = built(f, every).value();
      const std::vector<uint8_t> bytes = index.saved();
      const EntropyIndex again = EntropyIndex::of_saved(bytes);
      EXPECT_EQ(again.saved(), bytes);
      EXPECT_TRUE(again.is_of(FileKey::of(f), *read_plain_frame(f)));
      EXPECT_EQ(again.every(), every);
      EXPECT_TRUE(again.is_whole());
      for (int64_t i = 0; i < index.count(); ++i) EXPECT_EQ(again.place(i), index.place(i));
    }
}

TEST(EntropyIndex, DamagedSavedIsRefused) {
  const std::vector<uint8_t> bytes = built(Sample().file).value().saved();
  EXPECT_EQ(refusal(bytes), "");
  for (size_t size = 0; size < bytes.size(); ++size)
    ASSERT_NE(refusal(test::cut(bytes, size)), "") << "cut to " << size;
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::vector<uint8_t> flipped = bytes;
    flipped[bit / 8] = static_cast<uint8_t>(flipped[bit / 8] ^ 1 << bit % 8);
    ASSERT_NE(refusal(flipped), "") << "bit " << bit;
  }
  std::vector<uint8_t> longer = bytes;
  longer.push_back(0);
  EXPECT_NE(refusal(longer), "");
  std::vector<uint8_t> newer = bytes;
  ++newer[4];
  EXPECT_EQ(refusal(newer),
            "the index of a JPEG file is damaged: it does not begin as an index of version 1");
}

// Each hash of a file with one changed byte, one more or one less is another.
TEST(EntropyIndex, KeysTellFilesApart) {
  std::mt19937 random(73);
  for (const size_t size : {0, 1, 7, 8, 63, 64, 65, 200}) {
    File f(size);
    for (uint8_t& b : f) b = static_cast<uint8_t>(random());
    std::vector<uint64_t> hashes = {hash_of_file(f)};
    for (size_t i = 0; i < size; ++i) {
      File g = f;
      g[i] = static_cast<uint8_t>(g[i] ^ (1 + random() % 255));
      hashes.push_back(hash_of_file(g));
    }
    for (int zeros = 0; zeros < 70; ++zeros) {
      f.push_back(0);
      hashes.push_back(hash_of_file(f));
    }
    std::sort(hashes.begin(), hashes.end());
    hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
    EXPECT_GE(hashes.size(), 71 + size);
  }
  // They are saved.
  EXPECT_EQ(hash_of_file({}), 2700391936012001197u);
  const uint8_t text[] = {'J', 'P', 'E', 'G'};
  EXPECT_EQ(hash_of_file(text), 7691942448541881300u);
}

TEST(EntropyIndexes, KeepWhatFitsIntoTheBudget) {
  std::vector<File> files;
  for (unsigned seed = 0; seed < 20; ++seed) files.push_back(Sample(seed).file);
  const Window corner = Sample().corner;
  EntropyIndexes all(kRoom);
  for (const File& f : files) (void)with(all, f, corner);
  EXPECT_EQ(all.statistics().files, 20);
  const int64_t one = all.statistics().bytes / 20;
  EntropyIndexes few(static_cast<size_t>(7 * one));
  for (int epoch = 0; epoch < 3; ++epoch)
    for (const File& f : files) ASSERT_TRUE(with(few, f, corner) == by_libjpeg(f, corner, corner));
  const EntropyIndexes::Statistics s = few.statistics();
  EXPECT_EQ(s.files, 7);
  EXPECT_LE(s.bytes, s.budget);
  EXPECT_EQ(s.hits, 2 * 7);
  EXPECT_EQ(s.misses, 20 + 2 * 13);
}

TEST(EntropyIndex, ThinnedIsTheOneWithFewerPlaces) {
  const Sample s(5);
  for (const auto [own, every, got] : std::initializer_list<std::array<int, 3>>{
           {1, 8, 8}, {8, 16, 16}, {8, 8, 8}, {8, 0, 0}, {3, 16, 0}, {16, 8, 16}, {0, 8, 0}})
    EXPECT_EQ(built(s.file, own)->thinned(every).saved(), built(s.file, got)->saved())
        << own << " to " << every;
  // One that does not reach down to the end.
  EntropyIndexes fine(kRoom, 8), coarse(kRoom, 16);
  const Window upper{{70, 60, 0}, {120, 90, 3}};
  (void)with(fine, s.file, upper), (void)with(coarse, s.file, upper);
  const PlainFrame frame = read_plain_frame(s.file).value();
  const FileKey key = FileKey::of(s.file);
  EXPECT_FALSE(fine.find(key, frame)->is_whole());
  EXPECT_EQ(fine.find(key, frame)->thinned(16).saved(), coarse.find(key, frame)->saved());
}

// Places for all files go before more places for some.
TEST(EntropyIndexes, AreThinnedWhereTheyFindNoRoom) {
  std::vector<File> files;
  for (unsigned seed = 0; seed < 20; ++seed) files.push_back(Sample(seed).file);
  const Window corner = Sample().corner;
  const auto room_for = [&](int every) {
    EntropyIndexes all(kRoom, every);
    for (const File& f : files) all.keep(built(f, every).value());
    return all.statistics().bytes;
  };
  for (const int every : {8, 16, 0}) {
    const int64_t room = room_for(every);
    EntropyIndexes indexes(static_cast<size_t>(room), 8);
    for (int epoch = 0; epoch < 2; ++epoch)
      for (const File& f : files)
        ASSERT_TRUE(with(indexes, f, corner) == by_libjpeg(f, corner, corner));
    const EntropyIndexes::Statistics s = indexes.statistics();
    EXPECT_EQ(s.every, every);
    EXPECT_EQ(s.files, 20);
    EXPECT_LE(s.bytes, room);
    EXPECT_EQ(s.hits, 20);
    // So are those of a file.
    EntropyIndexes fine(kRoom, 8), loaded(static_cast<size_t>(room), 8);
    for (const File& f : files) fine.keep(built(f, 8).value());
    loaded.add_saved(fine.saved());
    EXPECT_EQ(loaded.statistics().every, every);
    EXPECT_EQ(loaded.statistics().files, 20);
  }
}

// A thread may keep what it found out before others thinned all.
TEST(EntropyIndexes, WhatComesLateIsThinnedAsWell) {
  const Sample a(1), b(2);
  EntropyIndexes indexes(kRoom, 8);
  indexes.keep(built(a.file, 8).value());
  EXPECT_TRUE(indexes.thin());
  indexes.keep(built(b.file, 8).value());
  EntropyIndexes want(kRoom, 16);
  want.keep(built(a.file, 16).value()), want.keep(built(b.file, 16).value());
  EXPECT_EQ(indexes.saved(), want.saved());
  EXPECT_TRUE(indexes.thin());
  EXPECT_FALSE(indexes.thin());
  EXPECT_EQ(indexes.statistics().every, 0);
}

TEST(EntropyIndexes, SavedAreTheSame) {
  EntropyIndexes indexes(kRoom), again(kRoom), small(1000);
  for (unsigned seed = 0; seed < 5; ++seed) indexes.keep(built(Sample(seed).file).value());
  const std::vector<uint8_t> bytes = indexes.saved();
  again.add_saved(bytes);
  EXPECT_EQ(again.saved(), bytes);
  EXPECT_EQ(again.statistics().files, 5);
  small.add_saved(bytes);
  EXPECT_GE(small.statistics().files, 1);
  EXPECT_LT(small.statistics().files, 5);
  EntropyIndexes none(kRoom);
  for (size_t size = 0; size < bytes.size(); ++size)
    ASSERT_THROW(none.add_saved(std::span(bytes).first(size)), SampleError) << size;
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::vector<uint8_t> flipped = bytes;
    flipped[i] ^= 0x10;
    ASSERT_THROW(none.add_saved(flipped), SampleError) << i;
  }
  EXPECT_EQ(none.statistics().files, 0);
}

// Threads that decode the same files at once.
TEST(EntropyIndexes, ServeManyThreads) {
  std::vector<File> files;
  for (unsigned seed = 0; seed < 4; ++seed) files.push_back(Sample(seed).file);
  EntropyIndexes indexes(kRoom);
  std::vector<int> wrong(4);
  std::vector<std::thread> threads;
  const Window corner = Sample().corner;
  std::vector<Outcome> want;
  for (const File& f : files) want.push_back(by_libjpeg(f, corner, corner));
  for (size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 10; ++round)
        for (size_t i = 0; i < files.size(); ++i)
          wrong[t] += !(with(indexes, files[i], corner) == want[i]);
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, std::vector<int>(4));
  const EntropyIndexes::Statistics s = indexes.statistics();
  EXPECT_EQ(s.files, 4);
  EXPECT_EQ(s.hits + s.misses, 160);
  EXPECT_GE(s.hits, 160 - 16);
}

}  // namespace
}  // namespace stoker
