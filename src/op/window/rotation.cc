// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/window/rotation.h"

#include <algorithm>
#include <cmath>

#include "kernels/elements/exact_functions.h"
#include "op/rules.h"

namespace stoker {
Rotation::Rotation(int rank, double angle, const Small<float>& axis) : rank_(rank) {
  require(std::isfinite(angle), "argument 'angle' is not a finite number: ", angle);
  // A picture turns about the axis that points out of it, because y points down.
  double unit[kMost] = {0, 0, -1};
  if (rank == 3) {
    require_count("argument 'axis'", axis.size(), {3}, "a vector (x, y, z)");
    double squares = 0;
    for (float v : axis) squares += static_cast<double>(v) * static_cast<double>(v);
    require(std::isfinite(squares) && squares > 0,
            "argument 'axis' has no direction: its length is ", std::sqrt(squares));
    for (size_t i = 0; i < kMost; ++i) unit[i] = static_cast<double>(axis[i]) / std::sqrt(squares);
  } else {
    require(axis.empty(), "argument 'axis' needs an axis D");
  }
  // Rodrigues' formula. The way back turns by -angle, and here z comes first.
  const exact::SinCos turn = exact::sin_cos_of_degrees(-angle);
  for (int i = 0; i < rank; ++i)
    for (int j = 0; j < rank; ++j) {
      const int a = rank - 1 - i, b = rank - 1 - j;  // 0 is x
      const int other = 3 - a - b;
      double v = unit[a] * unit[b] * (1 - turn.cos);
      if (a == b) v += turn.cos;
      else v += ((b - a + 3) % 3 == 1 ? -1 : 1) * unit[other] * turn.sin;
      matrix_[i][j] = v;
    }
}

void Rotation::canvas(std::span<const Rotation> rotations, const int64_t* in, int64_t* out) {
  for (int i = 0; i < rotations[0].rank_; ++i) {
    out[i] = 0;
    int64_t more_odd = 0;  // than even ones
    for (const Rotation& r : rotations) {
      double reach = 0;
      int most = i;
      for (int j = 0; j < r.rank_; ++j) {
        const double share = std::fabs(r.matrix_[j][i]);  // the way there is the transposed matrix
        reach += share * static_cast<double>(in[j]);
        if (share > std::fabs(r.matrix_[most][i])) most = j;
      }
      out[i] = std::max(out[i], static_cast<int64_t>(std::ceil(reach - 0.01)));
      more_odd += in[most] % 2 ? 1 : -1;
    }
    out[i] += (out[i] % 2 == 1) != (more_odd > 0);
  }
}

Warp Rotation::warp(const int64_t* in, const int64_t* out) const {
  Warp w;
  w.count = rank_;
  for (int i = 0; i < rank_; ++i) {
    w.out[i] = out[i];
    w.offset[i] = static_cast<double>(in[i]) / 2;
    for (int j = 0; j < rank_; ++j) {
      w.matrix[i][j] = matrix_[i][j];
      w.offset[i] -= matrix_[i][j] * static_cast<double>(out[j]) / 2;
    }
  }
  return w;
}

}  // namespace stoker
