// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares pixels at any coordinates with what Note [Warps] and Note [Filtered places] define.
#include "kernels/rows/placed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "kernels/levels.h"
#include "kernels/rows/targets_testing.h"
#include "kernels/warp/place_filter.h"

namespace stoker {
namespace {

// Coordinates around the borders of positions, by the smallest steps and by those of places.
std::vector<double> odd_coordinates() {
  std::vector<double> all = {NAN, INFINITY, -INFINITY, 0x1p28, -0x1p28, 0x1p60, -0.0, 1e-300};
  for (int whole = -2; whole <= 9; ++whole)
    for (double off : {0.0, 0x1p-31, 0x1p-32, 0x1p-33, 0x1p-34, 0.25, 0.5})
      for (double sign : {1.0, -1.0}) {
        const double at = whole + sign * off;
        all.insert(all.end(), {at, std::nextafter(at, 1e9), std::nextafter(at, -1e9)});
      }
  return all;
}

class PlacedAtLevel : public ::testing::TestWithParam<CpuLevel> {
 protected:
  void SetUp() override { before_ = set_cpu_level_for_test(GetParam()); }
  void TearDown() override { set_cpu_level_for_test(before_); }

 private:
  CpuLevel before_ = CpuLevel::kBase;
};

TEST_P(PlacedAtLevel, FindsPlaces) {
  const auto at = odd_coordinates();
  const auto n = static_cast<int64_t>(at.size());
  std::vector<int64_t> places(at.size());
  std::vector<int32_t> whole(at.size());
  for (bool linear : {false, true}) {
    auto cut = at;
    at_cpu_level([&] { find_places(cut.data(), n, linear, places.data()); });
    for (size_t k = 0; k < at.size(); ++k) EXPECT_EQ(places[k], place_of(at[k], linear)) << at[k];
  }
  auto cut = at;
  at_cpu_level([&] { find_whole_parts(cut.data(), n, whole.data()); });
  for (size_t k = 0; k < at.size(); ++k)
    EXPECT_EQ(whole[k], whole_part(place_of(at[k], false))) << at[k];
}

// Asks a picture of pixels of `unit` bytes and rows `row` bytes apart, with nothing behind its last
// pixel in memory, for every pair of coordinates.
void expect_picked(int64_t unit, int64_t row) {
  constexpr int64_t kHeight = 5, kWidth = 7;
  std::vector<uint8_t> memory(static_cast<size_t>((kHeight - 1) * std::abs(row) + kWidth * unit));
  for (size_t k = 0; k < memory.size(); ++k) memory[k] = static_cast<uint8_t>(k * 167 >> 3);
  const Shape shape{kHeight, kWidth, unit};
  uint8_t* first = memory.data() + (row < 0 ? -row * (kHeight - 1) : 0);
  View image = View::dense(first, DType::kUint8, shape);
  image.strides[0] = row;
  Arena arena;
  const rows::PlacedPixels pixels(image, {.filter = Filter::kNearest, .fill = 77}, arena);
  const auto all = odd_coordinates();
  const auto n = static_cast<int64_t>(all.size());
  for (double y : all) {
    std::vector<double> ys(all.size(), y), xs = all;
    std::vector<uint8_t> made(xs.size() * static_cast<size_t>(unit)), expected;
    pixels.make(ys.data(), xs.data(), n, reinterpret_cast<std::byte*>(made.data()));
    for (double x : all) {
      const int64_t i = whole_part(place_of(y, false)), j = whole_part(place_of(x, false));
      const bool is_inside = i >= 0 && i < kHeight && j >= 0 && j < kWidth;
      for (int64_t c = 0; c < unit; ++c)
        expected.push_back(is_inside ? first[i * row + j * unit + c] : 77);
    }
    ASSERT_EQ(made, expected) << unit << ' ' << row << ' ' << y;
  }
}

TEST_P(PlacedAtLevel, PicksPixels) {
  for (int64_t unit : {1, 2, 3, 4, 5, 6, 8, 12, 16, 24})
    for (int64_t gap : {0, 1, 9})
      for (int64_t sign : {1, -1}) expect_picked(unit, sign * (7 * unit + gap));
  expect_picked(3, 0);
}

TEST_P(PlacedAtLevel, FindsWeights) {
  std::vector<int64_t> places;
  for (double at : odd_coordinates()) places.push_back(place_of(at, true));
  for (int64_t bits = 1; bits < int64_t{1} << 34; bits += bits / 7 + 1)
    places.insert(places.end(), {bits, -bits, bits << 11});
  const size_t n = places.size();
  for (Filter filter : {Filter::kCubic, Filter::kLanczos3}) {
    std::vector<float> made(PlaceTaps::kMost * n);
    find_weights(places.data(), static_cast<int64_t>(n), filter, made.data(),
                 static_cast<int64_t>(n));
    for (size_t i = 0; i < n; ++i) {
      const PlaceTaps taps(places[i], filter);
      const int shift = taps.count == 1 ? PlaceTaps::before(filter) : 0;
      for (int k = 0; k < PlaceTaps::count_of(filter); ++k) {
        const int own = k - shift;
        const double weight = own >= 0 && own < taps.count ? taps.weight[own] : 0;
        ASSERT_EQ(made[static_cast<size_t>(k) * n + i], static_cast<float>(weight))
            << places[i] << ' ' << k;
      }
    }
  }
}

// Compares with filtered() a picture of T with nothing behind its last pixel in memory. Floats may
// be anything, so their bytes are compared, but for NaN, of which there are many.
template <class T>
void expect_filtered(Filter filter, float fill, int64_t height, int64_t width, int64_t channels,
                     int64_t gap, std::mt19937& rng) {
  constexpr auto kSize = static_cast<int64_t>(sizeof(T));
  const int64_t row = width * channels + std::abs(gap);  // negative gaps turn it upside down
  std::vector<T> memory(static_cast<size_t>((height - 1) * row + width * channels));
  for (T& v : memory) {
    const float odd[] = {NAN, INFINITY, -0.0f, -1.5f};
    if constexpr (kSize == 1) v = static_cast<T>(rng() % 4 ? rng() & 255 : rng() % 2 ? 255 : 0);
    else v = static_cast<T>(odd[std::min<size_t>(rng() % 64, 3)]) * static_cast<T>(rng() % 1000);
  }
  T* first = memory.data() + (gap < 0 ? row * (height - 1) : 0);
  View image =
      View::dense(first, kSize == 1 ? DType::kUint8 : DType::kFloat32, {height, width, channels});
  image.strides[0] = (gap < 0 ? -row : row) * kSize;
  Arena arena;
  const rows::PlacedPixels pixels(image, {filter, fill}, arena);
  std::vector<double> ys = odd_coordinates(), xs = ys;
  std::shuffle(ys.begin(), ys.end(), rng);
  for (int k = 0; k < 300; ++k) {
    ys.push_back(std::uniform_real_distribution<double>(-4, static_cast<double>(height) + 4)(rng));
    xs.push_back(std::uniform_real_distribution<double>(-4, static_cast<double>(width) + 4)(rng));
  }
  const auto n = static_cast<int64_t>(xs.size());
  std::vector<T> made(xs.size() * static_cast<size_t>(channels)), expected;
  WarpInput source{.border = Border::kConstant};
  for (int a = 0; a < 2; ++a)
    source.extent[a] = image.shape[a], source.stride[a] = image.strides[a];
  for (size_t k = 0; k < xs.size(); ++k) {
    const PlaceTaps y(place_of(ys[k], true), filter), x(place_of(xs[k], true), filter);
    for (int64_t c = 0; c < channels; ++c)
      expected.push_back(convert<T>(filtered<float>(
          y, x, source, fill, [&](int64_t at) { return convert<float>(first[at / kSize + c]); })));
  }
  pixels.make(ys.data(), xs.data(), n, reinterpret_cast<std::byte*>(made.data()));
  for (size_t k = 0; k < made.size(); ++k) {
    const bool both_nan = made[k] != made[k] && expected[k] != expected[k];
    ASSERT_TRUE(both_nan || std::memcmp(&made[k], &expected[k], sizeof(T)) == 0)
        << k << ": " << +made[k] << ", not " << +expected[k] << ", of " << height << " x " << width
        << " x " << channels;
  }
}

TEST_P(PlacedAtLevel, FiltersPixels) {
  std::mt19937 rng(3);
  for (const auto& instructions : test::all_instructions()) {
    const test::Forced forced(instructions);
    for (Filter filter : {Filter::kCubic, Filter::kLanczos3})
      for (int64_t channels : {1, 2, 3, 4, 5})
        for (const auto& [height, width] : {std::pair{1, 1}, {3, 2}, {7, 9}, {40, 50}})
          for (int64_t gap : {0, 2, -1}) {
            const float fill = gap == 0 ? 0 : 77;
            expect_filtered<uint8_t>(filter, fill, height, width, channels, gap, rng);
            expect_filtered<float>(filter, fill, height, width, channels, gap, rng);
          }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, PlacedAtLevel,
                         ::testing::Values(CpuLevel::kBase, CpuLevel::kAvx2, CpuLevel::kAvx512));

}  // namespace
}  // namespace stoker
