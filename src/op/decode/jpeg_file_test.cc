// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// JPEG files without a pipeline. tests/formats/test_jpeg_module.py compares them with pipelines.
#include "op/decode/jpeg_file.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "codec/jpeg/maker_testing.h"
#include "codec/testing.h"
#include "op/rules.h"

namespace stoker {
namespace {

std::vector<uint8_t> decoded(const test::File& f, const JpegRequest& r, bool uses_index) {
  std::vector<uint8_t> pixels(jpeg_output(f, r).bytes());
  EXPECT_EQ(decode_jpeg(f, r, pixels), uses_index);
  return pixels;
}

TEST(JpegFile, WindowsAreThoseOfTheWhole) {
  const test::File f = test::make_jpeg({.width = 120, .height = 90, .sampling = test::k420});
  const std::vector<uint8_t> index = build_jpeg_index(f);
  const Shape full = {90, 120, 3};
  EXPECT_EQ(jpeg_output(f, {}).type, (TensorType{DType::kUint8, "HWC", full}));
  const std::vector<uint8_t> whole = decoded(f, {}, false);
  EXPECT_TRUE(whole == test::decode(f));
  JpegRequest r{.window = {{50, 30, 81, 100}}};
  const auto want = test::crop(whole, full, {{50, 30, 0}, {81, 100, 3}});
  EXPECT_TRUE(decoded(f, r, false) == want);
  r.index = index;
  EXPECT_TRUE(decoded(f, r, true) == want);
  r.size = {{31, 70}};
  EXPECT_TRUE(decoded(f, r, true) == want) << "a size that changes nothing";
  r.size = {{5, 7}};
  EXPECT_EQ(decoded(f, r, true).size(), 5u * 7 * 3);
}

TEST(JpegFile, RefusesWhatCannotBe) {
  const test::File f = test::make_jpeg({.width = 120, .height = 90});
  EXPECT_TRUE(peek_jpeg(f).is_plain);
  EXPECT_FALSE(peek_jpeg(test::make_jpeg({.progressive = true})).is_plain);
  std::vector<uint8_t> little(5);
  EXPECT_THROW(decode_jpeg(f, {}, little), WrongCall);
  EXPECT_THROW(jpeg_output(f, {.window = {{0, 0, 91, 1}}}), WrongCall);
  EXPECT_THROW(jpeg_output(f, {.size = {{0, 1}}}), WrongCall);
  EXPECT_THROW(jpeg_output(f, {.output_type = ImageType::kClasses}), WrongCall);
  EXPECT_THROW(build_jpeg_index(f, -1), WrongCall);
  EXPECT_THROW(build_jpeg_index(test::make_jpeg({.progressive = true})), SampleError);
  EXPECT_THROW(peek_jpeg(little), SampleError);
  std::vector<uint8_t> pixels(jpeg_output(f, {}).bytes());
  const std::vector<uint8_t> other = build_jpeg_index(test::make_jpeg({.seed = 2}));
  EXPECT_THROW(decode_jpeg(f, {.index = other}, pixels), SampleError);
  EXPECT_THROW(decode_jpeg(f, {.index = std::span<const uint8_t>()}, pixels), SampleError);
}

}  // namespace
}  // namespace stoker
