// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Real JPEG files, where the test data exists.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "base/test_data.h"
#include "codec/jpeg/maker_testing.h"
#include "codec/plain_jpeg/decoder.h"
#include "codec/plain_jpeg/outcome_testing.h"
#include "codec/testing.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;
using test::decode;
using test::File;
using test::pick;
using test::refusal;
using test::shape_of;

class JpegFiles : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(root_ / "images"))
      GTEST_SKIP() << "no test data in " << root_ << ": set STOKER_TEST_DATA";
  }
  static File load(const fs::path& p) {
    std::ifstream in(p, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::vector<fs::path> all(const char* folder) const {
    std::vector<fs::path> paths;
    for (const auto& e : fs::recursive_directory_iterator(root_ / folder))
      if (e.is_regular_file()) paths.push_back(e.path());
    std::sort(paths.begin(), paths.end());
    EXPECT_FALSE(paths.empty());
    return paths;
  }
  const fs::path root_ = test::test_data();
};

TEST_F(JpegFiles, WholeAndWindowAgree) {
  std::mt19937 random(5);
  for (const fs::path& p : all("images/jpeg")) {
    SCOPED_TRACE(p.string());
    const File f = load(p);
    const Shape full = shape_of(f);
    const File whole = decode(f);
    if (peek(f, {}).info.orientation == 1) {
      EXPECT_EQ(whole, test::plain_decode(f, JCS_RGB));
    }
    Window w{{pick(random, full[0] - 64), pick(random, full[1] - 64), 0}, full};
    w.end[0] = w.begin[0] + 64;
    w.end[1] = w.begin[1] + 64;
    const File got = decode(f, {}, w);
    ASSERT_EQ(got, test::crop(whole, full, w));
  }
}

TEST_F(JpegFiles, ImagenetIsUndamaged) {
  DecodeOptions verify;
  verify.verify = true;
  int count = 0;
  for (const fs::path& p : all("imagenet")) {
    if (++count % 8) continue;
    const File f = load(p);
    EXPECT_NO_THROW(decode(f, verify)) << p;
  }
}

TEST_F(JpegFiles, PlainOnesAreOurs) {
  std::mt19937 random(6);
  for (const char* folder : {"imagenet", "images/jpeg"})
    for (const fs::path& p : all(folder)) {
      const File f = load(p);
      const Shape full = shape_of(f);
      for (const Window& w : {Window::all(full), test::random_window(random, full)}) {
        ASSERT_TRUE(test::is_ours(f, {}, w)) << p;
        ASSERT_TRUE(decode(f, {}, w) == test::by_libjpeg(f, w, w).pixels) << p;
      }
    }
}

struct Picture {
  Shape shape;
  File pixels;
  bool operator==(const Picture&) const = default;
};

Picture mirrored(const Picture& p) {
  Picture q = p;
  const int64_t w = p.shape[1];
  for (int64_t y = 0; y < p.shape[0]; ++y)
    for (int64_t x = 0; x < w; ++x)
      std::copy_n(&p.pixels[(y * w + x) * 3], 3, &q.pixels[(y * w + w - 1 - x) * 3]);
  return q;
}

Picture turned_clockwise(const Picture& p) {
  const int64_t h = p.shape[0], w = p.shape[1];
  Picture q{{w, h, 3}, File(p.pixels.size())};
  for (int64_t y = 0; y < h; ++y)
    for (int64_t x = 0; x < w; ++x)
      std::copy_n(&p.pixels[(y * w + x) * 3], 3, &q.pixels[(x * h + h - 1 - y) * 3]);
  return q;
}

// The files hold the same pixels. Their names say what a viewer has to do.
TEST_F(JpegFiles, OrientationIsWhatTheNameSays) {
  const File plain = load(root_ / "images/orientation/padlock-406986_640_no_exif.jpg");
  const Picture stored{shape_of(plain), decode(plain)};
  for (const fs::path& p : all("images/orientation")) {
    const std::string name = p.stem().string();
    auto has = [&](const char* word) { return name.find(word) != name.npos; };
    Picture want = has("mirror_horizontal") || has("mirror_vertical") ? mirrored(stored) : stored;
    const int turns = has("rotate_90")                              ? 1
                      : has("rotate_180") || has("mirror_vertical") ? 2
                      : has("rotate_270")                           ? 3
                                                                    : 0;
    for (int i = 0; i < turns; ++i) want = turned_clockwise(want);
    const File f = load(p);
    EXPECT_EQ(shape_of(f), want.shape) << p;
    EXPECT_TRUE(decode(f) == want.pixels) << p;
  }
}

// Seeds of a fuzzer: small and odd, but undamaged.
TEST_F(JpegFiles, OddOnesAreDecoded) {
  for (const fs::path& p : all("images/fuzzing")) {
    const File f = load(p);
    if (p.extension() == ".jpg") {
      EXPECT_EQ(decode(f), test::plain_decode(f, JCS_RGB)) << p;
    }
  }
}

TEST_F(JpegFiles, LosslessOnesKeepTheirBits) {
  for (const fs::path& p : all("images/jpeg_lossless")) {
    const bool is_deep = p.string().find("16bit") != std::string::npos;
    const ImageInfo info = peek(load(p), {}).info;
    EXPECT_EQ(info.dtype, is_deep ? DType::kUint16 : DType::kUint8) << p;
    EXPECT_TRUE(info.is_lossless) << p;
  }
}

TEST_F(JpegFiles, NamesDoNotMatter) {
  EXPECT_NO_THROW(decode(load(root_ / "images/misnamed/jpeg.bmp")));
  EXPECT_STREQ(peek(load(root_ / "images/misnamed/ppm.jpeg"), {}).info.format, "PNM");
}

}  // namespace
}  // namespace stoker
