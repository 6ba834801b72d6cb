// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Running sums along axes, of which four values of two axes give the sum over any box.
#pragma once
#include "base/view.h"

namespace stoker {

// The type of the sums: int64 or uint64, which are exact modulo 2^64, or float64.
DType prefix_sum_type(DType of);

// Sets `out`, which is dense, to sums: an element is the sum of those up to its position along each
// axis for which `summed` is true, one axis after the other, outermost first, from the first
// position on: the bytes are the same on every CPU. Requires: both have the same shape and do not
// overlap; `out` has prefix_sum_type().
void prefix_sums(const View& in, const bool* summed, const View& out);

}  // namespace stoker
