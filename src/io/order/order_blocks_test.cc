// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/testing.h"
#include "io/order/order_testing.h"

namespace stoker::io {
namespace {

std::shared_ptr<const OrderBlocks> uneven(int64_t size) {
  std::vector<int64_t> begins;
  for (int64_t at = 0, n = 1; at < size; at += n, n = n % 5 + 1) begins.push_back(at);
  return std::make_shared<const OrderBlocks>(begins, size);
}
OrderSpec by_blocks(OrderSpec s, int64_t window) {
  s.blocks = uneven(s.size);
  s.window = window;
  return s;
}

TEST(OrderByBlocks, ReadsEverySampleOnceAnEpoch) {
  for (const int64_t size : {1, 2, 17, 100})
    for (const int shards : {1, 2, 3, 7})
      for (const int64_t window : {1, 4, 1000})
        for (const bool stick : {false, true}) {
          if (size < shards) continue;
          SCOPED_TRACE(std::to_string(size) + " on " + std::to_string(shards) + " in windows of " +
                       std::to_string(window));
          const OrderSpec s = by_blocks(spec(size, 3, shards, End::kPad, true, stick), window);
          int64_t cursor = 0;
          std::map<int64_t, std::multiset<int64_t>> of_epoch;
          for (const SampleRef& p : job(s, cursor, 3))
            if (!p.repeat) of_epoch[p.epoch].insert(p.index);
          for (int64_t e = 0; e < 3; ++e) {
            ASSERT_EQ(of_epoch[e].size(), static_cast<size_t>(size));
            ASSERT_EQ(std::set<int64_t>(of_epoch[e].begin(), of_epoch[e].end()).size(),
                      static_cast<size_t>(size));
          }
        }
}

TEST(OrderByBlocks, IsElasticInShardsAndBatches) {
  const OrderSpec one = by_blocks(spec(100, 1, 1), 16);
  int64_t cursor = 0;
  const std::vector<SampleRef> stream = job(one, cursor, 3);
  for (const int shards : {2, 7})
    for (const int64_t batch : {1, 4}) {
      const OrderSpec s = by_blocks(spec(100, batch, shards), 16);
      for (int64_t at = 0; at < 150; at += 13) {
        std::set<std::tuple<int64_t, int64_t, int64_t>> dealt, expected;
        for (int shard = 0; shard < shards; ++shard)
          for (const SampleRef& p : step(shard_of(s, shard), at))
            dealt.emplace(p.epoch, p.position, p.index);
        for (int64_t i = at; i < at + batch * shards; ++i) {
          const SampleRef& p = stream[static_cast<size_t>(i)];
          expected.emplace(p.epoch, p.position, p.index);
        }
        ASSERT_EQ(dealt, expected);
      }
    }
}

// A window of samples comes from few blocks: those that hold it when blocks follow one another.
TEST(OrderByBlocks, StaysNearTheBlocksOfItsWindow) {
  OrderSpec s = spec(6400, 64, 1);
  s.blocks = OrderBlocks::equal(6400);
  ASSERT_EQ(s.blocks->count(), 100);
  s.window = 128;
  const Order o(s);
  std::set<int64_t> firsts;
  for (int64_t window = 0; window < 50; ++window) {
    std::set<int64_t> blocks;
    for (int64_t i = 0; i < 128; ++i) blocks.insert(o.at(window * 128 + i, 0).index / 64);
    EXPECT_EQ(blocks.size(), 2u);
    firsts.insert(*blocks.begin());
  }
  EXPECT_GT(firsts.size(), 30u);  // not one behind the other
}

TEST(OrderByBlocks, EpochsKeysAndWindowsMakeOtherOrders) {
  const auto order = [](uint64_t key, int64_t window, int64_t epoch) {
    OrderSpec s = by_blocks(spec(60, 1, 1), window);
    s.key = key;
    Indices all;
    for (int64_t i = 0; i < 60; ++i) all.push_back(Order(s).at(epoch * 60 + i, 0).index);
    return all;
  };
  EXPECT_NE(order(1, 8, 0), order(1, 8, 1));
  EXPECT_NE(order(1, 8, 0), order(2, 8, 0));
  EXPECT_NE(order(1, 8, 0), order(1, 9, 0));
  EXPECT_EQ(order(1, 8, 2), order(1, 8, 2));
}

// Saved states rely on this order.
TEST(OrderByBlocks, GoldenOrder) {
  const Order o(by_blocks(spec(12, 1, 1), 4));
  Indices all;
  for (int64_t i = 0; i < 24; ++i) all.push_back(o.at(i, 0).index);
  EXPECT_EQ(all,
            (Indices{10, 3, 5, 4, 0, 11, 7, 6, 2, 8, 1, 9, 10, 11, 1, 2, 3, 5, 4, 0, 8, 6, 7, 9}));
}

TEST(OrderByBlocks, HugeSetsTakeLittleMemory) {
  OrderSpec s = spec(100'000'000, 1, 1);
  s.blocks = OrderBlocks::equal(s.size);
  EXPECT_LE(s.blocks->count(), 1 << 16);
  s.window = 1024;
  const Order o(s);
  std::set<int64_t> seen;
  for (int64_t i = 0; i < 1000; ++i) seen.insert(o.at(i * 100'000, 0).index);
  EXPECT_EQ(seen.size(), 1000u);
}

TEST(OrderByBlocks, RefusesBlocksThatDoNotFit) {
  EXPECT_THROW(OrderBlocks({1, 2}, 5), GraphError);
  EXPECT_THROW(OrderBlocks({0, 2, 2}, 5), GraphError);
  EXPECT_THROW(OrderBlocks({0, 5}, 5), GraphError);
  OrderSpec s = by_blocks(spec(12, 1, 1), 0);
  EXPECT_THROW(Order{s}, GraphError);
  s.window = 1;
  s.size = 11;
  EXPECT_THROW(Order{s}, GraphError);
}

}  // namespace
}  // namespace stoker::io
