// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The coefficients of progressive files: all scans are read at once, a few rows of MCUs at a time
// (Note [Progressive files] of progressive_frame.h). One thread at a time.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "codec/plain_jpeg/progressive_frame.h"
#include "codec/plain_jpeg/scan_reader.h"
#include "kernels/jpeg/progressive.h"
#include "memory/arena.h"

namespace stoker {

class ProgressiveRows {
 public:
  // Reads rows [0, end) at most. Requires: all of it outlives this, and scratch is not reset.
  ProgressiveRows(std::span<const uint8_t> bytes, const PlainFrame& frame,
                  std::span<const ProgressiveScan> scans, int64_t end, Arena& scratch);

  // Reads the next row. Returns false at anything that is not as in undamaged files of this kind.
  // How many of its MCUs are wanted makes no difference.
  [[nodiscard]] bool read_next(int64_t mcus);
  // Groups of blocks (Note [Groups of blocks] of kernels/jpeg/idct.h) of one of the component's
  // rows of blocks, until the next call.
  const int16_t* groups(int component, int row, int64_t first, int64_t count);
  // Whether the last row of the picture, which was read, is followed by the end of each scan.
  [[nodiscard]] bool is_at_end();

 private:
  struct Plane {
    int64_t across = 0, down = 0;  // blocks of the picture, without those that only fill MCUs
    int64_t stride = 0;  // blocks in a row, whole groups
    int16_t* coefficients = nullptr;  // of kRows rows of MCUs at most
    int16_t* dc = nullptr;
  };
  struct Scan {
    const ProgressiveScan* of;
    ScanReader reader;
    jpeg::Mcu mcu;  // of DC coefficients
    jpeg::BandTable* table = nullptr;  // of AC coefficients
  };

  void make_planes(Arena& scratch);
  void add_scan(std::span<const uint8_t> bytes, const ProgressiveScan& scan, Arena& scratch);
  bool read_rows();
  bool read_row(Scan& scan, int64_t row);
  bool read_mcus(Scan& scan, int64_t row);
  bool read_blocks(Scan& scan, int64_t row);
  // Rows of blocks count from the first one that is kept.
  int16_t* dc(int component, int64_t row) const {
    return planes_[component].dc + row * planes_[component].stride;
  }
  int16_t* coefficients(int component, int64_t row) const {
    return planes_[component].coefficients + 64 * row * planes_[component].stride;
  }

  const PlainFrame& f_;
  const int64_t end_;
  int64_t kept_ = 0;  // rows of MCUs at a time
  int64_t begin_ = 0, behind_ = 0, next_ = 0;  // rows [begin_, behind_) are kept
  Plane planes_[3];
  int16_t* groups_ = nullptr;
  std::vector<Scan> scans_;
};

}  // namespace stoker
