// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/elements/fill.h"

#include <gtest/gtest.h>

#include <vector>

#include "kernels/elements/levels_testing.h"

namespace stoker {
namespace {

TEST(Fill, NumbersCountInTheFullShape) {
  int16_t data[6] = {};
  fill<double>(View::window(data, DType::kInt16, {{1, 2}, {3, 5}}, {4, 6}),
               [](int64_t k) { return double(k); });
  EXPECT_EQ((std::vector<int16_t>(data, data + 6)), (std::vector<int16_t>{8, 9, 10, 14, 15, 16}));
  View turned = View::dense(data, DType::kInt16, {3});
  turned.data = data + 2;
  turned.strides[0] = -2;
  fill<double>(turned, [](int64_t k) { return double(k) + 0.5; });
  EXPECT_EQ((std::vector<int16_t>(data, data + 3)), (std::vector<int16_t>{3, 2, 1}));
  fill<double>(View::dense(data, DType::kInt16, {}), [](int64_t) { return -1e9; });
  EXPECT_EQ(data[0], -32768);
  fill<double>(View::window(data, DType::kInt16, {{1, 2}, {4, 3}}, {4, 6}),  // a column
               [](int64_t k) { return double(k); });
  EXPECT_EQ((std::vector<int16_t>(data, data + 3)), (std::vector<int16_t>{8, 14, 20}));
}

struct Normals {
  static constexpr int kDraws = 2, kValues = 2;
  void operator()(const uint32_t* draws, float* values) const {
    const NormalPair pair = normal_of(draws[0], draws[1]);
    values[0] = static_cast<float>(pair.first);
    values[1] = static_cast<float>(pair.second);
  }
};
struct Halves {
  static constexpr int kDraws = 2, kValues = 1;
  void operator()(const uint32_t* draws, double* value) const {
    *value = draws[0] * 0.5 + draws[1];
  }
};

float normal_at(const Chance& c, int64_t k) {
  const auto group = static_cast<uint64_t>(k / 2 * 2);
  const NormalPair pair = normal_of(c.bits(group), c.bits(group + 1));
  return static_cast<float>(k % 2 ? pair.second : pair.first);
}

class FillAtLevel : public AtCpuLevel {};

TEST_P(FillAtLevel, DrawsBelongToTheirElements) {
  const Chance chance(7, 8, 9, 10);
  const Shape full{3, 2500};
  for (const Window& w :
       {Window::all(full), Window{{1, 3}, {3, 2200}}, Window{{0, 2498}, {3, 2499}},
        Window{{2, 7}, {3, 8}}, Window{{1, 0}, {2, 2049}}}) {
    std::vector<float> data(static_cast<size_t>(w.shape().volume()));
    std::vector<double> other(data.size());
    fill_draws<float>(View::window(data.data(), DType::kFloat32, w, full), chance, Normals{});
    fill_draws<double>(View::window(other.data(), DType::kFloat64, w, full), chance, Halves{});
    size_t i = 0;
    for (int64_t y = w.begin[0]; y < w.end[0]; ++y)
      for (int64_t x = w.begin[1]; x < w.end[1]; ++x, ++i) {
        const int64_t k = y * 2500 + x;
        const auto draw = static_cast<uint64_t>(2 * k);
        ASSERT_EQ(data[i], normal_at(chance, k)) << k;
        ASSERT_EQ(other[i], chance.bits(draw) * 0.5 + chance.bits(draw + 1)) << k;
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, FillAtLevel, testing::ValuesIn(kCpuLevels), level_name);

}  // namespace
}  // namespace stoker
