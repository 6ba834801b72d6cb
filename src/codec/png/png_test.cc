// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Windows of PNG files, damaged ones, and limits. Other libraries judge pixels in tests/formats/.
#include <gtest/gtest.h>

#include "codec/png/maker_testing.h"

namespace stoker {
namespace {

using test::crop;
using test::cut;
using test::File;
using test::make_png;
using test::pick;
using test::PngKind;
using test::put_chunk;
using test::refusal;

constexpr std::pair<int, int> kColorsAndDepths[] = {{0, 1}, {0, 2},  {0, 4},  {0, 8}, {0, 16},
                                                    {2, 8}, {2, 16}, {3, 1},  {3, 2}, {3, 4},
                                                    {3, 8}, {4, 8},  {4, 16}, {6, 8}, {6, 16}};

PngKind random_kind(std::mt19937& random, unsigned seed) {
  PngKind k;
  std::tie(k.color, k.depth) = kColorsAndDepths[random() % std::size(kColorsAndDepths)];
  const int most = random() % 4 == 0 ? 9 : random() % 8 == 0 ? 500 : 90;
  k.width = 1 + random() % most;
  k.height = 1 + random() % most;
  k.interlaced = random() % 3 == 0;
  k.is_noise = random() % 2 == 0;
  constexpr size_t kChunks[] = {1, 100, 8192, 1 << 30};
  k.chunk = kChunks[random() % 4];
  k.seed = seed;
  return k;
}

Window random_window(std::mt19937& random, const Shape& full) {
  Window w = Window::all(full);
  for (int a = 0; a < 2; ++a) {
    w.begin[a] = pick(random, full[a]);
    w.end[a] = w.begin[a] + 1 + pick(random, full[a] - w.begin[a]);
  }
  return w;
}

File decode(const File& f, const DecodeOptions& o, const Window& w, const Window& judged) {
  Arena scratch;
  const EncodedImage image = peek(f, o);
  const DType dtype = image.info.dtype;
  File out(static_cast<size_t>(w.shape().volume() * size_of(dtype)));
  const View view = View::window(out.data(), dtype, w, image.type().shape, "HWC");
  image.codec->decode(image, view, judged, scratch);
  return out;
}

File crop_bytes(const File& whole, Shape full, Window w, int64_t size) {
  full[2] *= size;
  w.end[2] *= size;
  return crop(whole, full, w);
}

class PngTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const Known<ImageCodec>& known : known_codecs<ImageCodec>())
      if (known.format == std::string("PNG") && !known.codec())
        GTEST_SKIP() << "PNG needs Debian's " << known.package;
  }
};
using PngWindow = PngTest;
using PngDamage = PngTest;
using PngHeader = PngTest;
using PngChunks = PngTest;
using PngMemory = PngTest;

TEST_F(PngWindow, IsThatPartOfTheWhole) {
  std::mt19937 random(7);
  for (unsigned seed = 0; seed < 300; ++seed) {
    const PngKind kind = random_kind(random, seed);
    SCOPED_TRACE(kind.str());
    const File f = make_png(kind);
    DecodeOptions o;
    o.output_type = static_cast<ImageType>(random() % 5);
    const TensorType type = peek(f, o).type();
    const Window all = Window::all(type.shape);
    const File whole = decode(f, o, all, all);
    for (int i = 0; i < 4; ++i) {
      const Window w = random_window(random, type.shape);
      SCOPED_TRACE("window " + w.begin.str() + " to " + w.end.str());
      o.verify = i == 0;
      ASSERT_EQ(decode(f, o, w, w), crop_bytes(whole, type.shape, w, size_of(type.dtype)));
    }
  }
}

struct Verdict {
  bool is_good = false;
  std::string what;
  File pixels;
};

Verdict verdict(const File& f, const DecodeOptions& o, const Window& w, const Window& judged) {
  try {
    return {true, "", decode(f, o, w, judged)};
  } catch (const SampleError& e) {
    EXPECT_LE(e.offset, static_cast<int64_t>(f.size()));
    EXPECT_GE(e.offset, 0) << e.what();
    return {false, e.what(), {}};
  }
}

// Note [Judged windows]: the verdict does not depend on how much is made; good pixels are right.
void expect_fair(const File& damaged, const File& sound, std::mt19937& random) {
  DecodeOptions o;
  Shape full;
  try {
    full = peek(damaged, o).type().shape;
    if (!(full == peek(sound, o).type().shape)) return;
  } catch (const SampleError& e) {
    EXPECT_GE(std::string(e.what()).size(), 20u);
    return;
  }
  const Window all = Window::all(full), w = random_window(random, full);
  const Verdict whole = verdict(damaged, o, all, all), part = verdict(damaged, o, w, w);
  EXPECT_TRUE(part.is_good || !whole.is_good);
  EXPECT_EQ(verdict(damaged, o, all, w).is_good, part.is_good);
  const int64_t size = size_of(peek(sound, o).info.dtype);
  if (part.is_good) {
    EXPECT_EQ(part.pixels, crop_bytes(decode(sound, o, all, all), full, w, size));
  }
  o.tolerate_corrupt = true;
  const Verdict tolerant = verdict(damaged, o, all, all);
  EXPECT_TRUE(tolerant.is_good) << tolerant.what;
  EXPECT_EQ(verdict(damaged, o, w, w).pixels, crop_bytes(tolerant.pixels, full, w, size));
}

TEST_F(PngDamage, OfATruncatedFileIsJudgedFairly) {
  std::mt19937 random(11);
  for (unsigned seed = 0; seed < 40; ++seed) {
    const PngKind kind = random_kind(random, seed);
    SCOPED_TRACE(kind.str());
    const File f = make_png(kind);
    for (int i = 0; i < 20; ++i)
      expect_fair(cut(f, f.size() * static_cast<size_t>(i) / 20), f, random);
  }
}

TEST_F(PngDamage, OfABitIsJudgedFairly) {
  std::mt19937 random(13);
  for (unsigned seed = 0; seed < 25; ++seed) {
    const PngKind kind = random_kind(random, seed);
    SCOPED_TRACE(kind.str());
    const File f = make_png(kind);
    for (int i = 0; i < 40; ++i) {
      File damaged = f;
      damaged[static_cast<size_t>(pick(random, static_cast<int64_t>(f.size())))] ^=
          static_cast<uint8_t>(1 << random() % 8);
      expect_fair(damaged, f, random);
    }
  }
}

// Replaces the data of the chunk that begins at `at`, and mends its checksum.
File with_header(const File& f, size_t at, uint8_t value) {
  File changed(f.begin(), f.begin() + 8), ihdr(f.begin() + 16, f.begin() + 29);
  ihdr[at] = value;
  put_chunk(changed, "IHDR", ihdr);
  changed.insert(changed.end(), f.begin() + 33, f.end());
  return changed;
}

TEST_F(PngHeader, IsRefusedWhereItLies) {
  const File f = make_png({});
  EXPECT_TRUE(refusal(with_header(f, 0, 0x80)).says("PNG header is damaged: it claims"));
  EXPECT_TRUE(refusal(with_header(f, 3, 0)).says("it claims 0 x 30 pixels"));
  EXPECT_TRUE(refusal(with_header(f, 8, 3)).says("no colour type 2 of 3 bits"));
  EXPECT_TRUE(refusal(with_header(f, 8, 4)).says("no colour type 2 of 4 bits"));
  EXPECT_TRUE(refusal(with_header(f, 9, 5)).says("no colour type 5"));
  EXPECT_TRUE(refusal(with_header(f, 9, 3)).says("it has no palette"));
  EXPECT_TRUE(refusal(with_header(f, 12, 2)).says("interlacing are 0, 0 and 2"));
  EXPECT_TRUE(refusal(with_header(f, 1, 1)).says("its data ends before the picture"));
  EXPECT_TRUE(refusal(with_header(f, 0, 0x10)).says("more than the limit of"));
  File wrong_sum = f;
  wrong_sum[30] ^= 1;
  EXPECT_TRUE(refusal(wrong_sum).says("the checksum of its chunk IHDR is wrong"));
  for (size_t size : {8, 12, 20, 33, 40}) {
    const auto r = refusal(cut(f, size));
    EXPECT_TRUE(r.says("PNG header is damaged: it ends too early")) << r.what;
    EXPECT_EQ(r.offset, static_cast<int64_t>(size));
  }
}

File with_chunk(const File& f, std::string_view type, const File& data) {
  File changed(f.begin(), f.begin() + 33);
  put_chunk(changed, type, data);
  changed.insert(changed.end(), f.begin() + 33, f.end());
  return changed;
}

TEST_F(PngChunks, AreIgnoredOrRefused) {
  const File f = make_png({}), pixels = test::decode(f);
  EXPECT_EQ(test::decode(with_chunk(f, "zTXt", File(100, 7))), pixels);
  EXPECT_TRUE(
      refusal(with_chunk(f, "CgBI", {0, 0, 0, 2})).says("nothing is known of its chunk CgBI"));
  EXPECT_TRUE(refusal(with_chunk(f, "1DAT", {})).says("no chunk where one should begin"));
  File bad_sum = with_chunk(f, "tRNS", {0, 1, 0, 2, 0, 3});
  DecodeOptions any;
  any.output_type = ImageType::kAny;
  EXPECT_EQ(test::shape_of(bad_sum, any)[2], 4);
  bad_sum[33 + 8 + 2] ^= 1;
  EXPECT_EQ(test::shape_of(bad_sum, any)[2], 3) << "as if it were not there";
  EXPECT_EQ(test::shape_of(with_chunk(f, "tRNS", {0, 1}), any)[2], 3) << "of another size";
  File behind = f;
  behind.insert(behind.end(), 1000, 0x55);
  EXPECT_EQ(test::decode(behind), pixels);
}

TEST_F(PngMemory, IsCountedBeforeItIsTaken) {
  const PngKind kind{.width = 3000, .height = 2000, .is_noise = false};
  const File f = make_png(kind);
  const EncodedImage image = peek(f, {});
  File out(3000);
  const View corner =
      View::window(out.data(), DType::kUint8, {{0, 0, 0}, {10, 100, 3}}, image.type().shape, "HWC");
  Arena scratch;
  image.codec->decode(image, corner, corner.covers(), scratch);
  EXPECT_LT(scratch.need(), size_t{1} << 20) << "a few rows";
  Arena small(1 << 16);
  EXPECT_THROW(image.codec->decode(image, corner, corner.covers(), small), BeyondShare);
}

}  // namespace
}  // namespace stoker
