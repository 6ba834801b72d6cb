// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares the loops of kernels/jpeg/ with libjpeg-turbo, on every SIMD target: it reads
// coefficients, from which the loops make the pixels that it makes by itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "codec/jpeg/maker_testing.h"
#include "kernels/jpeg/idct.h"
#include "kernels/jpeg/upsample.h"
#include "kernels/jpeg/ycc.h"
#include "kernels/rows/targets_testing.h"

namespace stoker {
namespace {

using test::JpegKind;
using test::Sampling;

struct alignas(64) Group {
  int16_t values[jpeg::kGroupSize] = {};
};
using Groups = std::vector<Group>;  // a row of blocks

struct StoredComponent {
  std::vector<Groups> rows;
  uint16_t quanta[64];
  int64_t height, width;  // in samples
  int down, across;

  std::vector<uint8_t> samples(int64_t& stride) const {
    const auto groups = static_cast<int64_t>(rows[0].size());
    stride = 32 * groups;
    std::vector<uint8_t> made(8 * rows.size() * static_cast<size_t>(stride));
    for (size_t y = 0; y < rows.size(); ++y)
      EXPECT_TRUE(jpeg::inverse_transform(rows[y][0].values, groups, quanta,
                                          made.data() + 8 * y * static_cast<size_t>(stride),
                                          stride));
    return made;
  }
};

std::vector<StoredComponent> read_components(const std::vector<uint8_t>& file) {
  std::vector<StoredComponent> all;
  test::take_block_rows(file, [&](const jpeg_decompress_struct& c, int i, JBLOCKROW row) {
    const jpeg_component_info& info = c.comp_info[i];
    if (static_cast<size_t>(i) == all.size()) {
      all.push_back({{},
                     {},
                     info.downsampled_height,
                     info.downsampled_width,
                     c.max_v_samp_factor / info.v_samp_factor,
                     c.max_h_samp_factor / info.h_samp_factor});
      std::copy_n(info.quant_table->quantval, 64, all.back().quanta);
    }
    Groups groups((info.width_in_blocks + 3) / 4);
    for (JDIMENSION b = 0; b < info.width_in_blocks; ++b)
      for (int k = 0; k < 64; ++k) groups[b / 4].values[k / 8 * 32 + b % 4 * 8 + k % 8] = row[b][k];
    all.back().rows.push_back(std::move(groups));
  });
  return all;
}

std::vector<uint8_t> make_pixels_of(const JpegKind& kind,
                                    const std::vector<StoredComponent>& stored, bool blue_first) {
  std::vector<uint8_t> samples[3];
  jpeg::Component component[3];
  for (size_t i = 0; i < stored.size(); ++i) {
    int64_t stride;
    samples[i] = stored[i].samples(stride);
    component[i] = {samples[i].data(), stride,          0, 0, stored[i].height, stored[i].width,
                    stored[i].down,    stored[i].across};
  }
  std::vector<uint8_t> out, line[3];
  for (auto& l : line) l.resize(static_cast<size_t>(kind.width) + 4);
  const size_t channels = stored.size();
  out.resize(channels * static_cast<size_t>(kind.width) * static_cast<size_t>(kind.height));
  for (int64_t y = 0; y < kind.height; ++y) {
    for (size_t i = 0; i < channels; ++i)
      jpeg::upsample(component[i], y, 0, kind.width, line[i].data());
    uint8_t* to = out.data() + static_cast<size_t>(y * kind.width) * channels;
    if (channels == 1) std::memcpy(to, line[0].data(), static_cast<size_t>(kind.width));
    else
      jpeg::ycc_to_rgb(line[0].data(), line[1].data(), line[2].data(), to, kind.width, blue_first);
  }
  return out;
}

class JpegLoops : public ::testing::TestWithParam<test::Instructions> {
 protected:
  static void compare(const JpegKind& kind, const std::vector<uint8_t>* pixels = nullptr) {
    const auto file = test::make_jpeg(kind, pixels);
    const auto stored = read_components(file);
    const bool is_gray = kind.stored == JCS_GRAYSCALE;
    const auto want = test::plain_decode(file, is_gray ? JCS_GRAYSCALE : JCS_RGB);
    ASSERT_EQ(make_pixels_of(kind, stored, false), want) << kind.str();
    if (is_gray) return;
    ASSERT_EQ(make_pixels_of(kind, stored, true), test::plain_decode(file, JCS_EXT_BGR))
        << kind.str();
  }
  const test::Forced forced_{GetParam()};
};

constexpr Sampling kSamplings[] = {
    {{1, 1, 1, 1}, {1, 1, 1, 1}},  // 4:4:4
    {{2, 1, 1, 1}, {1, 1, 1, 1}},  // 4:2:2
    {{1, 1, 1, 1}, {2, 1, 1, 1}},  // 4:4:0
    test::k420,
    {{2, 2, 1, 1}, {2, 1, 1, 1}},  // one chroma of half the rows, one of a quarter
    {{4, 1, 1, 1}, {1, 1, 1, 1}},  // 4:1:1
    {{1, 1, 1, 1}, {4, 1, 1, 1}},
    {{4, 1, 1, 1}, {2, 1, 1, 1}},
};

// Widths and heights at which a component has one sample or two, and those around whole blocks.
TEST_P(JpegLoops, GiveThePixelsOfTheLibrary) {
  for (const Sampling& sampling : kSamplings) {
    JpegKind kind;
    kind.sampling = sampling;
    for (kind.width = 1; kind.width <= 70; ++kind.width) {
      kind.height = 1 + kind.width * 7 % 37;
      kind.seed = static_cast<unsigned>(kind.width);
      compare(kind);
    }
  }
}

TEST_P(JpegLoops, GiveThemInAllQualities) {
  for (const int quality : {1, 10, 50, 75, 95, 100})
    for (const Sampling& sampling : {kSamplings[0], test::k420}) {
      JpegKind kind;
      kind.width = 150, kind.height = 90;
      kind.quality = quality, kind.sampling = sampling;
      compare(kind);
    }
}

TEST_P(JpegLoops, GiveGray) {
  JpegKind kind;
  kind.stored = JCS_GRAYSCALE;
  for (kind.width = 1; kind.width <= 70; kind.width += 3) compare(kind);
}

// Noise between black and white has the largest coefficients that there are.
TEST_P(JpegLoops, StayInTheRangeOfExtremePictures) {
  for (const int quality : {1, 60, 100}) {
    JpegKind kind;
    kind.width = kind.height = 64;
    kind.quality = quality;
    std::mt19937 random(5);
    std::vector<uint8_t> pixels(size_t{3} * 64 * 64);
    for (uint8_t& p : pixels) p = random() % 2 ? 255 : 0;
    compare(kind, &pixels);
  }
}

INSTANTIATE_TEST_SUITE_P(All, JpegLoops, ::testing::ValuesIn(test::all_instructions()),
                         [](const auto& p) { return p.param.name(); });

}  // namespace
}  // namespace stoker
