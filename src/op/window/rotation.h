// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The geometry of rotate. Lists are by axis, outermost first: (H, W) or (D, H, W).
//
// Note [Canvas]
// A canvas holds the whole rotated picture, up to a hundredth of a position. Each of its extents
// has the parity of the input's extent that contributes most to it, if need be by one position
// more. So the centre of a pixel mostly lies on that of another one, and small angles blur little.
// A canvas for several rotations holds all of them, with the parity that most of them have; without
// a majority, an extent is even.
#pragma once
#include <span>

#include "kernels/block.h"
#include "op/value.h"

namespace stoker {

class Rotation {
 public:
  static constexpr int kMost = 3;

  // By `angle` degrees: counter-clockwise in a picture; in a volume, of rank 3, by the right-hand
  // rule around `axis`, given as (x, y, z). Multiples of 90 degrees are exact. Throws WrongCall if
  // there is no such rotation.
  Rotation(int rank, double angle, const Small<float>& axis);

  // Note [Canvas]. Requires: all have one rank.
  static void canvas(std::span<const Rotation> rotations, const int64_t* in, int64_t* out);
  // Rotates about the centres of both. The caller says the rest of the Warp.
  Warp warp(const int64_t* in, const int64_t* out) const;

 private:
  int rank_;
  double matrix_[kMost][kMost];  // from a place in the output to one in the input
};

}  // namespace stoker
