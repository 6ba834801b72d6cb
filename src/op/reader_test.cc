// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/reader.h"

#include <gtest/gtest.h>

#include "op/rules.h"

namespace stoker {
namespace {

using End = io::OrderSpec::EpochEnd;

TEST(Reader, MakesAnOrder) {
  io::OrderSpec s = order_of({}, 10);
  EXPECT_EQ(s, (io::OrderSpec{.size = 10}));
  s = order_of({.random_shuffle = true, .shard_id = 1, .num_shards = 3, .pad_last_batch = true},
               10);
  EXPECT_TRUE(s.shuffle);
  EXPECT_EQ(s.end, End::kPad);
  EXPECT_EQ(s.shard_id, 1);
  EXPECT_EQ(s.num_shards, 3);
  EXPECT_TRUE(order_of({.shuffle_after_epoch = true}, 10).shuffle);
  EXPECT_EQ(order_of({.epoch_end = End::kDrop}, 10).end, End::kDrop);
  EXPECT_TRUE(order_of({.stick_to_shard = true}, 10).stick_to_shard);
}

TEST(Reader, KeysComeFromSeeds) {
  EXPECT_EQ(order_of({}, 1).key, io::kDefaultOrderKey);
  EXPECT_EQ(order_of({.seed = 5}, 1).key, 5u);
  EXPECT_EQ(order_of({.shuffle_after_epoch_seed = 6}, 1).key, 6u);
  EXPECT_EQ(order_of({.seed = 5, .shuffle_after_epoch_seed = 6}, 1).key, 5u);
}

TEST(Reader, RefusesContradictions) {
  EXPECT_NO_THROW(check_reader({.pad_last_batch = true, .epoch_end = End::kPad}));
  EXPECT_THROW(check_reader({.shard_id = 2, .num_shards = 2}), WrongCall);
  EXPECT_THROW(check_reader({.random_shuffle = true, .shuffle_after_epoch = true}), WrongCall);
  EXPECT_THROW(check_reader({.shuffle_after_epoch = true, .stick_to_shard = true}), WrongCall);
  EXPECT_THROW(check_reader({.pad_last_batch = true, .epoch_end = End::kDrop}), WrongCall);
}

}  // namespace
}  // namespace stoker
