// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Which sample comes when: an endless stream of epochs, each in order or in a keyed permutation,
// dealt to shards in batches. It is computed from one number, the cursor.
//
// Note [Two ways to deal]
// *Dealing* (shuffled, or one shard): a step takes batch_size * num_shards consecutive positions of
// the stream, and shard s gets the s-th batch of them, but see Note [Shares] (order.cc). The cursor
// counts positions of the stream, so what was used is always a prefix of it, and a job may go on
// with another batch size or shard count.
//
// *Contiguous shards* (several shards that are not shuffled, or stick_to_shard): shard s owns the
// samples [s N / S, (s + 1) N / S). The cursor counts what each shard has consumed. A job may go on
// with another batch size, but not with another shard count.
//
// Epoch n of shard s is the segment of shard s + n, or with stick_to_shard of shard s. So in every
// epoch each segment belongs to one shard, and (epoch, position) is unique over all shards. With
// kPad and kDrop, epochs are equally long on all shards: the longest segment padded to whole
// batches, or the shortest one cut to whole batches. With kContinue, an epoch is as long as its
// segment, and these differ by one at most.
//
// Note [Shuffling by blocks]
// A permutation of all samples reads every block of a store again and again where a block has to be
// loaded as a whole. So there are orders that permute the blocks that an epoch has on a shard, or
// on all of them, put them one behind the other, and permute the samples within each window of
// `window` samples of the result. All of this is computed from the key, the epoch and where blocks
// begin, by a table with a number for each block.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "base/mutex.h"

namespace stoker::io {

// The order's key where the user gives none: the same on every rank, whatever the pipeline's seed.
inline constexpr uint64_t kDefaultOrderKey = 0x53746f6b6572;

// Where blocks of samples begin, for an order that shuffles them as wholes.
class OrderBlocks {
 public:
  // `begins`: the first index of each block, from 0 on, ascending. Throws GraphError.
  OrderBlocks(std::vector<int64_t> begins, int64_t size);
  // Blocks of the same size, for a store that has none of its own.
  static std::shared_ptr<const OrderBlocks> equal(int64_t size);

  int64_t count() const { return static_cast<int64_t>(begins_.size()) - 1; }
  // Requires: 0 <= i <= count().
  int64_t begin(int64_t i) const { return begins_[static_cast<size_t>(i)]; }
  // The block that holds the sample.
  int64_t block_of(int64_t index) const;
  uint64_t fingerprint() const { return fingerprint_; }

 private:
  std::vector<int64_t> begins_;  // and the size behind them
  uint64_t fingerprint_;
};

struct OrderSpec {
  // What happens to the last step of an epoch. kContinue fills it with the next epoch's first
  // samples, kPad repeats the last sample, and kDrop leaves out samples that do not fill a step.
  enum class EpochEnd : uint8_t { kContinue, kPad, kDrop };

  int64_t size = 0;  // number of samples in the store
  uint64_t key = kDefaultOrderKey;
  bool shuffle = false, stick_to_shard = false;
  bool same_share = false;  // see Note [Shares] (order.cc)
  EpochEnd end = EpochEnd::kContinue;
  int64_t batch_size = 1;
  int shard_id = 0, num_shards = 1;
  // See Note [Shuffling by blocks]. Null: samples are shuffled one by one.
  std::shared_ptr<const OrderBlocks> blocks = nullptr;
  int64_t window = 1;

  bool operator==(const OrderSpec&) const = default;
};

// (epoch, position) is the key of chance, and unique over all shards. A repeat (padding) has the
// position of the sample that it repeats.
struct SampleRef {
  int64_t epoch, position, index;
  bool repeat;

  bool operator==(const SampleRef&) const = default;
};

// A cursor is 0 at the start, or any value that next() of an Order of the same kind returned. A
// *step* is one batch on each shard. Immutable.
class Order {
 public:
  static constexpr int64_t kMaxSize = int64_t{1} << 40;
  // Larger cursors from outside are refused. No pipeline gets so far, and with steps of at most
  // 2^51 samples the sums below stay within 64 bits for a thousand steps from there.
  static constexpr int64_t kMaxCursor = int64_t{1} << 61;

  // Throws GraphError where no step can be made: for an empty store, for a shard without samples,
  // or when kDrop would leave out everything.
  explicit Order(const OrderSpec& spec);

  // The i-th sample of this shard's batch in the step at `cursor`. Requires: 0 <= i < batch_size.
  SampleRef at(int64_t cursor, int64_t i) const;
  // The cursor so many steps later, in constant time.
  int64_t after(int64_t cursor, int64_t steps) const;
  int64_t next(int64_t cursor) const { return after(cursor, 1); }
  // The epoch in which the step at `cursor` starts.
  int64_t epoch_of(int64_t cursor) const;
  // Whether the step at `cursor` is the first one to start in its epoch.
  bool begins_epoch(int64_t cursor) const;
  // Whether the step at `cursor` is the last to start in its epoch: it reaches or crosses its end.
  bool ends_epoch(int64_t cursor) const;
  // The number of steps from the one at `cursor` to the last of its epoch, both counted.
  int64_t steps_left(int64_t cursor) const;
  // Whether shards are contiguous, so that a state may not move to another number of shards.
  bool contiguous() const;
  const OrderSpec& spec() const { return spec_; }

 private:
  // Where a cursor is: its epoch, how many positions of it come before, and its length.
  struct Spot {
    int64_t epoch, offset, length;
    int64_t left() const { return length - offset; }
  };
  struct Segment {
    int64_t begin, size;
  };
  Segment segment(int64_t shard) const;
  Segment segment_of(int64_t epoch) const;
  int64_t stride() const;
  int64_t steps_of(int64_t length) const;
  bool rotates() const { return contiguous() && !spec_.stick_to_shard; }
  Spot spot(int64_t cursor) const;
  Spot cyclic_spot(int64_t cursor) const;
  int64_t start(int64_t cursor) const;
  SampleRef resolve(int64_t epoch, int64_t offset) const;
  class Tables;

  OrderSpec spec_;
  std::shared_ptr<Tables> tables_;  // of the last epochs; null: not by blocks
};

}  // namespace stoker::io
