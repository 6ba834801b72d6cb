// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/reader.h"

#include "op/rules.h"

namespace stoker {

void check_reader(const ReaderArguments& a) {
  using End = io::OrderSpec::EpochEnd;
  require(a.shard_id < a.num_shards, "argument 'shard_id' is ", a.shard_id, ", there are ",
          a.num_shards, " shards, counted from 0");
  require(!a.shuffle_after_epoch || !a.random_shuffle,
          "arguments 'shuffle_after_epoch' and 'random_shuffle' exclude each other");
  require(!a.shuffle_after_epoch || !a.stick_to_shard,
          "arguments 'shuffle_after_epoch' and 'stick_to_shard' exclude each other");
  const End end = a.epoch_end.value_or(End::kPad);
  require(!a.pad_last_batch || end == End::kPad,
          "argument 'pad_last_batch' excludes epoch_end=", end);
}

io::OrderSpec order_of(const ReaderArguments& a, int64_t size) {
  using End = io::OrderSpec::EpochEnd;
  io::OrderSpec s;
  s.size = size;
  if (a.shuffle_after_epoch_seed) s.key = static_cast<uint64_t>(*a.shuffle_after_epoch_seed);
  if (a.seed >= 0) s.key = static_cast<uint64_t>(a.seed);
  s.shuffle = a.random_shuffle || a.shuffle_after_epoch;
  s.stick_to_shard = a.stick_to_shard;
  s.same_share = a.shuffle_after_epoch;
  s.end = a.epoch_end.value_or(a.pad_last_batch ? End::kPad : End::kContinue);
  s.shard_id = a.shard_id;
  s.num_shards = a.num_shards;
  if (s.shuffle && a.shuffle_by == ShuffleBy::kBlock) {
    s.blocks = io::OrderBlocks::equal(size);
    s.window = a.initial_fill;
  }
  return s;
}

io::OrderSpec order_of(const ReaderArguments& a, const SampleStore& store) {
  ReaderArguments by = a;
  if (!by.shuffle_by)
    by.shuffle_by = store.is_read_by_block() ? ShuffleBy::kBlock : ShuffleBy::kSample;
  io::OrderSpec s = order_of(by, store.size());
  std::vector<int64_t> begins = store.block_begins();
  if (s.blocks && !begins.empty())
    s.blocks = std::make_shared<const io::OrderBlocks>(std::move(begins), s.size);
  return s;
}

}  // namespace stoker
