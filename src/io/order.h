// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Which sample comes when: one infinite stream of epochs, each in order or a keyed permutation,
// dealt to shards in batches. Computed from a single number, the cursor; nothing is stored.
//
// Note [Two ways to deal]
// *Dealing* (shuffled, or one shard): a step takes batch_size * num_shards consecutive positions of
// the stream, shard s the s-th batch of them. The cursor counts positions of the stream, so
// whatever was used is a prefix of it, and another batch size or shard count may go on from there.
// *Contiguous shards* (several shards not shuffled, or stick_to_shard): shard s owns [s N / S, (s +
// 1) N / S) of the samples. The cursor counts what every shard has consumed: another batch size may
// go on from there, another shard count may not.
//
// Epochs of contiguous shards: a shard's n-th segment is its epoch n. It is the segment of shard s
// + n (of s with stick_to_shard), so in every epoch each segment belongs to one shard and (epoch,
// position) is unique over all shards. With kPad and kDrop epochs are equally long on all shards:
// the longest segment padded, or the shortest one cut, to whole batches. With kContinue a shard's
// epoch is as long as its segment, which may differ by one between shards.
#pragma once
#include <cstdint>

namespace stoker::io {

// The order's key where the user gives none: the same on every rank, whatever the pipeline's seed.
inline constexpr uint64_t kDefaultOrderKey = 0x53746f6b6572;

struct OrderSpec {
  // How the end of an epoch meets the batches: the next epoch's first samples fill up; the last
  // sample is repeated up to a whole step; what does not fill a whole step is left out.
  enum class EpochEnd : uint8_t { kContinue, kPad, kDrop };

  int64_t size = 0;  // samples in the set
  uint64_t key = kDefaultOrderKey;
  bool shuffle = false, stick_to_shard = false;
  EpochEnd end = EpochEnd::kContinue;
  int64_t batch_size = 1;
  int shard_id = 0, num_shards = 1;

  bool operator==(const OrderSpec&) const = default;
};

// One sample's turn. Chance is keyed by (epoch, position), which is unique over all shards; a
// repeat (padding) carries the position of the sample that it repeats.
struct SampleRef {
  int64_t epoch, position, index;
  bool repeat;

  bool operator==(const SampleRef&) const = default;
};

// Immutable; thread-safe. A cursor is 0 at the start, or anything that next() gave to an Order of
// the same kind. A *step* is one batch on each shard.
class Order {
 public:
  static constexpr int64_t kMaxSize = int64_t{1} << 40;

  // Throws GraphError where no step could ever be made: an empty set, a shard without samples, less
  // than one batch to keep.
  explicit Order(const OrderSpec& spec);

  // The i-th sample of this shard's batch in the step at `cursor`. Requires: 0 <= i <
  // batch_size.
  SampleRef at(int64_t cursor, int64_t i) const;
  // The cursor of the step after.
  int64_t next(int64_t cursor) const;
  // The epoch in which the step at `cursor` starts.
  int64_t epoch_of(int64_t cursor) const;
  // Whether the step at `cursor` is the last one that starts in its epoch: it reaches or crosses
  // its end.
  bool ends_epoch(int64_t cursor) const;
  // Steps from the one at `cursor` to the one that ends its epoch, both counted: at least 1.
  int64_t steps_left(int64_t cursor) const;
  // Contiguous shards: a state must not go to another number of shards.
  bool contiguous() const;
  const OrderSpec& spec() const { return spec_; }

 private:
  // Where a cursor stands: positions before and after it in its epoch.
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
  bool rotates() const { return contiguous() && !spec_.stick_to_shard; }
  Spot spot(int64_t cursor) const;
  Spot cyclic_spot(int64_t cursor) const;
  int64_t start(int64_t cursor) const;
  SampleRef resolve(int64_t epoch, int64_t offset) const;

  OrderSpec spec_;
};

}  // namespace stoker::io
