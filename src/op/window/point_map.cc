// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/window/point_map.h"

#include <algorithm>
#include <cmath>

#include "op/rules.h"

namespace stoker {

PointMap::PointMap(int rank, const Small<float>& matrix, bool from_output, bool has_divisor)
    : rank_(rank) {
  const int rows = rank + has_divisor;
  require_count("the matrix", matrix.size(), {rows * (rank + 1)}, rows, " rows of ", rank + 1);
  const auto place = [&](int k) { return k < rank ? rank - 1 - k : rank; };
  matrix_[rank][rank] = 1;
  const float* next = matrix.begin();
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j <= rank; ++j) {
      const float v = *next++;
      require(std::isfinite(v), "the matrix has a number that is not finite: ", v);
      matrix_[place(i)][place(j)] = static_cast<double>(v);
    }
  if (!from_output) invert();
  require(std::any_of(matrix_[rank], matrix_[rank] + rank + 1, [](double v) { return v != 0; }),
          "the last row of the matrix is 0");
}

void PointMap::begin_at_centre() {
  for (int i = 0; i <= rank_; ++i)
    for (int j = 0; j < rank_; ++j) matrix_[i][rank_] -= 0.5 * matrix_[i][j];
  for (int i = 0; i < rank_; ++i)
    for (int j = 0; j <= rank_; ++j) matrix_[i][j] += 0.5 * matrix_[rank_][j];
}

// By Gauss and Jordan, with the largest pivots.
void PointMap::invert() {
  const int n = rank_ + 1;
  double inverse[kMost][kMost] = {};
  for (int k = 0; k < n; ++k) inverse[k][k] = 1;
  for (int k = 0; k < n; ++k) {
    int pivot = k;
    for (int i = k + 1; i < n; ++i)
      if (std::fabs(matrix_[i][k]) > std::fabs(matrix_[pivot][k])) pivot = i;
    require(matrix_[pivot][k] != 0, "the matrix has no inverse, and inverse_map=False needs it");
    std::swap(matrix_[k], matrix_[pivot]);
    std::swap(inverse[k], inverse[pivot]);
    const double unit = matrix_[k][k];
    for (int j = 0; j < n; ++j) matrix_[k][j] /= unit, inverse[k][j] /= unit;
    for (int i = 0; i < n; ++i) {
      const double share = i == k ? 0 : matrix_[i][k];
      for (int j = 0; j < n; ++j) {
        matrix_[i][j] -= share * matrix_[k][j];
        inverse[i][j] -= share * inverse[k][j];
      }
    }
  }
  std::copy_n(&inverse[0][0], kMost * kMost, &matrix_[0][0]);
}

Warp PointMap::warp() const {
  Warp w;
  w.count = rank_;
  std::copy_n(matrix_[rank_], rank_, w.divisor);
  const double unit = w.has_perspective() ? 1 : matrix_[rank_][rank_];
  w.divisor_offset = matrix_[rank_][rank_] / unit;
  for (int i = 0; i < rank_; ++i) {
    w.offset[i] = matrix_[i][rank_] / unit;
    for (int j = 0; j < rank_; ++j) w.matrix[i][j] = matrix_[i][j] / unit;
  }
  return w;
}

bool MatrixArguments::is_matrix_known(const Checker& c) const {
  const bool computed = c.is_computed("matrix");
  require(c.has(1) != (computed || !matrix.empty()),
          "the matrix is missing or given twice: give 'matrix' or a second input");
  return !c.has(1) && !computed;
}

Small<float> MatrixArguments::numbers(const Lowering& l) const {
  Small<float> given = matrix;
  if (l.has(1)) from_tensor(l.value(1), given);
  return given;
}

}  // namespace stoker
