// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "io/order/permute.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <unordered_set>
#include <vector>

namespace stoker::io {
namespace {

std::vector<int64_t> order_of(int64_t size, uint64_t key) {
  std::vector<int64_t> order(static_cast<size_t>(size));
  for (int64_t i = 0; i < size; ++i) order[static_cast<size_t>(i)] = permute(i, size, key);
  return order;
}

void expect_bijection(int64_t size, uint64_t key) {
  std::vector<bool> seen(static_cast<size_t>(size));
  for (int64_t i = 0; i < size; ++i) {
    const int64_t v = permute(i, size, key);
    ASSERT_TRUE(v >= 0 && v < size) << size;
    ASSERT_FALSE(seen[static_cast<size_t>(v)]) << size << " at " << i;
    seen[static_cast<size_t>(v)] = true;
  }
}

TEST(Permute, IsABijectionForEverySize) {
  for (int64_t size = 1; size <= 300; ++size)
    for (uint64_t key : {0, 1, 2}) expect_bijection(size, mix(key));
  for (int64_t size : {1023, 1024, 1025, 4097, 65535, 65536, 65537, 100003})
    expect_bijection(size, 7);
}

TEST(Permute, HugeSetsStayInRangeWithoutCollisions) {
  for (int64_t size :
       {(int64_t{1} << 40) - 1, int64_t{1} << 40, (int64_t{1} << 39) + 12345, int64_t{1} << 62}) {
    std::unordered_set<int64_t> seen;
    for (int64_t i = 0; i < 50000; ++i) {
      const int64_t v = permute(i < 25000 ? i : size - 1 - i, size, 99);
      ASSERT_TRUE(v >= 0 && v < size);
      ASSERT_TRUE(seen.insert(v).second);
    }
  }
}

// Saved states rely on these values.
TEST(Permute, GoldenValues) {
  EXPECT_EQ(order_of(10, 1), (std::vector<int64_t>{6, 8, 4, 5, 2, 0, 9, 7, 3, 1}));
  EXPECT_EQ(permute(0, 1281167, 0), 454254);
  EXPECT_EQ(permute(1281166, 1281167, 12345), 599868);
  EXPECT_EQ(permute(77, int64_t{1} << 40, 12345), 499255249834);
}

void expect_all_orders_alike(int64_t size, double chi_limit) {
  std::map<std::vector<int64_t>, int> count;
  int orders = 1;
  for (int i = 2; i <= size; ++i) orders *= i;
  const int epochs = 1000 * orders;
  for (int e = 0; e < epochs; ++e) ++count[order_of(size, mix(5, static_cast<uint64_t>(e)))];
  ASSERT_EQ(count.size(), static_cast<size_t>(orders));
  double chi = 0;
  for (const auto& [order, n] : count) chi += (n - 1000.) * (n - 1000.) / 1000;
  EXPECT_LT(chi, chi_limit) << size;
}

TEST(Permute, AllOrdersOfAFewThingsAreAlike) {
  expect_all_orders_alike(2, 10.8);  // limits that chance exceeds once in a thousand
  expect_all_orders_alike(3, 20.5);
  expect_all_orders_alike(4, 49.7);  // 24 000 epochs
  expect_all_orders_alike(5, 173.6);
}

TEST(Permute, EveryPlaceSeesTheMeanOverEpochs) {
  constexpr int64_t kSize = 100, kEpochs = 4000;
  std::vector<double> sum(kSize);
  for (uint64_t e = 0; e < kEpochs; ++e)
    for (int64_t i = 0; i < kSize; ++i)
      sum[static_cast<size_t>(i)] += static_cast<double>(permute(i, kSize, mix(1, e)));
  // The mean of 4000 uniform values of 0..99 has a standard deviation of 0.456.
  double squares = 0;
  for (double s : sum) {
    EXPECT_NEAR(s / kEpochs, 49.5, 4.2 * 0.456);
    squares += (s / kEpochs - 49.5) * (s / kEpochs - 49.5);
  }
  EXPECT_NEAR(std::sqrt(squares / kSize), 0.456, 0.12);
}

double correlation(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  const double n = static_cast<double>(a.size());
  const double mean_a = std::accumulate(a.begin(), a.end(), 0.0) / n;
  const double mean_b = std::accumulate(b.begin(), b.end(), 0.0) / n;
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double x = static_cast<double>(a[i]) - mean_a, y = static_cast<double>(b[i]) - mean_b;
    ab += x * y, aa += x * x, bb += y * y;
  }
  return ab / std::sqrt(aa * bb);
}

TEST(Permute, NeighboursAndEpochsAreUncorrelated) {
  for (int64_t size : {1000, 4096, 50000}) {
    const double limit = 4 / std::sqrt(static_cast<double>(size));
    const std::vector<int64_t> one = order_of(size, mix(3, 1)), two = order_of(size, mix(3, 2));
    EXPECT_LT(std::abs(correlation({one.begin(), one.end() - 1}, {one.begin() + 1, one.end()})),
              limit);
    EXPECT_LT(std::abs(correlation({one.begin(), one.end() - 2}, {one.begin() + 2, one.end()})),
              limit);
    EXPECT_LT(std::abs(correlation(one, two)), limit);
    std::vector<int64_t> straight(one.size());
    std::iota(straight.begin(), straight.end(), 0);
    EXPECT_LT(std::abs(correlation(one, straight)), limit);
  }
}

TEST(Permute, FixedPointsAndAdjacentPairsAreAsRareAsChance) {
  int fixed = 0, adjacent = 0;
  for (uint64_t e = 0; e < 500; ++e) {
    const std::vector<int64_t> o = order_of(1000, mix(11, e));
    for (size_t i = 0; i < o.size(); ++i) fixed += o[i] == static_cast<int64_t>(i);
    for (size_t i = 0; i + 1 < o.size(); ++i) adjacent += o[i + 1] == o[i] + 1;
  }
  EXPECT_NEAR(fixed, 500, 100);  // one per epoch on average, within four and a half deviations
  EXPECT_NEAR(adjacent, 500, 100);
}

}  // namespace
}  // namespace stoker::io
