// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes the rows of a pass that begins with a Warp: Note [Warps] in kernels/warp/warp_map.h. Lives
// for one pass; one thread at a time.
#pragma once
#include "base/view.h"
#include "kernels/fused/pass.h"
#include "kernels/fused/target.h"
#include "kernels/rows/warp.h"
#include "kernels/warp/warp_map.h"
#include "memory/arena.h"

namespace stoker {

class RowWarper {
 public:
  // `read` is the window of the pass's `viewed` that the target's data needs. Requires: the pass
  // has a Warp and the target has data.
  RowWarper(const Pass& pass, const Strided& in, const Window& read, const View& out,
            Target& target, Arena& arena);
  void run(Target& out, const Shape& row) const;

 private:
  static constexpr int kMost = WarpSource::kMost;
  struct Steps {  // from one position of an axis of the target to the next
    int64_t place[kMost] = {}, bytes = 0;
  };
  struct Line {  // a row of one channel
    int64_t place[kMost] = {};
    const std::byte* from = nullptr;

    void go(const Steps& s, int64_t positions);
  };
  struct Range {
    int64_t begin, end;
  };

  void find_pixels(const Pass& pass, const Window& read, const Target& target);
  Range narrowed(const Line& line, int axis, Range r, int64_t lo, int64_t hi) const;
  Range touched(const Line& line) const;

  template <class T>
  void warp_pixels(const Line& line, std::byte* to, int64_t pitch) const;
  template <class T>
  void put_pixels(const T* quads, int64_t n, int64_t at, std::byte* to, int64_t pitch) const;
  void fill_pixels(Range r, std::byte* to, int64_t pitch) const;

  // The positions of `r` that are made without a look at the border.
  Range unbounded(const Line& line, Range r) const;
  // Finds the offsets of the positions of `r`, or their distances to the next values and their
  // fractions.
  void find_offsets(const Line& line, Range r) const;
  template <class Mean>
  void find_fractions(const Line& line, Range r) const;
  // `again`: the places are those of the line before.
  void make_line(const Line& line, bool again, std::byte* to) const;
  void pick_line(const Line& line, bool again, Range r, std::byte* to) const;
  template <class Mean>
  void mean_line(const Line& line, bool again, Range r, std::byte* to) const;

  // The loops of kernels/rows/warp.h that make a row, if any suit it.
  enum class Way : uint8_t { kValues, kPick, kBytes, kFloats };

  WarpSource source_;
  DType type_, result_;
  Way way_ = Way::kValues;
  bool linear_;
  Line first_;
  Steps steps_[kMaxRank], x_, c_;
  int64_t width_, channels_;
  std::byte fill_[8];
  rows::WarpedPixels pixels_;
  bool several_ = false;  // a pixel of `pixels_` holds several channels
  bool whole_pixels_ = false;  // the results are the target's pixels
  bool shares_places_ = false;  // all channels of a row have the same places
  // The place in a pixel of the target's first channel, and the step to the next one.
  int64_t channel_ = 0, channel_step_ = 0;
  // Of the positions of a row: where their first value lies, how far the next one is along each of
  // two axes, and the fractions there.
  int64_t *offsets_ = nullptr, *next_[2] = {};
  void* fractions_[2] = {};
  void* values_ = nullptr;  // of a row, before they get the result's type
};

}  // namespace stoker
