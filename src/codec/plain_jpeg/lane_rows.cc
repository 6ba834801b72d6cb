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
// With fewer rows, too many lanes rest.
constexpr int64_t kFewestRows = jpeg::kLanes;

}  // namespace

bool LaneRows::can_read(const PlainFrame& frame, int64_t rows) {
  if (frame.restart_interval != frame.mcus_across() || rows < kFewestRows ||
      frame.mcus_across() > jpeg::kMostMcusInLanes)
    return false;
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

LaneRows::LaneRows(std::span<const uint8_t> bytes, const PlainFrame& frame, const jpeg::Mcu& mcu,
                   int64_t end, Arena& scratch)
    : bytes_(bytes), f_(frame), end_(end), lanes_(scratch.array<jpeg::Lanes>(1)), at_(frame.data) {
  make_mcu(mcu);
  const int64_t most = mcu.count * f_.mcus_across() * kMostBytesOfLaneBlock;
  data_size_ =
      std::min(most, static_cast<int64_t>(bytes.size())) + jpeg::kUnstuffSlack + kLaneZeros;
  data_ = scratch.array<uint8_t>(static_cast<size_t>(jpeg::kLanes * data_size_));
  coefficients_ =
      scratch.array<int16_t>(static_cast<size_t>(jpeg::kGroupSize + kSlots * row_size_));
  place(0);
  jpeg::make_lanes(mcu_, coefficients_, data_, *lanes_);
}

// Each component has a row of groups for each of its rows of blocks.
void LaneRows::make_mcu(const jpeg::Mcu& mcu) {
  mcu_ = mcu;
  int b = 0;
  for (int c = 0; c < f_.count; ++c) {
    const PlainFrame::Component& of = f_.components[c];
    const int64_t blocks = f_.mcus_across() * of.across;
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

// Makes `mcu_` that of a row.
void LaneRows::place(int64_t row) {
  for (int b = 0; b < mcu_.count; ++b)
    mcu_.blocks[b].row = coefficients_ + places_[static_cast<size_t>(b)] + row % kSlots * row_size_;
}

const int16_t* LaneRows::blocks(int component, int row) const {
  return mcu_.blocks[first_block_[static_cast<size_t>(component)][static_cast<size_t>(row)]].row;
}

bool LaneRows::read_next(int64_t mcus) {
  for (int lane = 0; lane < jpeg::kLanes; ++lane)
    if ((running_ >> lane & 1) == 0 && !start(lane)) return false;
  const auto slot = static_cast<size_t>(read_ % kSlots);
  while (!is_done_[slot])
    for (uint32_t stopped = jpeg::run_lanes(*lanes_); stopped; stopped &= stopped - 1) {
      const int lane = std::countr_zero(stopped);
      if (!finish(lane) || !start(lane)) return false;
    }
  is_done_[slot] = false;
  place(read_++);
  std::fill_n(predictors_, 3, 0);
  jpeg::add_differences(mcu_, 0, mcus);
  return true;
}

// Gives a lane the next row, if there is one and a slot for it is free.
bool LaneRows::start(int lane) {
  if (started_ == end_ || started_ == read_ + kSlots) return true;
  if (started_ > 0 && !pass_marker()) return false;
  uint8_t* const data = data_ + lane * data_size_;
  const int64_t room = data_size_ - jpeg::kUnstuffSlack - kLaneZeros;
  const jpeg::Unstuffed got =
      jpeg::unstuff(bytes_.data() + at_, static_cast<int64_t>(bytes_.size() - at_), data, room);
  if (got.written >= room) return false;
  at_ += static_cast<size_t>(got.read);
  std::memset(data + got.written, 0, kLaneZeros);
  const auto l = static_cast<size_t>(lane);
  written_[l] = got.written;
  row_of_[l] = started_;
  const int64_t offset = started_ % kSlots * row_size_;
  std::memset(coefficients_ + jpeg::kGroupSize + offset, 0,
              static_cast<size_t>(row_size_) * sizeof *coefficients_);
  jpeg::start_lane(lane, jpeg::bits_at(data, 0), data + got.written + kLaneAhead, f_.mcus_across(),
                   offset, *lanes_);
  running_ |= uint32_t{1} << lane;
  ++started_;
  return true;
}

bool LaneRows::pass_marker() {
  const size_t begin = at_;
  while (at_ < bytes_.size() && bytes_[at_] == 0xFF) ++at_;
  if (at_ == bytes_.size() || at_ == begin) return false;
  return bytes_[at_++] == kRst0 + (started_ - 1) % 8;
}

// Whether a lane read all of its row, and no more than the bits that fill a byte are left.
bool LaneRows::finish(int lane) {
  const auto l = static_cast<size_t>(lane);
  running_ &= ~(uint32_t{1} << lane);
  const uint8_t* const end = data_ + lane * data_size_ + written_[l];
  const int64_t left = lanes_->reader(lane).left(end);
  is_done_[static_cast<size_t>(row_of_[l] % kSlots)] = true;
  if (row_of_[l] + 1 == f_.mcus_down()) {
    size_t at = at_;
    while (at < bytes_.size() && bytes_[at] == 0xFF) ++at;
    is_at_end_ = at < bytes_.size() && at > at_ && bytes_[at] == kEoi;
  }
  return lanes_->is_good(lane) && left >= 0 && left <= 7;
}

}  // namespace stoker
