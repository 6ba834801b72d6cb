// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Resampling of pictures row by row: between the axes there is never more than one row in memory.
#pragma once
#include "base/view.h"
#include "kernels/fused/pass.h"
#include "kernels/fused/target.h"
#include "kernels/resample/resample.h"
#include "kernels/rows/line.h"
#include "kernels/rows/rows.h"
#include "memory/arena.h"

namespace stoker {

// A resampling whose last axis lies along the target's rows, with at most one axis before it. The
// source has pixels of up to 4 neighbouring values, or planes. The result is that of resample().
class RowResampler {
 public:
  static bool suits(const Pass& pass, const Strided& in, const Target& target);

  // Requires: suits() holds and the target has data.
  RowResampler(const Pass& pass, const Strided& in, const View& out, Target& target, Arena& arena);
  void run(Target& out, const Shape& row) const;

 private:
  template <class W>
  TapTable<W> make_taps(const Pass& pass, const View& out, const Target& target, TapTable<W>& rows,
                        Arena& arena);
  void prepare_fixed(const TapTable<int16_t>& columns, Arena& arena);
  void prepare_float(const TapTable<float>& columns, Arena& arena);
  // Loads `channels` channels of the target's data, from channel `first` on.
  void load_fixed(const std::byte* from, int64_t y, const Target& out, int64_t first,
                  int64_t channels, std::byte* to) const;
  void sum_float(const std::byte* from, int64_t y, void* pixels) const;
  void load_float_pixels(const std::byte* from, int64_t y, std::byte* to) const;
  void load_float(const std::byte* from, int64_t y, std::byte* to, int64_t pitch,
                  int64_t channels) const;
  void sum_wide(const std::byte* from, int64_t y, void* pixels) const;
  void load_wide_pixels(const std::byte* from, int64_t y, std::byte* to) const;
  void load_wide(const std::byte* from, int64_t y, std::byte* to, int64_t pitch,
                 int64_t channels) const;

  bool fixed_, wide_;
  DType type_, result_;
  const std::byte* data_;
  int64_t offset_;  // of the first value that any tap needs
  int64_t outer_[kMaxRank] = {};  // bytes per position of the target's axes that are not resampled
  int y_ = -1;  // axis of the target that is resampled before the rows; -1: none
  int64_t y_lo_ = 0;
  int64_t row_stride_ = 0, x_stride_;
  int64_t plane_stride_ = 0;  // between the target's channels; 0 when a pixel holds all of them
  int pixel_ = 1;  // values from one pixel to the next
  // The place in a pixel of the target's first channel with data, and the step to the next channel.
  int channel_ = 0, channel_step_ = 0;
  int64_t values_ = 1;  // number of values read of a row of the source
  TapTable<int16_t> fixed_rows_;
  TapTable<float> float_rows_;
  TapTable<double> wide_rows_, wide_columns_;
  rows::LineTaps line_;  // of fixed-point rows
  rows::PixelTaps pixels_;  // of float rows
  bool steps_ = false;  // the target's steps are done here
  bool whole_pixels_ = false;  // the result's pixels are the target's
  bool within_ = false;  // no weight is negative
  int64_t pitch_ = 0;  // of a fixed-point row as planes, in values
  void *row_, *summed_ = nullptr, *planes_ = nullptr;
};

}  // namespace stoker
