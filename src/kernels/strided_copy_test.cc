// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/strided_copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

namespace stoker {
namespace {

constexpr size_t kGuard = 64;
constexpr std::byte kUntouched{0xA5};

class StridedCopy : public ::testing::Test {
 protected:
  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(rng_);
  }

  // Memory ends where the elements end, so that sanitizers see what reads beyond them.
  void expect_copied(const Shape& shape, const Shape& strides, int64_t size) {
    int64_t low = 0, high = size;
    for (int a = 0; a < shape.rank; ++a) {
      const int64_t last = std::max<int64_t>(shape[a] - 1, 0) * strides[a];
      (last < 0 ? low : high) += last;
    }
    const std::unique_ptr<std::byte[]> memory(new std::byte[high - low]);
    for (int64_t i = 0; i < high - low; ++i)
      memory[i] = static_cast<std::byte>((i * 0x9E3779B1) >> 24);
    const std::byte* first = memory.get() - low;
    const size_t bytes = static_cast<size_t>(shape.volume() * size);
    const size_t before = kGuard + static_cast<size_t>(pick(0, 1));
    std::vector<std::byte> got(before + bytes + kGuard, kUntouched), want = got;
    copy_to_dense(first, shape, strides, size, got.data() + before);
    std::byte* to = want.data() + before;
    for (int64_t i = 0; i < shape.volume(); ++i, to += size) {
      const std::byte* from = first;
      for (int64_t a = shape.rank - 1, rest = i; a >= 0; rest /= shape[static_cast<int>(a)], --a)
        from += rest % shape[static_cast<int>(a)] * strides[static_cast<int>(a)];
      std::memcpy(to, from, static_cast<size_t>(size));
    }
    EXPECT_EQ(got, want) << shape.str() << " strides " << strides.str() << " size " << size;
  }

  std::mt19937 rng_{11};
};

int64_t any_size(int64_t drawn) {
  constexpr int64_t kSizes[] = {1, 2, 4, 8, 1, 2, 4, 8, 3, 5, 6, 12, 16, 24};
  return kSizes[drawn];
}

// Dense memory with axes in any order, mirrored, thinned out, cut, repeated, or none of these.
TEST_F(StridedCopy, ViewsOfDenseMemory) {
  for (int trial = 0; trial < 4000; ++trial) {
    const int64_t size = any_size(pick(0, 13));
    const int rank = static_cast<int>(pick(0, kMaxRank));
    Shape shape = Shape::filled(rank, 1), strides = shape;
    std::vector<int> order(rank);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), rng_);
    if (pick(0, 2) == 0) std::sort(order.begin(), order.end());
    int64_t stride = size * (pick(0, 5) ? 1 : pick(1, 3)) + (pick(0, 7) ? 0 : pick(0, 3));
    for (int a = rank - 1, most = rank > 3 ? 5 : 90; a >= 0; --a) {
      const int64_t extent = pick(0, 60) ? pick(1, pick(0, 1) ? 5 : most) : 0;
      const int64_t gap = pick(0, 3) ? 0 : pick(0, 20);
      const int64_t step = pick(0, 5) ? 1 : pick(0, 3);
      shape[order[a]] = extent;
      strides[order[a]] = stride * step * (pick(0, 2) ? 1 : -1);
      stride = stride * std::max<int64_t>(step * extent, 1) + gap;
      if (stride * 90 > 4'000'000) most = 3;
    }
    if (std::abs(stride) < 8'000'000) expect_copied(shape, strides, size);
  }
}

TEST_F(StridedCopy, Pictures) {
  for (int64_t size : {1, 2, 3, 4, 8})
    for (int64_t c : {1, 2, 3, 4, 5, 17})
      for (int64_t h : {1, 3, 5, 16, 65})
        for (int64_t w : {2, 6, 9, 16, 17, 70}) {
          const int64_t row = w * c * size, pixel = c * size;
          for (int sign : {1, -1}) {
            expect_copied({h, w, c}, {sign * row, pixel, size}, size);
            expect_copied({h, w, c}, {row, sign * pixel, size}, size);
            expect_copied({h, w, c}, {row + 5, pixel, sign * size}, size);
            expect_copied({w, h, c}, {sign * pixel, row, size}, size);
            expect_copied({w, h, c}, {pixel, sign * row, size}, size);
            expect_copied({c, h, w}, {sign * size, row, pixel}, size);
            expect_copied({c, w, h}, {size, pixel, sign * row}, size);
            expect_copied({h, w, c}, {sign * w * size, size, h * w * size}, size);
            expect_copied({h, w, c}, {w * size, sign * size, h * w * size}, size);
            expect_copied({h, w, c}, {w * size, sign * size, 0}, size);
            expect_copied({h, w, c}, {0, 0, sign * size}, size);
          }
        }
}

// Addresses of elements are no multiples of their size.
TEST_F(StridedCopy, FieldsOfRecords) {
  for (int64_t size : {1, 2, 4, 8})
    for (int64_t record : {9, 13, 16, 17, 31})
      for (int64_t n : {1, 7, 16, 100})
        for (int sign : {1, -1}) {
          expect_copied({n}, {sign * record}, size);
          expect_copied({3, n}, {record * n + 1, sign * record}, size);
          expect_copied({n, 3}, {sign * record, record * n}, size);
        }
}

}  // namespace
}  // namespace stoker
