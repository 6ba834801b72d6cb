// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A pass over a batch of samples as a block program (Note [Block programs] in device/device.h),
// which gives the bytes of run_blocks. This file has the descriptors that the program reads, made
// by batch.h on the host; phases.h has what it does.
//
// Note [Tiles]
// A thread block makes a tile: some rows of a sample, at positions [begin, end) of the line, which
// is one axis of the output. A row has all positions of the line and, where they are few, all
// channels; the other axes number the rows. First, the block works out where its rows are, and
// keeps this in shared memory. Second, it loads what its rows need of the source into shared
// memory, where each row is resampled along all axes but the line. Third, it makes every value from
// there and puts it beside, in the order of the output. Fourth, it writes these bytes out. The
// values that a warp needs lie anywhere, and are read there in the third phase.
#pragma once
#include <cstddef>
#include <cstdint>

#include "kernels/fused/pass.h"
#include "kernels/fused_device/vector_access.h"

namespace stoker {

// An address in the sample's own memory, or with `scratch` an offset in what lies between passes.
struct FusedMemory {
  int64_t address = 0;
  bool scratch = false;
};

// One axis of a sample's output window. Positions in [lo, hi) are data.
struct FusedAxis {
  int64_t extent, lo, hi, out_stride;
  int64_t in_stride;  // 0 for a resampled or warped axis
  int64_t table;  // 0, or the offset of a table with the input position of each data position
};

// The taps of a resampled axis, with one row for each of its data positions. `first`, `taps` and
// `weights` are offsets in the descriptor buffer.
struct FusedTaps {
  int axis;
  int64_t in_stride, first, taps, weights, pitch;
};

// The warp of a task's source. Places count from the first position with data of each axis.
struct FusedWarp {
  WarpInput source;
  WarpPlaces places;
  Filter filter;
  int64_t fill;  // offset of a value of the warp's result
  int64_t fill_step;  // bytes to that of the next channel
  PerspectiveMap perspective;
};

struct FusedFill {
  int64_t lo[kMaxRank], hi[kMaxRank];
  int64_t values;  // offset of 8 bytes for each channel
};

enum class FusedArithmetic : uint8_t { kMove, kFixed, kFloat, kDouble, kWarp };

struct FusedTask {
  FusedMemory in, out;
  int64_t in_begin, in_end;  // addresses; all bytes between them can be read
  FusedArithmetic kind;
  DType in_type, resampled, out_type;
  int in_size, out_size, rank, line_axis, channel_axis, tap_count, steps, fills;
  int row_axes, order[kMaxRank];  // the axes that number the rows, outermost first
  int channels, data_channels;  // of a row of the output, and of the source
  bool few_channels;  // a row has all channels, and channel_axis is not in `order`
  bool in_pixels, out_pixels;  // a row is one run of pixels in memory, else one run per channel
  bool in_runs, out_runs;  // these runs have no gaps
  bool makes_rows;  // values are copied or all held as float, so several rows are made at once
  FusedAxis axis[kMaxRank];
  FusedTaps taps[3];  // outermost first; the last one is for line_axis
  FusedFill fill[Pass::kMaxFills];
  int64_t step;  // offset of ValueStep[channel][steps]
  // Where channels are mixed: the offsets of a ChannelMix that makes the channels with data, and of
  // the source's steps before it, ValueStep[data_channels][steps_before_mix]. Else 0.
  int64_t mix, step_before_mix;
  int steps_before_mix;
  int64_t warp;  // offset of a FusedWarp; 0: none
};

// Positions [begin, end) of the line, for rows [first, first + rows), made from its positions
// [need, need + width) of the source. With width 0 these are too many or no runs, and values are
// read one by one.
struct FusedTile {
  int64_t task, need, begin, end;
  uint32_t first;
  int rows, width;
};

// Where a tile's values are in shared memory: distances in bytes from one value to the next, along
// x, channels and rows. Note [Banks]: runs lie an odd number of vectors apart, so that threads at
// the same position of several channels meet different banks.
struct SharedLayout {
  int in_value;  // size of a value
  int in_run, in_x, in_channel, in_row;
  int out_run, out_x, out_channel, out_row;
  static constexpr int kRowAddress = 64;  // size of a row's RowAddress

  STOKER_HD SharedLayout(const FusedTask& t, const FusedTile& tile) {
    in_value = t.kind == FusedArithmetic::kMove    ? t.in_size
               : t.kind == FusedArithmetic::kFixed ? 2
               : t.kind == FusedArithmetic::kFloat ? 4
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
  STOKER_HD int row() const { return in_row + out_row + kRowAddress; }

 private:
  STOKER_HD static int pitch(int run) { return (run + 31) / 32 * 32 + kVectorBytes; }
};

struct FusedProgram {
  static constexpr int kPhases = 4, kMostThreads = 128, kBlocks = 4;
  static constexpr int kRowsAtOnce = 4;  // rows that a thread makes at once: same taps, same steps
  const std::byte* tables;  // the descriptor buffer
  int64_t tasks, tiles;  // offsets in it
  std::byte* scratch;

  STOKER_HD void run(int phase, int64_t block, int thread, int threads, std::byte* shared) const;
};

namespace fused {

template <class T>
STOKER_HD inline const T* at(const std::byte* tables, int64_t offset) {
  return reinterpret_cast<const T*>(in_global(tables + offset));
}

}  // namespace fused
}  // namespace stoker
