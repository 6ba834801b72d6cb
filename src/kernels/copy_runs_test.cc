// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/copy_runs.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

namespace stoker {
namespace {

void copy_plainly(const Shape& box, const Shape& from_strides, const Shape& to_strides,
                  int64_t element, const std::byte* from, std::byte* to) {
  for (int64_t k = 0; k < box.volume(); ++k) {
    int64_t rest = k, in = 0, out = 0;
    for (int a = box.rank - 1; a >= 0; --a) {
      in += rest % box[a] * from_strides[a];
      out += rest % box[a] * to_strides[a];
      rest /= box[a];
    }
    for (int64_t b = 0; b < element; ++b) to[out + b] = from[in + b];
  }
}

// Dense strides, with gaps behind some axes, mirrored along others.
Shape strides_of(const Shape& box, int64_t element, std::mt19937& random, int64_t& start) {
  Shape s = Shape::filled(box.rank, 0);
  int64_t step = element;
  for (int a = box.rank - 1; a >= 0; --a) {
    s[a] = step;
    step *= box[a] + (random() % 3 == 0 ? random() % 3 : 0);
    if (random() % 4 == 0) start += (box[a] - 1) * s[a], s[a] = -s[a];
  }
  return s;
}

TEST(CopyRuns, AsElementByElement) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 800; ++trial) {
    Shape box;
    const int rank = static_cast<int>(random() % 5);
    for (int a = 0; a < rank; ++a) box.push_back(static_cast<int64_t>(1 + random() % 5));
    const int64_t element = int64_t{1} << random() % 4;
    int64_t from_start = 0, to_start = 0;
    const Shape from = strides_of(box, element, random, from_start),
                to = strides_of(box, element, random, to_start);
    std::vector<std::byte> source(80000), want(80000), got(80000);
    for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::byte>(i * 7 + i / 251);
    copy_plainly(box, from, to, element, source.data() + from_start, want.data() + to_start);
    const Runs runs(box, from, to, element);
    EXPECT_EQ(runs.volume(), box.volume() * element);
    copy_runs(runs, source.data() + from_start, got.data() + to_start);
    ASSERT_EQ(got, want) << "trial " << trial;
  }
}

TEST(CopyRuns, JoinsAxesThatFollow) {
  const Runs dense({4, 5, 3}, {15, 3, 1}, {15, 3, 1}, 1);
  EXPECT_EQ(dense.bytes, 60);
  EXPECT_EQ(dense.count.rank, 0);
  const Runs into_gaps({4, 5, 3}, {15, 3, 1}, {20, 4, 1}, 1);
  EXPECT_EQ(into_gaps.bytes, 3);
  EXPECT_EQ(into_gaps.count, Shape{20});
}

TEST(CopyRuns, AlternatingMemories) {
  std::mt19937 random(4);
  for (const int64_t element : {1, 2, 4, 8})
    for (size_t count = 2; count <= kMostAlternating; ++count)
      for (const int64_t columns : {2, 33, 5000}) {
        const auto n = static_cast<int64_t>(count);
        const Shape box{3, columns, 1}, from{(columns + 2) * element, element, 0},
            to{(columns + 1) * n * element, n * element, element};
        const Runs runs(box, from, to, element);
        ASSERT_TRUE(alternate(runs, count));
        std::vector<std::vector<std::byte>> memories(count);
        std::vector<const std::byte*> sources;
        std::vector<std::byte> want(static_cast<size_t>(3 * to[0])), got(want);
        for (size_t i = 0; i < count; ++i) {
          memories[i].resize(static_cast<size_t>(3 * from[0]));
          for (std::byte& b : memories[i]) b = static_cast<std::byte>(random());
          sources.push_back(memories[i].data());
          copy_runs(runs, sources[i], want.data() + static_cast<int64_t>(i) * element);
        }
        copy_alternating(runs, sources, got.data());
        ASSERT_EQ(got, want) << element << ' ' << count << ' ' << columns;
      }
  EXPECT_FALSE(alternate(Runs({4, 1}, {3, 1}, {6, 1}, 3), 2));
  EXPECT_FALSE(alternate(Runs({4, 1}, {1, 1}, {3, 1}, 1), 2));
}

TEST(CopyRuns, CopiesNothingOfAnEmptyBox) {
  copy_runs(Runs({3, 0}, {4, 4}, {4, 4}, 4), nullptr, nullptr);
}

}  // namespace
}  // namespace stoker
