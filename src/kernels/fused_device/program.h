// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A pass over a batch of samples as a block program (Note [Block programs] of device/device.h),
// with the bytes of run_blocks. This is what it reads: descriptors in one buffer, which
// batch.h makes on the host. phases.h is what it does.
//
// Note [Tiles]
// A block makes a tile: some rows of a sample (all positions but those along a line and, where they
// are few, the channels), at [begin, end) of the line. Where its rows are is worked out first, into
// shared memory. What its lines need of the source comes there next, each row resampled along all
// axes but the line's; then every value is made from there and put beside it, in the order of the
// output; then these bytes go out.
#pragma once
#include <cstddef>
#include <cstdint>

#include "kernels/fused/pass.h"
#include "kernels/fused_device/vector_access.h"

namespace stoker {

// Bytes of the sample's own memory, or (scratch) of what the batch's passes hand to each other.
struct FusedMemory {
  int64_t address = 0;
  bool scratch = false;
};

// One axis of a sample's output window; positions in [lo, hi) are data.
struct FusedAxis {
  int64_t extent, lo, hi, out_stride;
  int64_t in_stride;  // 0 for a resampled axis
  int64_t table;  // 0, or where the input position of each data position stands
};

// The taps of a resampled axis, one row for each of its data positions. All places are offsets in
// the descriptor buffer.
struct FusedTaps {
  int axis;
  int64_t in_stride, first, taps, weights, pitch;
};

struct FusedFill {
  int64_t lo[kMaxRank], hi[kMaxRank];
  int64_t values;  // 8 bytes a channel
};

enum class FusedKind : uint8_t { kMove, kFixed, kFloat, kDouble };

struct FusedTask {
  FusedMemory in, out;
  int64_t in_begin, in_end;  // addresses; all between them can be read
  FusedKind kind;
  DType in_type, resampled, out_type;
  int in_size, out_size, rank, line_axis, channel_axis, tap_count, steps, fills;
  int row_axes, order[kMaxRank];  // what numbers the rows, outermost first
  int channels, data_channels;  // of a row
  bool few_channels;  // they are all of channel_axis, which then is not in order
  bool in_pixels, out_pixels;  // a row is one run of pixels in memory, else a run for each channel
  bool in_runs, out_runs;  // there are such runs, without gaps
  bool grouped;  // values are copied, or all held as float: made for a group of rows at once
  FusedAxis axis[kMaxRank];
  FusedTaps taps[3];  // outermost first, the last one along line_axis
  FusedFill fill[Pass::kMaxFills];
  int64_t step;  // ValueStep [channel][steps]
};

// Lines [begin, end) of rows [first, first + rows). Before the line is resampled, or moved, it is
// the positions [need, need + width); 0: they are too many, or no runs, and are read one by one.
struct FusedTile {
  int64_t task, need, begin, end;
  uint32_t first;
  int rows, width;
};

// Where a tile's values are in shared memory, in bytes from one to the next. Note [Banks]: runs are
// an odd number of vectors apart, so that threads that work on several channels at one position
// meet different banks.
struct FusedPlaces {
  int in_value;  // 2, 4 or 8
  int in_run, in_x, in_channel, in_row;
  int out_run, out_x, out_channel, out_row;
  static constexpr int kRowPlace = 64;  // where a row is in memory

  STOKER_HD FusedPlaces(const FusedTask& t, const FusedTile& tile) {
    in_value = t.kind == FusedKind::kMove    ? t.in_size
               : t.kind == FusedKind::kFixed ? 2
               : t.kind == FusedKind::kFloat ? 4
                                             : 8;
    in_x = in_value * (t.in_pixels ? t.data_channels : 1);
    in_run = in_x * tile.width;
    in_channel = t.in_pixels ? in_value : pitch(in_run);
    in_row = tile.width ? pitch(in_run) * (t.in_pixels ? 1 : t.data_channels) : 0;
    out_x = t.out_size * (t.out_pixels ? t.channels : 1);
    out_run = out_x * static_cast<int>(tile.end - tile.begin);
    out_channel = t.out_pixels ? t.out_size : pitch(out_run);
    out_row = pitch(out_run) * (t.out_pixels ? 1 : t.channels);
  }
  STOKER_HD int row() const { return in_row + out_row + kRowPlace; }

 private:
  STOKER_HD static int pitch(int run) { return (run + 31) / 32 * 32 + kVectorBytes; }
};

struct FusedProgram {
  static constexpr int kPhases = 4, kMostThreads = 128, kBlocks = 4;
  static constexpr int kGroup = 4;  // rows that a thread works on at once: the same taps and steps
  const std::byte* tables;  // the descriptor buffer
  int64_t tasks, tiles;  // where they stand in it
  std::byte* scratch;

  STOKER_HD void run(int phase, int64_t block, int thread, int threads, std::byte* shared) const;
};

namespace fused {

template <class T>
STOKER_HD inline const T* at(const std::byte* tables, int64_t place) {
  return reinterpret_cast<const T*>(in_global(tables + place));
}

}  // namespace fused
}  // namespace stoker
