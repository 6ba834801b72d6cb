// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "io/order/order.h"

#include <algorithm>
#include <deque>
#include <string>

#include "base/error.h"
#include "base/hash.h"
#include "io/order/permute.h"

namespace stoker::io {

namespace {

using End = OrderSpec::EpochEnd;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

[[noreturn]] void refuse(const std::string& what) { throw GraphError("order: " + what); }

void check_ranges(const OrderSpec& s) {
  const auto text = [](int64_t v) { return std::to_string(v); };
  if (s.size < 1) refuse("there are no samples");
  if (s.size > Order::kMaxSize) refuse("at most 2^40 samples, got " + text(s.size));
  if (s.batch_size < 1 || s.batch_size > INT32_MAX)
    refuse("batch_size must be between 1 and 2^31 - 1, got " + text(s.batch_size));
  if (s.num_shards < 1 || s.num_shards > 1 << 20)
    refuse("num_shards must be between 1 and 2^20, got " + text(s.num_shards));
  if (s.shard_id < 0 || s.shard_id >= s.num_shards)
    refuse("shard_id must be between 0 and " + text(s.num_shards - 1) + " (num_shards is " +
           text(s.num_shards) + "), got " + text(s.shard_id));
}

// Note [Shares]
// Where an epoch ends within a step, what is left of it is cut as contiguous shards cut all: of n
// positions, share s is [s n / S, (s + 1) n / S). A batch is completed from the next epoch, or by
// repeating its last sample. So an epoch of a shard is as long as its contiguous part would be, and
// at the end of any epoch no shard has read two samples more than another.
//
// With kPad, shard s gets in epoch e the share s + e, as it would get the segment of that number,
// or with same_share in all epochs share s. With kContinue it gets share s: what completed its
// batches before counts as the next epoch's, so these change in length as well. With fewer samples
// than shards, each shard gets its batch of the stream instead.
struct Share {
  int64_t begin, size;
};
Share share(const OrderSpec& s, int64_t positions, int64_t epoch = 0) {
  const int64_t each = positions / s.num_shards, rest = positions % s.num_shards;
  const int64_t mine = (s.shard_id + (s.same_share ? 0 : epoch)) % s.num_shards;
  const auto bound = [&](int64_t shard) { return shard * each + shard * rest / s.num_shards; };
  return {bound(mine), bound(mine + 1) - bound(mine)};
}

// Where a sample of a step is: so many epochs after the one in which the step begins.
struct Dealt {
  int64_t epochs, offset;
  bool repeat = false;
};

// The same for a step at `offset` that reaches into later epochs. Its positions are cut where
// epochs end, and with each cut the share of what lies before it grows by at least one sample.
Dealt dealt_across(const OrderSpec& s, int64_t offset, int64_t i) {
  const int64_t left = s.size - offset, batches_before = s.shard_id * s.batch_size;
  if (s.size < s.num_shards)
    return {(offset + batches_before + i) / s.size, (offset + batches_before + i) % s.size};
  // The first cut whose share holds the sample, or the one behind the last whole epoch.
  const int64_t whole = (s.batch_size * s.num_shards - left) / s.size;
  const int64_t even = i * s.num_shards < left ? 0 : (i * s.num_shards - left) / s.size + 1;
  int64_t cut = std::min(whole + 1, even);
  while (cut <= whole && share(s, left + cut * s.size).size <= i) ++cut;
  const Share before = cut ? share(s, left + (cut - 1) * s.size) : Share{0, 0};
  const int64_t begin = cut > whole ? batches_before : share(s, left + cut * s.size).begin;
  return {cut, (cut ? 0 : offset) + begin - before.begin + i - before.size};
}

// Sample i of the shard's batch in the step at `offset` of `epoch`, when dealing.
Dealt dealt(const OrderSpec& s, int64_t epoch, int64_t offset, int64_t i) {
  const int64_t left = s.size - offset;
  if (left >= s.batch_size * s.num_shards) return {0, offset + s.shard_id * s.batch_size + i};
  if (s.end == End::kContinue) return dealt_across(s, offset, i);
  const Share mine = share(s, left, epoch);
  if (i < mine.size) return {0, offset + mine.begin + i};
  // An empty share repeats the position before it.
  return {0, std::max<int64_t>(0, offset + mine.begin + mine.size - 1), true};
}

}  // namespace

OrderBlocks::OrderBlocks(std::vector<int64_t> begins, int64_t size) : begins_(std::move(begins)) {
  begins_.push_back(size);
  if (begins_[0] != 0 ||
      std::adjacent_find(begins_.begin(), begins_.end(), std::greater_equal<>()) != begins_.end())
    refuse("blocks must begin at 0 and hold a sample each");
  fingerprint_ = mix(begins_.size());
  for (const int64_t b : begins_) fingerprint_ = mix(fingerprint_, static_cast<uint64_t>(b));
}

std::shared_ptr<const OrderBlocks> OrderBlocks::equal(int64_t size) {
  // At least 64 samples, so that neighbours are read together, and at most 2^16 blocks.
  const int64_t each = std::max<int64_t>(64, ceil_div(size, 1 << 16));
  std::vector<int64_t> begins;
  for (int64_t at = 0; at < size; at += each) begins.push_back(at);
  return std::make_shared<const OrderBlocks>(std::move(begins), size);
}

int64_t OrderBlocks::block_of(int64_t index) const {
  return std::upper_bound(begins_.begin(), begins_.end(), index) - begins_.begin() - 1;
}

// The permuted blocks of the last epochs that were asked for. Thread-safe.
class Order::Tables {
 public:
  Tables(std::shared_ptr<const OrderBlocks> blocks, int64_t window)
      : blocks_(std::move(blocks)), window_(window) {}

  // Which sample of the segment [begin, begin + size) comes at `offset`, counted from `begin`.
  int64_t at(int64_t offset, int64_t begin, int64_t size, uint64_t key) const {
    const int64_t window = offset / window_, first = window * window_;
    const int64_t there = std::min(window_, size - first);
    const uint64_t window_key = mix(key, static_cast<uint64_t>(window));
    return table(begin, size, key)->at(first + permute(offset - first, there, window_key)) - begin;
  }

 private:
  struct Table {
    int64_t begin, size;
    uint64_t key;
    std::vector<int64_t> firsts, ends;  // by place: the first sample, and where the block ends

    int64_t at(int64_t place) const {
      const size_t k =
          static_cast<size_t>(std::upper_bound(ends.begin(), ends.end(), place) - ends.begin());
      return firsts[k] + place - (k ? ends[k - 1] : 0);
    }
  };

  std::shared_ptr<const Table> table(int64_t begin, int64_t size, uint64_t key) const {
    constexpr size_t kMost = 4;  // read ahead, at work, received, and one to spare
    const MutexLock lock(mutex_);
    for (const auto& t : last_)
      if (t->begin == begin && t->size == size && t->key == key) return t;
    if (last_.size() == kMost) last_.pop_front();
    last_.push_back(made(begin, size, key));
    return last_.back();
  }

  // The first and the last block may reach out of the segment: what lies outside does not count.
  std::shared_ptr<const Table> made(int64_t begin, int64_t size, uint64_t key) const {
    auto t = std::make_shared<Table>(Table{begin, size, key, {}, {}});
    const int64_t first = blocks_->block_of(begin);
    const int64_t count = blocks_->block_of(begin + size - 1) - first + 1;
    int64_t end = 0;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t b = first + permute(i, count, mix(key, kBlocksOfKey));
      const int64_t from = std::max(blocks_->begin(b), begin);
      end += std::min(blocks_->begin(b + 1), begin + size) - from;
      t->firsts.push_back(from);
      t->ends.push_back(end);
    }
    return t;
  }

  static constexpr uint64_t kBlocksOfKey = 0x626c6f636b73;  // no window has this number
  const std::shared_ptr<const OrderBlocks> blocks_;
  const int64_t window_;
  mutable Mutex mutex_;
  mutable std::deque<std::shared_ptr<const Table>> last_ STOKER_GUARDED_BY(mutex_);
};

Order::Order(const OrderSpec& spec) : spec_(spec) {
  check_ranges(spec);
  if (spec.blocks && spec.shuffle) {
    if (spec.window < 1) refuse("initial_fill must be at least 1");
    if (spec.blocks->begin(spec.blocks->count()) != spec.size) refuse("blocks end elsewhere");
    tables_ = std::make_shared<Tables>(spec.blocks, spec.window);
  }
  const int64_t shortest = contiguous() ? spec.size / spec.num_shards : spec.size;
  if (shortest == 0)
    refuse("a shard would have no samples: there are " + std::to_string(spec.size) + " for " +
           std::to_string(spec.num_shards) + " shards");
  if (spec.end == End::kDrop && shortest < stride())
    refuse("dropping what does not fill a step would leave nothing: a step takes " +
           std::to_string(stride()) + " samples of " + (contiguous() ? "a shard that has " : "") +
           std::to_string(shortest));
}

bool Order::contiguous() const {
  return spec_.num_shards > 1 && (!spec_.shuffle || spec_.stick_to_shard);
}

int64_t Order::stride() const {
  return contiguous() ? spec_.batch_size : spec_.batch_size * spec_.num_shards;
}

Order::Segment Order::segment(int64_t shard) const {
  const int64_t begin = shard * spec_.size / spec_.num_shards;
  return {begin, (shard + 1) * spec_.size / spec_.num_shards - begin};
}

// The samples that this shard reads in an epoch.
Order::Segment Order::segment_of(int64_t epoch) const {
  if (!contiguous()) return {0, spec_.size};
  return segment(rotates() ? (spec_.shard_id + epoch) % spec_.num_shards : spec_.shard_id);
}

Order::Spot Order::spot(int64_t cursor) const {
  if (rotates() && spec_.end == End::kContinue) return cyclic_spot(cursor);
  int64_t length = segment_of(0).size;
  if (contiguous() && spec_.end == End::kPad) length = ceil_div(spec_.size, spec_.num_shards);
  if (contiguous() && spec_.end == End::kDrop) length = spec_.size / spec_.num_shards;
  return {cursor / length, cursor % length, length};
}

// The place of a cursor when segments may differ in size: the shard reads on through all segments,
// beginning with its own.
Order::Spot Order::cyclic_spot(int64_t cursor) const {
  const int64_t laps = (segment(spec_.shard_id).begin + cursor) / spec_.size;
  const int64_t place = (segment(spec_.shard_id).begin + cursor) % spec_.size;
  // The segment that holds `place` is the one with the largest s for which floor(s N / S) <= place.
  const int64_t owner = ((place + 1) * spec_.num_shards - 1) / spec_.size;
  const Segment s = segment(owner);
  return {laps * spec_.num_shards + owner - spec_.shard_id, place - s.begin, s.size};
}

// Where the step at `cursor` really starts. With kDrop it skips a rest of an epoch that is too
// short for a step; a state saved under another batch size can have a cursor there.
int64_t Order::start(int64_t cursor) const {
  const Spot s = spot(cursor);
  return spec_.end == End::kDrop && s.left() < stride() ? cursor + s.left() : cursor;
}

SampleRef Order::resolve(int64_t epoch, int64_t offset) const {
  const Segment s = segment_of(epoch);
  const bool repeat = offset >= s.size;
  if (repeat) offset = s.size - 1;
  const uint64_t key = mix(spec_.key, static_cast<uint64_t>(epoch), static_cast<uint64_t>(s.begin));
  int64_t index = offset;
  if (tables_) index = tables_->at(offset, s.begin, s.size, key);
  else if (spec_.shuffle) index = permute(offset, s.size, key);
  return {epoch, s.begin + offset, s.begin + index, repeat};
}

SampleRef Order::at(int64_t cursor, int64_t i) const {
  const Spot s = spot(start(cursor));
  if (!contiguous()) {
    const Dealt p = dealt(spec_, s.epoch, s.offset, i);
    SampleRef sample = resolve(s.epoch + p.epochs, p.offset);
    sample.repeat = p.repeat;
    return sample;
  }
  if (spec_.end != End::kContinue) return resolve(s.epoch, s.offset + i);
  const Spot there = spot(cursor + i);
  return resolve(there.epoch, there.offset);
}

// Where epochs end in a step of their own, they are equally long.
int64_t Order::after(int64_t cursor, int64_t steps) const {
  const int64_t from = start(cursor), left = steps_left(cursor);
  if (spec_.end == End::kContinue || steps < left) return from + steps * stride();
  const Spot s = spot(from);
  const int64_t more = steps - left, each = steps_of(s.length);
  return from + s.left() + more / each * s.length + more % each * stride();
}

int64_t Order::epoch_of(int64_t cursor) const { return spot(start(cursor)).epoch; }

bool Order::begins_epoch(int64_t cursor) const { return spot(start(cursor)).offset < stride(); }

bool Order::ends_epoch(int64_t cursor) const { return steps_left(cursor) == 1; }

int64_t Order::steps_left(int64_t cursor) const { return steps_of(spot(start(cursor)).left()); }

// How many steps an epoch has in so many positions.
int64_t Order::steps_of(int64_t length) const {
  return spec_.end == End::kDrop ? length / stride() : ceil_div(length, stride());
}

}  // namespace stoker::io
