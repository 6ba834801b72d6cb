// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The rows that the windows of a row of output cover. They are kept from one row of output to the
// next, so every row of the input is converted once for each plane of the window.
#pragma once
#include <span>
#include <vector>

#include "kernels/elements/boxes.h"
#include "kernels/in_fours.h"
#include "kernels/neighbourhood/border.h"

namespace stoker {

// Rows of elements T, with what lies beyond the edges and room for kRoom elements behind.
// Load::row(const std::byte* from, T* to, int64_t n) converts n elements of the input.
template <class T, class Load>
class WindowRows {
 public:
  static constexpr int64_t kRoom = 2 * kRowRound;

  // Requires: one to three axes, in order and without gaps between them; `in` covers
  // window_demand() of `out` and has dense rows. `keeps_left`: whether left() is needed, for which
  // one more row has to fit into the CPU's nearest cache.
  WindowRows(const View& in, const View& out, std::span<const WindowAxis> axes, Border border,
             T fill, Arena& scratch, bool keeps_left)
      : border_(border), fill_(fill) {
    for (size_t k = 0; k < axes.size(); ++k) {
      RowAxis& x = axis_[3 - axes.size() + k];
      const int a = axes[k].axis;
      x = {axes[k],    out.origin[a], out.origin[a] + out.shape[a],
           in.full[a], in.origin[a],  in.strides[a]};
    }
    for (int a = axes.back().axis + 1; a < in.shape.rank; ++a) inner_ *= in.shape[a];
    const RowAxis& x = axis_[2];
    pitch_ = (x.end - x.begin + x.window.size - 1) * inner_;
    rows_.resize(static_cast<size_t>(depth() * height()));
    if (keeps_left) left_.resize(static_cast<size_t>(depth()));
    // What comes from the input begins at a vector's boundary where possible.
    const int64_t beyond = std::max<int64_t>(x.window.anchor - x.begin, 0) * inner_;
    const int64_t lead = rounded_up(beyond) - beyond;
    for (auto* list : {&rows_, &left_})
      for (T*& row : *list)
        row = scratch.array<T>(static_cast<size_t>(lead + pitch_ + kRoom)) + lead;
  }

  // Calls make(list) for all rows of the output in planes whose input begins at `from`. The list
  // has the rows that the window covers, plane by plane, each from the first neighbour of the
  // output's first element on. Neighbours along it are inner() elements apart.
  template <class Make>
  void run(const std::byte* from, const Make& make) {
    const RowAxis &z = axis_[0], &y = axis_[1];
    for (int64_t d = z.begin; d < z.end; ++d)
      for (int64_t h = y.begin; h < y.end; ++h) {
        follows_ = h > y.begin;
        for (int64_t j = 0; j < depth(); ++j) {
          T** rows = rows_.data() + j * height();
          if (follows_) {
            std::rotate(rows, rows + 1, rows + height());
            if (!left_.empty()) std::swap(rows[height() - 1], left_[static_cast<size_t>(j)]);
          }
          for (int64_t i = follows_ ? height() - 1 : 0; i < height(); ++i)
            load(from, d - z.window.anchor + j, h - y.window.anchor + i, rows[i]);
        }
        make(rows_.data());
      }
  }

  // The row of the first plane that the window has left since the call before; null: the rows do
  // not follow those of a call before. Requires: keeps_left.
  const T* left() const { return follows_ ? left_[0] : nullptr; }
  int64_t depth() const { return axis_[0].window.size; }
  int64_t height() const { return axis_[1].window.size; }
  int64_t width() const { return axis_[2].window.size; }
  int64_t inner() const { return inner_; }
  int64_t count() const { return (axis_[2].end - axis_[2].begin) * inner_; }  // of the output

 private:
  struct RowAxis {
    WindowAxis window;
    int64_t begin = 0, end = 1;  // of the output
    int64_t full = 1, origin = 0, stride = 0;  // of the input
  };

  void load(const std::byte* from, int64_t d, int64_t h, T* row) const {
    const RowAxis &z = axis_[0], &y = axis_[1], &x = axis_[2];
    const int64_t plane = bordered(d, z.full, border_), line = bordered(h, y.full, border_);
    if (plane < 0 || line < 0) return void(std::fill_n(row, pitch_, fill_));
    from += (plane - z.origin) * z.stride + (line - y.origin) * y.stride - x.origin * x.stride;
    const int64_t start = x.begin - x.window.anchor, end = start + pitch_ / inner_;
    const int64_t first = std::max<int64_t>(start, 0), last = std::min(end, x.full);
    const auto element = [&](int64_t p) { return row + (p - start) * inner_; };
    Load::row(from + first * x.stride, element(first), (last - first) * inner_);
    const auto beyond = [&](int64_t p) {
      const int64_t at = bordered(p, x.full, border_);
      if (at < 0) std::fill_n(element(p), inner_, fill_);
      else if (at >= first && at < last) std::copy_n(element(at), inner_, element(p));
      else Load::row(from + at * x.stride, element(p), inner_);
    };
    for (int64_t p = start; p < first; ++p) beyond(p);
    for (int64_t p = last; p < end; ++p) beyond(p);
  }

  Border border_;
  T fill_;
  RowAxis axis_[3];
  int64_t inner_ = 1, pitch_ = 0;
  std::vector<T*> rows_, left_;
  bool follows_ = false;
};

// Calls make(rows, list, to) for all rows of the dense `out`. `list` is that of WindowRows::run(),
// and the row begins at `to`. Requires: what WindowRows requires but dense rows; no overlap.
template <class T, class Load, class Make>
void for_each_window_row(const View& in, const View& out, std::span<const WindowAxis> axes,
                         Border border, T fill, Arena& scratch, const Make& make,
                         bool keeps_left = false) {
  if (out.shape.volume() == 0) return;
  const Window needed = window_demand(out.covers(), in.full, axes, border);
  const View part = with_dense_rows(part_of(in, needed), axes.back().axis, scratch);
  WindowRows<T, Load> rows(part, out, axes, border, fill, scratch, keeps_left);
  Shape outside = out.shape;  // one position for each set of planes
  for (int a = axes[0].axis; a < outside.rank; ++a) outside[a] = 1;
  const int64_t row = rows.count() * size_of(out.dtype);
  Walk<2> walk(outside, {{0, part.strides}, {0, out.strides}});
  do {
    for (int64_t k = 0; k < walk.count; ++k) {
      std::byte* to = out.as<std::byte>() + walk.row[1] + k * walk.step[1];
      rows.run(part.as<std::byte>() + walk.row[0] + k * walk.step[0], [&](T* const* list) {
        make(rows, list, to);
        to += row;
      });
    }
  } while (walk.next());
}

}  // namespace stoker
