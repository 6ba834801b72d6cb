// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The output side of a pass: the rows of its window, which of it is data or fill, and the steps.
#pragma once
#include <cstddef>
#include <span>

#include "base/view.h"
#include "kernels/fused/pass.h"
#include "kernels/rows/rows.h"
#include "memory/arena.h"

namespace stoker {

// An axis of the output's window. Positions count from its begin. [lo, hi) is data, the rest fill.
struct TargetAxis {
  int axis = -1;  // of the output; -1: there is no such axis, and the extent is 1
  int64_t extent = 1, lo = 0, hi = 1, stride = 0;

  int64_t data() const { return hi - lo; }
};

// A fill of the pass, in positions of the window. `values` has its final bytes, 8 for each channel.
struct TargetFill {
  Shape lo, hi;
  const std::byte* values;
};

// Splits the window into rows along axis x. A row's channels (axis c) are made plane by plane.
class Target {
 public:
  // `row_axis`: the axis of the rows; -1: the one whose values lie closest together.
  Target(const Pass& pass, const View& out, Arena& arena, int row_axis = -1);

  TargetAxis x, c;
  bool has_data() const { return has_data_; }
  int size() const { return size_; }  // of a value of the output
  const TargetAxis& axis(int a) const { return axis_[a]; }
  int rank() const { return rank_; }
  bool plain() const { return steps_ == 0; }
  std::span<const ValueStep> steps(int64_t channel) const {
    return {step_ + channel * steps_, static_cast<size_t>(steps_)};
  }
  bool is_uniform() const { return !has_lists_; }
  // The fill of the pass's warp: a value of the warp's result in 8 bytes for each channel.
  const std::byte* warp_fill() const { return warp_fill_; }
  std::span<const TargetFill> fills() const { return {fill_, static_cast<size_t>(fills_)}; }
  std::byte* at(const Shape& row) const;  // address of position 0 of x and c
  std::byte* data_at(const Shape& row) const;  // address of the row's first data

  // first() and next() visit all rows with data. `row` holds positions of the window, and 0 for x
  // and c. next() returns false after the last row.
  Shape first() const;
  bool next(Shape& row) const;

  // A source that called keep_planes() puts the data of channels [c.lo, c.hi) at x in [x.lo, x.hi)
  // into planes(row): one plane per channel, pitch() bytes apart.
  void keep_planes(Arena& arena);
  void* planes(const Shape& row);
  int64_t pitch() const { return direct_ ? c.stride : pitch_; }
  // Tells the target that the source does the steps itself, and puts results into planes().
  void leave_steps();
  // Where the row's data lies as pixels, one behind the other; null if it does not, or if there are
  // steps. A source that writes there need not finish().
  std::byte* pixels(const Shape& row) const;
  // Puts the values in planes(row) through the steps and into the output.
  void finish(const Shape& row) {
    if (!direct_) finish(row, loaded_, pitch_);
  }
  // finish() with planes that lie elsewhere, `pitch` bytes apart.
  void finish(const Shape& row, const std::byte* planes, int64_t pitch);
  // Copies a finished row's data to a row with the same data.
  void copy_row(const Shape& from, const Shape& to) const;
  void paint(Arena& arena) const;

 private:
  void choose_axes(const Pass& pass, int row_axis);
  void make_steps(const Pass& pass, const View& out, Arena& arena);
  void make_fills(const Pass& pass, const View& out, Arena& arena);
  void make_warp_fill(const Pass& pass, const View& out, Arena& arena);
  void paint_around(const TargetFill& f, Arena& arena) const;
  void paint_box(const std::byte* values, const Shape& lo, const Shape& hi, Arena& arena) const;

  std::byte* data_;
  DType from_;
  int rank_, size_, steps_, fills_;
  bool has_lists_;
  TargetAxis axis_[kMaxRank];
  TargetFill fill_[Pass::kMaxFills];
  ValueStep* step_ = nullptr;  // all steps, for each channel of the window
  const std::byte* warp_fill_ = nullptr;
  bool has_data_ = true, direct_ = false, contiguous_ = false, left_ = false;
  int64_t pitch_ = 0;
  std::byte *loaded_ = nullptr, *made_ = nullptr;
};

}  // namespace stoker
