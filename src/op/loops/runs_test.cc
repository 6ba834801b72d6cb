// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/loops/runs.h"

#include <gtest/gtest.h>

#include <vector>

namespace stoker {
namespace {

// Doubles each element; returns how long the runs were.
std::vector<int64_t> doubled(const View& in, const View& out) {
  std::vector<int64_t> counts;
  for_each_run<uint8_t, int16_t>(in, out, [&](const uint8_t* from, int16_t* to, int64_t count) {
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<int16_t>(2 * from[i]);
    counts.push_back(count);
  });
  return counts;
}

// The numbers 0, 1, 2 ... as an array of 4 x 5.
std::vector<uint8_t> numbers() {
  std::vector<uint8_t> v(20);
  for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<uint8_t>(i);
  return v;
}

TEST(Runs, DenseIsOneRun) {
  auto in = numbers();
  std::vector<int16_t> out(20);
  EXPECT_EQ(doubled(View::dense(in.data(), DType::kUint8, {4, 5}),
                    View::dense(out.data(), DType::kInt16, {4, 5})),
            std::vector<int64_t>{20});
  for (size_t i = 0; i < 20; ++i) EXPECT_EQ(out[i], 2 * in[i]);
}

TEST(Runs, InputCoversMoreThanOutput) {
  auto in = numbers();  // rows 1 to 4, columns 2 to 6 of 8 x 8
  std::vector<int16_t> out(4);
  EXPECT_EQ(doubled(View::window(in.data(), DType::kUint8, {{1, 2}, {5, 7}}, {8, 8}),
                    View::window(out.data(), DType::kInt16, {{3, 4}, {5, 6}}, {8, 8})),
            (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(out, (std::vector<int16_t>{24, 26, 34, 36}));
}

TEST(Runs, RowsHaveRoomBetweenThem) {
  auto in = numbers();
  std::vector<int16_t> out(16, -1);
  View from = View::dense(in.data(), DType::kUint8, {4, 3}),
       to = View::dense(out.data(), DType::kInt16, {4, 3});
  from.strides[0] = 5;
  EXPECT_EQ(doubled(from, to), (std::vector<int64_t>{3, 3, 3, 3}));
  EXPECT_EQ(out,
            (std::vector<int16_t>{0, 2, 4, 10, 12, 14, 20, 22, 24, 30, 32, 34, -1, -1, -1, -1}));
  to.strides[0] = 8;
  EXPECT_EQ(doubled(from, to), (std::vector<int64_t>{3, 3, 3, 3}));
  EXPECT_EQ(out,
            (std::vector<int16_t>{0, 2, 4, 10, 10, 12, 14, 22, 20, 22, 24, 34, 30, 32, 34, -1}));
}

TEST(Runs, ElementsMayLieBackwards) {
  auto in = numbers();
  std::vector<int16_t> out(3);
  View from = View::dense(in.data() + 9, DType::kUint8, {3});
  from.strides[0] = -4;
  EXPECT_EQ(doubled(from, View::dense(out.data(), DType::kInt16, {3})),
            (std::vector<int64_t>{1, 1, 1}));
  EXPECT_EQ(out, (std::vector<int16_t>{18, 10, 2}));
}

TEST(Runs, ScalarIsOneElementAndNothingIsNone) {
  uint8_t in = 7;
  int16_t out = 0;
  EXPECT_EQ(doubled(View::dense(&in, DType::kUint8, {}), View::dense(&out, DType::kInt16, {})),
            std::vector<int64_t>{1});
  EXPECT_EQ(out, 14);
  EXPECT_TRUE(
      doubled(View::dense(&in, DType::kUint8, {0, 3}), View::dense(&out, DType::kInt16, {0, 3}))
          .empty());
}

}  // namespace
}  // namespace stoker
