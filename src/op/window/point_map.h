// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Maps between pictures that a matrix gives, for warp_affine. Scripts write a row for x, one for y
// and, for volumes, one for z. Blocks have the outermost axis first. Pure; thread-safe.
#pragma once
#include "kernels/block.h"
#include "op/value.h"

namespace stoker {

class PointMap {
 public:
  // `matrix` has `rank` rows of rank + 1 numbers, one row after the other; the last ones of the
  // rows are the offset. It leads from a point of the output to one of the input, or back unless
  // `from_output`. Throws WrongCall.
  PointMap(int rank, const Small<float>& matrix, bool from_output);

  // The caller says the rest of the Warp.
  Warp warp() const;

 private:
  static constexpr int kMost = Warp::kMost + 1;
  void invert();

  int rank_;
  double matrix_[kMost][kMost] = {};  // of homogeneous coordinates
};

}  // namespace stoker
