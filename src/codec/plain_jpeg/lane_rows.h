// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The coefficients of files that have a restart marker behind each row of MCUs: eight rows are read
// at once (Note [Lanes] of kernels/jpeg/lanes.h). One thread at a time.
#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "codec/plain_jpeg/frame.h"
#include "kernels/jpeg/lanes.h"
#include "memory/arena.h"

namespace stoker {

class LaneRows {
 public:
  // Whether the file is such, and this CPU gains from lanes in so many rows.
  static bool can_read(const PlainFrame& frame, int64_t rows);

  // Reads rows [0, end) at most. `mcu` says what the tables are. Requires: can_read(frame, end);
  // bytes, frame, tables and scratch outlive this, and scratch is not reset.
  LaneRows(std::span<const uint8_t> bytes, const PlainFrame& frame, const jpeg::Mcu& mcu,
           int64_t end, Arena& scratch);

  // Reads the next row. The coefficients of its first `mcus` MCUs are there until the next call.
  // Returns false at anything that is not as in undamaged plain files.
  [[nodiscard]] bool read_next(int64_t mcus);
  // A row of groups of blocks (Note [Groups of blocks] of kernels/jpeg/idct.h) of the component.
  const int16_t* blocks(int component, int row) const;
  // Whether the last row of the picture, which was read, is followed by the end of the file's data.
  [[nodiscard]] bool is_at_end() const { return is_at_end_; }

 private:
  static constexpr int64_t kSlots = 12;

  void make_mcu(const jpeg::Mcu& mcu);
  void place(int64_t row);
  bool start(int lane);
  bool pass_marker();
  bool finish(int lane);

  std::span<const uint8_t> bytes_;
  const PlainFrame& f_;
  const int64_t end_;
  jpeg::Mcu mcu_;  // of the row that was read
  std::array<int64_t, jpeg::kMostBlocksInLanes> places_ = {};  // of its blocks in the first slot
  std::array<std::array<int, 4>, 3> first_block_ = {};  // of each row of blocks of a component
  int32_t predictors_[3] = {};
  int64_t row_size_ = 0;  // of coefficients of a row of MCUs
  int64_t data_size_ = 0;  // of a lane
  int16_t* coefficients_ = nullptr;  // a free group, and kSlots rows of MCUs, in turn
  uint8_t* data_ = nullptr;  // of all lanes
  jpeg::Lanes* lanes_ = nullptr;
  size_t at_;  // behind the data of the last row that was started
  int64_t started_ = 0, read_ = 0;  // rows
  std::array<int64_t, jpeg::kLanes> row_of_ = {};
  std::array<int64_t, jpeg::kLanes> written_ = {};  // bytes of its data
  std::array<bool, kSlots> is_done_ = {};
  uint32_t running_ = 0;  // lanes as bits
  bool is_at_end_ = false;
};

}  // namespace stoker
