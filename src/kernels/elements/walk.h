// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Goes through the elements of several tensors at once, row by row.
#pragma once
#include "base/view.h"

namespace stoker {

// Where a tensor stands at the first position of a walk's box, and its step along each axis.
struct Track {
  int64_t start = 0;
  Shape stride;

  // In bytes from v.data on, for a box from full position `origin` on. Requires: v covers the box.
  static Track of(const View& v, const Shape& origin) {
    Track t{0, v.strides};
    for (int a = 0; a < origin.rank; ++a) t.start += (origin[a] - v.origin[a]) * v.strides[a];
    return t;
  }
};

// Rows are as long as possible: axes are joined where all tracks allow it. Work along an axis, such
// as a sum, walks over a box in which that axis has the extent 1 (kernels/fft/mel.cc).
template <size_t kTracks>
class Walk {
 public:
  // Requires: the box is not empty.
  Walk(const Shape& box, const Track (&tracks)[kTracks]) {
    for (size_t t = 0; t < kTracks; ++t) row[t] = tracks[t].start;
    for (int a = 0; a < box.rank; ++a) {
      if (box[a] == 1) continue;
      bool joins = rank_ > 0;
      for (size_t t = 0; t < kTracks; ++t)
        joins = joins && stride_[t][rank_ - 1] == tracks[t].stride[a] * box[a];
      if (!joins) extent_[rank_++] = 1;
      extent_[rank_ - 1] *= box[a];
      for (size_t t = 0; t < kTracks; ++t) stride_[t][rank_ - 1] = tracks[t].stride[a];
    }
    if (rank_ == 0) return;
    count = extent_[rank_ - 1];
    for (size_t t = 0; t < kTracks; ++t) step[t] = stride_[t][rank_ - 1];
  }

  // The row: `count` elements, the first at row[t] and `step[t]` apart.
  int64_t count = 1, row[kTracks], step[kTracks] = {};

  // Goes to the next row. False behind the last one.
  bool next() {
    for (int a = rank_ - 2; a >= 0; --a) {
      for (size_t t = 0; t < kTracks; ++t) row[t] += stride_[t][a];
      if (++at_[a] < extent_[a]) return true;
      for (size_t t = 0; t < kTracks; ++t) row[t] -= at_[a] * stride_[t][a];
      at_[a] = 0;
    }
    return false;
  }

 private:
  int rank_ = 0;
  int64_t extent_[kMaxRank] = {}, stride_[kTracks][kMaxRank] = {}, at_[kMaxRank] = {};
};

}  // namespace stoker
