// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Shifts and scales groups of elements, each by numbers of its own.
#pragma once
#include <cmath>

#include "base/view.h"
#include "kernels/convert.h"
#include "memory/arena.h"

namespace stoker {

struct DeviationScale {
  float scale, epsilon;
  int64_t ddof;

  // What makes the standard deviation `scale`, or 0 where there is none.
  STOKER_HD float factor(double variance) const {
    const double sum = detail::add_once(variance, static_cast<double>(epsilon));
    return sum > 0 ? static_cast<float>(scale / std::sqrt(sum)) : 0.0f;
  }
  STOKER_HD float given(float deviation) const {
    return factor(detail::mul_once(static_cast<double>(deviation), static_cast<double>(deviation)));
  }
  // From the sum of the squared distances of `count` elements.
  STOKER_HD float computed(double squares, int64_t count) const {
    return factor(count > ddof ? squares / static_cast<double>(count - ddof) : 0.0);
  }
};

STOKER_HD inline double mean_of(double sum, int64_t count) {
  return count > 0 ? sum / static_cast<double>(count) : 0.0;
}

// Sets `out` to (in - mean) factor + shift as pointwise() does. An element has the mean and factor
// of its group: `step` says by axis how many groups further the next element is. Requires: equal
// shapes, not empty; no overlap.
void normalize(const View& in, const float* means, const float* factors, const Shape& step,
               float shift, const View& out, Arena& scratch);

}  // namespace stoker
