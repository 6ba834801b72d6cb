// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/plain_jpeg/lane_rows.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "codec/plain_jpeg/segments.h"
#include "kernels/jpeg/idct.h"
#include "kernels/jpeg/unstuff.h"

namespace stoker {
namespace {

// A reader may be so far behind the end of the data without having used what follows it.
constexpr int64_t kLaneAhead = 8;
constexpr int64_t kLaneZeros = kLaneAhead + jpeg::kLaneSlack;
// No picture needs more for a block, on average over a row: it would be more than it has without
// any compression.
constexpr int64_t kMostBytesOfLaneBlock = 96;
// An MCU may end in the byte in which the next one begins, which may be FF with a 0 behind it.
constexpr int64_t kBytesBehind = 2;
// With fewer rows, too many lanes rest.
constexpr int64_t kFewestRows = 6;
// Whole rows at once are much memory: one vector of lanes, so that it stays in the CPU's caches.
constexpr int kLanesByMarkers = jpeg::kLanesOfVector, kLanesByIndex = jpeg::kLanes;

bool can_use_lanes(const PlainFrame& frame) {
  jpeg::Mcu mcu;
  int16_t any;
  for (int c = 0; c < frame.count; ++c)
    for (int b = frame.components[c].across * frame.components[c].down; b > 0; --b) {
      jpeg::McuBlock& block = mcu.blocks[mcu.count++];
      block.row = &any;
      block.across = frame.components[c].across;
    }
  return jpeg::can_use_lanes(mcu);
}

}  // namespace

bool LaneRows::can_read(const PlainFrame& frame, int64_t end) {
  return frame.restart_interval == frame.mcus_across() && end >= kFewestRows &&
         frame.mcus_across() <= jpeg::kMostMcusInLanes && can_use_lanes(frame);
}

bool LaneRows::can_read(const PlainFrame& frame, const EntropyIndex& index, const McuArea& area) {
  return frame.restart_interval % frame.mcus_across() == 0 && area.rows() >= kFewestRows &&
         widened(index, area).columns() <= jpeg::kMostMcusInLanes &&
         index.every() % jpeg::kBlocksInGroup == 0 && can_use_lanes(frame);
}

McuArea LaneRows::widened(const EntropyIndex& index, McuArea area) {
  area.column -= index.every() ? area.column % index.every() : area.column;
  return area;
}

bool LaneRows::proves(const PlainFrame& frame, const EntropyIndex& index, const McuArea& area) {
  return index.column_behind(area.column) < area.end_column ||
         has_end(frame, index, {area.row, area.column, area.end_column});
}

// The number of the first place behind a stretch.
int64_t LaneRows::place_behind(const EntropyIndex& index, const Stretch& s) {
  return index.number_of(s.row, s.end - 1) + 1;
}

// Whether the index has the place that is reached with the last MCU, without passing a marker.
bool LaneRows::has_end(const PlainFrame& frame, const EntropyIndex& index, const Stretch& s) {
  const int64_t next = place_behind(index, s);
  return next < index.count() && index.place(next).mcu == s.row * frame.mcus_across() + s.end &&
         (s.end < frame.mcus_across() || frame.restart_interval == 0);
}

LaneRows::LaneRows(std::span<const uint8_t> bytes, const PlainFrame& frame, const jpeg::Mcu& mcu,
                   const McuArea& area, const EntropyIndex* index, Arena& scratch)
    : bytes_(bytes),
      f_(frame),
      area_(area),
      index_(index),
      used_(index ? kLanesByIndex : kLanesByMarkers),
      ends_{area.column, area.end_column, area.end_column},
      lanes_(scratch.array<jpeg::Lanes>(1)),
      at_(frame.data) {
  if (index_ && index_->column_behind(area.column) < area.end_column) {
    const int64_t middle = (area.column + area.end_column + index_->every()) / 2;
    ends_[1] = middle - middle % index_->every();
    stretches_ = 2;
  }
  make_mcu(mcu);
  data_size_ = most_data() + jpeg::kUnstuffSlack + kLaneZeros;
  data_ = scratch.array<uint8_t>(static_cast<size_t>(used_ * data_size_));
  coefficients_ =
      scratch.array<int16_t>(static_cast<size_t>(jpeg::kGroupSize + kSlots * row_size_));
  place(0);
  jpeg::make_lanes(mcu_, coefficients_, data_, *lanes_);
}

// More bytes than any stretch takes, unless it has more than pictures need.
int64_t LaneRows::most_data() const {
  const auto all = static_cast<int64_t>(bytes_.size());
  const int64_t row = f_.mcus_across() * mcu_.count * kMostBytesOfLaneBlock;
  if (!index_) return std::min(row, all);
  int64_t most = 0;
  for (int64_t i = 0; i < area_.rows() * stretches_; ++i) {
    const Stretch s = stretch(i);
    const auto begin = static_cast<int64_t>(place_before(s).offset);
    const int64_t next = place_behind(*index_, s);
    most = std::max(most, next < index_->count()
                              ? static_cast<int64_t>(index_->place(next).offset) - begin
                              : std::min(row, all - begin));
  }
  return most + kBytesBehind + 1;
}

ScanPlace LaneRows::place_before(const Stretch& s) const {
  return index_->place(index_->number_of(s.row, s.begin));
}

// Each component has a row of groups for each of its rows of blocks.
void LaneRows::make_mcu(const jpeg::Mcu& mcu) {
  mcu_ = mcu;
  int b = 0;
  for (int c = 0; c < f_.count; ++c) {
    const PlainFrame::Component& of = f_.components[c];
    const int64_t blocks = area_.columns() * of.across;
    for (size_t y = 0; y < static_cast<size_t>(of.down); ++y) {
      first_block_[static_cast<size_t>(c)][y] = b;
      for (int x = 0; x < of.across; ++x, ++b) {
        places_[static_cast<size_t>(b)] = jpeg::kGroupSize + row_size_;
        mcu_.blocks[b].predictor = &predictors_[c];
      }
      row_size_ += (blocks + jpeg::kBlocksInGroup - 1) / jpeg::kBlocksInGroup * jpeg::kGroupSize;
    }
  }
}

// Makes `mcu_` that of a row, counted from the first one.
void LaneRows::place(int64_t row) {
  for (int b = 0; b < mcu_.count; ++b)
    mcu_.blocks[b].row = coefficients_ + places_[static_cast<size_t>(b)] + row % kSlots * row_size_;
}

const int16_t* LaneRows::blocks(int component, int row) const {
  return mcu_.blocks[first_block_[static_cast<size_t>(component)][static_cast<size_t>(row)]].row;
}

LaneRows::Stretch LaneRows::stretch(int64_t number) const {
  const auto in_row = static_cast<size_t>(number % stretches_);
  return {area_.row + number / stretches_, ends_[in_row], ends_[in_row + 1]};
}

bool LaneRows::read_next(int64_t mcus) {
  for (int lane = 0; lane < used_; ++lane)
    if ((lanes_->running >> lane & 1) == 0 && !start(lane)) return false;
  int64_t& done = done_[static_cast<size_t>(read_ % kSlots)];
  while (done < stretches_)
    for (uint32_t stopped = jpeg::run_lanes(*lanes_); stopped; stopped &= stopped - 1) {
      const int lane = std::countr_zero(stopped);
      if (!finish(lane) || !start(lane)) return false;
    }
  done = 0;
  place(read_);
  for (int64_t i = 0; i < stretches_; ++i) {
    const Stretch s = stretch(read_ * stretches_ + i);
    if (!add_differences(s, std::min(s.end, area_.column + mcus))) return false;
  }
  ++read_;
  return true;
}

// Makes DC coefficients up to a column. Returns whether they lead to those of the index.
bool LaneRows::add_differences(const Stretch& s, int64_t end) {
  std::array<int32_t, 3> from = {};
  if (index_) from = place_before(s).predictors;
  std::copy_n(from.begin(), 3, predictors_);
  jpeg::add_differences(mcu_, s.begin - area_.column, end - area_.column);
  if (!index_ || end < s.end || !has_end(f_, *index_, s)) return true;
  const std::array<int32_t, 3> want = index_->place(place_behind(*index_, s)).predictors;
  return std::equal(want.begin(), want.end(), predictors_);
}

// Gives a lane the next stretch, if there is one and a slot for its row is free.
bool LaneRows::start(int lane) {
  if (started_ == area_.rows() * stretches_ || started_ == (read_ + kSlots) * stretches_)
    return true;
  Job& job = jobs_[static_cast<size_t>(lane)];
  job = {.stretch = stretch(started_)};
  if (!(index_ ? load_by_index(lane, job) : load_by_marker(lane, job))) return false;
  uint8_t* const data = data_of(lane);
  std::memset(data + job.written, 0, kLaneZeros);
  const int64_t offset = started_ / stretches_ % kSlots * row_size_;
  if (started_ % stretches_ == 0)
    std::memset(coefficients_ + jpeg::kGroupSize + offset, 0,
                static_cast<size_t>(row_size_) * sizeof *coefficients_);
  const Stretch& s = job.stretch;
  const int bit = index_ ? place_before(s).bit : 0;
  jpeg::start_lane(lane, jpeg::bits_at(data, bit), data + job.written + kLaneAhead,
                   s.begin - area_.column, s.end - area_.column, offset, *lanes_);
  ++started_;
  return true;
}

// Loads up to an offset in the file, or to a marker. Returns whether there is room for that.
bool LaneRows::load(int lane, size_t end, Job& job) {
  const int64_t room = data_size_ - jpeg::kUnstuffSlack - kLaneZeros - job.written;
  const jpeg::Unstuffed got =
      jpeg::unstuff(bytes_.data() + at_, static_cast<int64_t>(std::min(end, bytes_.size()) - at_),
                    data_of(lane) + job.written, room);
  at_ += static_cast<size_t>(got.read);
  job.written += got.written;
  return got.written < room;
}

bool LaneRows::load_by_marker(int lane, Job& job) {
  return (started_ == 0 || pass_marker()) && load(lane, bytes_.size(), job);
}

bool LaneRows::load_by_index(int lane, Job& job) {
  const Stretch& s = job.stretch;
  at_ = place_before(s).offset;
  const int64_t next = place_behind(*index_, s);
  if (next == index_->count()) return load(lane, bytes_.size(), job);
  const ScanPlace end = index_->place(next);
  if (has_end(f_, *index_, s)) {
    job.has_end = true;
    if (!load(lane, end.offset, job) || at_ != end.offset) return false;
    job.end = 8 * job.written + end.bit;
  }
  return load(lane, end.offset + kBytesBehind, job);
}

bool LaneRows::pass_marker() {
  const size_t begin = at_;
  while (at_ < bytes_.size() && bytes_[at_] == 0xFF) ++at_;
  if (at_ == bytes_.size() || at_ == begin) return false;
  return bytes_[at_++] == kRst0 + (started_ - 1) % 8;
}

// Whether a lane read all of its stretch, to where it has to end: at the place of the index, or by
// a marker before which there are only bits that fill a byte.
bool LaneRows::finish(int lane) {
  const Job& job = jobs_[static_cast<size_t>(lane)];
  const int64_t left = lanes_->reader(lane).left(data_of(lane) + job.written);
  ++done_[static_cast<size_t>((job.stretch.row - area_.row) % kSlots)];
  if (!lanes_->is_good(lane) || left < 0) return false;
  if (index_) return !job.has_end || 8 * job.written - left == job.end;
  if (job.stretch.row + 1 == f_.mcus_down()) {
    size_t at = at_;
    while (at < bytes_.size() && bytes_[at] == 0xFF) ++at;
    is_at_end_ = at < bytes_.size() && at > at_ && bytes_[at] == kEoi;
  }
  return left <= 7;
}

}  // namespace stoker
