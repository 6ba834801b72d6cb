// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "io/order/order.h"

namespace stoker::io {

using End = OrderSpec::EpochEnd;
using Indices = std::vector<int64_t>;

inline OrderSpec spec(int64_t size, int64_t batch, int shards, End end = End::kContinue,
                      bool shuffle = true, bool stick = false) {
  OrderSpec s;
  s.size = size;
  s.batch_size = batch;
  s.num_shards = shards;
  s.end = end;
  s.shuffle = shuffle;
  s.stick_to_shard = stick;
  return s;
}
inline Order shard_of(OrderSpec s, int shard) {
  s.shard_id = shard;
  return Order(s);
}
inline std::vector<SampleRef> step(const Order& o, int64_t cursor) {
  std::vector<SampleRef> places;
  for (int64_t i = 0; i < o.spec().batch_size; ++i) places.push_back(o.at(cursor, i));
  return places;
}
// Everything that a whole job reads, in order: all steps of all shards while shard 0 is in an epoch
// below `epochs`.
inline std::vector<SampleRef> job(const OrderSpec& s, int64_t& cursor, int64_t epochs) {
  std::vector<SampleRef> all;
  const Order first = shard_of(s, 0);
  while (first.epoch_of(cursor) < epochs) {
    for (int shard = 0; shard < s.num_shards; ++shard)
      for (const SampleRef& p : step(shard_of(s, shard), cursor)) all.push_back(p);
    cursor = first.next(cursor);
  }
  return all;
}

}  // namespace stoker::io
