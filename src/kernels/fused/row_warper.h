// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes the rows of a pass that begins with a Warp: Note [Warps] in kernels/warp/warp_map.h.
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
  static constexpr int kMost = WarpInput::kMost;
  struct Strides {  // from one position of an axis of the target to the next
    int64_t place[kMost] = {}, bytes = 0, fill = 0;
  };
  struct Line {  // a row of one channel
    int64_t place[kMost] = {};
    const std::byte *from = nullptr, *fill = nullptr;

    void go(const Strides& s, int64_t positions);
  };
  struct Stretch {
    int64_t begin, end;
  };

  void find_pixels(const Pass& pass, const Window& read, const Target& target);
  void find_inside();
  Stretch narrowed(const Line& line, int axis, Stretch r, int64_t lo, int64_t hi) const;
  // Calls shown(range, inside) for ranges that show the source's values, those of `inside` without
  // a look at the border, and hidden(range) for all others.
  template <class Shown, class Hidden>
  void split(const Line& line, const Shown& shown, const Hidden& hidden) const;
  // Finds the places of a line and where they lie, for split().
  void find_perspective(const Line& line) const;
  rows::PlaceRow places(const Line& line, int64_t begin) const;
  // The line at position k, with that position's place.
  Line line_at(Line line, int64_t k) const;
  // Calls f(place), which gives the place along an axis of the k-th position of `r`.
  template <class F>
  void with_places(const Line& line, Stretch r, int axis, const F& f) const;

  template <class T>
  void warp_pixels(const Line& line, Stretch shown, Stretch inside, std::byte* to,
                   int64_t pitch) const;
  template <class T>
  void put_pixels(const T* quads, int64_t n, int64_t at, std::byte* to, int64_t pitch) const;
  void fill_pixels(const Line& line, Stretch r, std::byte* to, int64_t pitch) const;

  // Finds the offsets of the positions of `r`, or their distances to the next values and fractions.
  void find_offsets(const Line& line, Stretch r) const;
  template <class Mean>
  void find_fractions(const Line& line, Stretch r) const;
  // `again`: the places are those of the line before.
  void make_line(const Line& line, bool again, Stretch shown, Stretch inside, std::byte* to) const;
  void pick_line(const Line& line, bool again, Stretch shown, Stretch inside, std::byte* to) const;
  template <class Mean>
  void mean_line(const Line& line, bool again, Stretch shown, Stretch inside, std::byte* to) const;
  // With the cubic filter. N is the type of the sums.
  template <class N>
  void cubic_line(const Line& line, Stretch shown, std::byte* to) const;

  // The loops of kernels/rows/warp.h that make a row, if any suit it.
  enum class Way : uint8_t { kValues, kPick, kBytes, kFloats };

  WarpInput source_;
  PerspectiveMap perspective_;  // where there is one, the places of lines are output positions
  // The source's positions [lo, hi) that show its values, or need no look at the border.
  int64_t shown_lo_[kMost], shown_hi_[kMost], inside_lo_[kMost], inside_hi_[kMost];
  DType type_, result_;
  Way way_ = Way::kValues;
  Filter filter_;
  int axes_;
  Line first_;
  Strides strides_[kMaxRank], x_, c_;
  int64_t width_, channels_;
  bool has_one_fill_;  // for all channels
  rows::WarpedPixels pixels_;
  bool several_ = false;  // a pixel of `pixels_` holds several channels
  bool whole_pixels_ = false;  // the results are the target's pixels
  bool shares_places_ = false;  // all channels of a row have the same places
  // The place in a pixel of the target's first channel, and how far the next one lies.
  int64_t channel_ = 0, channel_stride_ = 0;
  // Of a row's positions: where their first values lie, how far the next are along two axes, and
  // the fractions there.
  int64_t *offsets_ = nullptr, *next_[2] = {};
  void* fractions_[2] = {};
  // With a perspective: the places of a row, and what split() tells of each.
  int64_t* places_[kMost] = {};
  uint8_t* where_ = nullptr;
  void* values_ = nullptr;  // of a row, before they get the result's type
};

}  // namespace stoker
