// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "io/order.h"

#include <string>

#include "base/error.h"
#include "base/hash.h"
#include "io/permute.h"

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

}  // namespace

Order::Order(const OrderSpec& spec) : spec_(spec) {
  check_ranges(spec);
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

// Where a cursor is when segments may differ in size: the shard reads on through all segments,
// beginning with its own.
Order::Spot Order::cyclic_spot(int64_t cursor) const {
  const int64_t laps = (segment(spec_.shard_id).begin + cursor) / spec_.size;
  const int64_t place = (segment(spec_.shard_id).begin + cursor) % spec_.size;
  // The segment that holds `place` is the one with the largest s for which floor(s N / S) <= place.
  const int64_t owner = ((place + 1) * spec_.num_shards - 1) / spec_.size;
  const Segment s = segment(owner);
  return {laps * spec_.num_shards + owner - spec_.shard_id, place - s.begin, s.size};
}

// Where the step at `cursor` really starts. With kDrop it moves on from a rest of an epoch that is
// too short for a step. A cursor can be there if its state was saved under another batch size.
int64_t Order::start(int64_t cursor) const {
  const Spot s = spot(cursor);
  return spec_.end == End::kDrop && s.left() < stride() ? cursor + s.left() : cursor;
}

SampleRef Order::resolve(int64_t epoch, int64_t offset) const {
  const Segment s = segment_of(epoch);
  const bool repeat = offset >= s.size;
  if (repeat) offset = s.size - 1;
  const int64_t index =
      spec_.shuffle
          ? permute(offset, s.size,
                    mix(spec_.key, static_cast<uint64_t>(epoch), static_cast<uint64_t>(s.begin)))
          : offset;
  return {epoch, s.begin + offset, s.begin + index, repeat};
}

SampleRef Order::at(int64_t cursor, int64_t i) const {
  const int64_t ahead = (contiguous() ? 0 : spec_.shard_id * spec_.batch_size) + i;
  if (spec_.end == End::kContinue) {
    const Spot s = spot(cursor + ahead);
    return resolve(s.epoch, s.offset);
  }
  const Spot s = spot(start(cursor));
  return resolve(s.epoch, s.offset + ahead);
}

int64_t Order::next(int64_t cursor) const {
  const int64_t from = start(cursor);
  if (spec_.end == End::kContinue || !ends_epoch(cursor)) return from + stride();
  return from + spot(from).left();
}

int64_t Order::epoch_of(int64_t cursor) const { return spot(start(cursor)).epoch; }

bool Order::ends_epoch(int64_t cursor) const { return steps_left(cursor) == 1; }

int64_t Order::steps_left(int64_t cursor) const {
  const int64_t left = spot(start(cursor)).left();
  return spec_.end == End::kDrop ? left / stride() : ceil_div(left, stride());
}

}  // namespace stoker::io
