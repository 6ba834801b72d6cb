// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Means of values or of their squared distances, and the roots of these.
#pragma once
#include <cmath>
#include <limits>

#include "kernels/statistics/sum.h"

namespace stoker {

struct Averaging {
  bool is_root = false;
  int64_t ddof = 0;

  // Of a sum over `count` values. Without enough of them it is infinite, or NaN if the sum is 0.
  STOKER_HD double of(double sum, int64_t count) const {
    const int64_t divisor = count - ddof;
    double mean = sum > 0 || sum < 0 ? kInfinity : kNaN;
    if (divisor > 0) mean = sum / static_cast<double>(divisor);
    return is_root ? std::sqrt(mean) : mean;
  }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
};

// Sets `out`, as sum() does, to the moments of `in` or, with `centres`, one for each element of
// `out`, to those of the squared distances from them.
void moments(const View& in, const bool* reduced, const double* centres, const Averaging& moment,
             const View& out, Arena& scratch);

}  // namespace stoker
