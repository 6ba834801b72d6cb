// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The coefficients of rows of MCUs whose beginnings are known: many are read at once (Note [Lanes]
// of kernels/jpeg/lanes.h). One thread at a time.
//
// Note [Stretches]
// A lane reads one stretch after the other: MCUs of a row up to a place where another may begin.
// Where a restart marker is behind each row, a stretch is a row. An entropy index has more places:
// stretches begin at the last one before the window and end with it, and each row has two, which
// part at the place next to the middle, so that few lanes rest at the end of the window. A stretch
// that ends at a place of the index has to end at that bit and with those DC coefficients. So each
// place from which a lane begins is one that another lane has found, unless no place follows it in
// the window: proves() says whether the decoder has to look by itself.
#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "codec/plain_jpeg/entropy_index.h"
#include "codec/plain_jpeg/frame.h"
#include "kernels/jpeg/lanes.h"
#include "memory/arena.h"

namespace stoker {

// MCUs [column, end_column) of the rows [row, end_row).
struct McuArea {
  int64_t row = 0, end_row = 0, column = 0, end_column = 0;

  int64_t rows() const { return end_row - row; }
  int64_t columns() const { return end_column - column; }
};

class LaneRows {
 public:
  // Whether this CPU gains from lanes in rows [0, end) of the file, as a marker is behind each.
  static bool can_read(const PlainFrame& frame, int64_t end);
  // Whether it gains from them in an area, whose places the index has.
  static bool can_read(const PlainFrame& frame, const EntropyIndex& index, const McuArea& area);
  // The area with the columns before it from which lanes begin.
  static McuArea widened(const EntropyIndex& index, McuArea area);
  // Whether lanes find out by themselves if the places of such an area are those of the file.
  static bool proves(const PlainFrame& frame, const EntropyIndex& index, const McuArea& area);

  // Reads an area, which is widened. `mcu` says what the tables are. `index` is null where markers
  // tell; then all columns are read, from row 0 on. Requires: can_read(); bytes, frame, tables,
  // index and scratch outlive this, and scratch is not reset.
  LaneRows(std::span<const uint8_t> bytes, const PlainFrame& frame, const jpeg::Mcu& mcu,
           const McuArea& area, const EntropyIndex* index, Arena& scratch);

  // Reads the next row. The coefficients of its first `mcus` MCUs are there until the next call.
  // Returns false at anything that is not as in undamaged plain files, or as in the index.
  [[nodiscard]] bool read_next(int64_t mcus);
  // A row of groups of blocks (Note [Groups of blocks] of kernels/jpeg/idct.h) of the component,
  // from the area's first column on.
  const int16_t* blocks(int component, int row) const;
  // Whether the last row of the picture, which was read, is followed by the end of the file's data.
  // Requires: there is no index.
  [[nodiscard]] bool is_at_end() const { return is_at_end_; }

 private:
  static constexpr int64_t kSlots = 12;
  // Of a row.
  static constexpr int64_t kMostStretches = 2;

  struct Stretch {
    int64_t row = 0, begin = 0, end = 0;  // columns
  };
  // What a lane reads, and what has to be behind it.
  struct Job {
    Stretch stretch;
    int64_t written = 0;  // bytes of its data
    int64_t end = 0;  // bits of its data, if has_end
    bool has_end = false;
  };

  static bool has_end(const PlainFrame& frame, const EntropyIndex& index, const Stretch& s);
  static int64_t place_behind(const EntropyIndex& index, const Stretch& s);
  ScanPlace place_before(const Stretch& s) const;
  int64_t most_data() const;
  void make_mcu(const jpeg::Mcu& mcu);
  void place(int64_t row);
  Stretch stretch(int64_t number) const;
  bool start(int lane);
  bool load_by_marker(int lane, Job& job);
  bool load_by_index(int lane, Job& job);
  bool load(int lane, size_t end, Job& job);
  bool pass_marker();
  bool finish(int lane);
  bool add_differences(const Stretch& s, int64_t end);
  uint8_t* data_of(int lane) { return data_ + lane * data_size_; }

  std::span<const uint8_t> bytes_;
  const PlainFrame& f_;
  const McuArea area_;
  const EntropyIndex* const index_;
  const int used_;  // lanes
  int64_t stretches_ = 1;  // of a row
  std::array<int64_t, kMostStretches + 1> ends_ = {};  // columns between which they lie
  jpeg::Mcu mcu_;  // of the row that was read
  std::array<int64_t, jpeg::kMostBlocksInLanes> places_ = {};  // of its blocks in the first slot
  std::array<std::array<int, 4>, 3> first_block_ = {};  // of each row of blocks of a component
  int32_t predictors_[3] = {};
  int64_t row_size_ = 0;  // of coefficients of a row of MCUs
  int64_t data_size_ = 0;  // of a lane
  int16_t* coefficients_ = nullptr;  // a free group, and kSlots rows of MCUs, in turn
  uint8_t* data_ = nullptr;  // of all lanes
  jpeg::Lanes* lanes_ = nullptr;
  size_t at_;  // in the file: behind what was loaded last
  int64_t started_ = 0;  // stretches
  int64_t read_ = 0;  // rows
  std::array<Job, jpeg::kLanes> jobs_ = {};
  std::array<int64_t, kSlots> done_ = {};  // stretches of the row
  bool is_at_end_ = false;
};

}  // namespace stoker
