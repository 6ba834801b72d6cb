// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Medians of windows.
//
// Note [Medians]
// The median of n keys, where n is odd, is the largest number t that at most n / 2 of them are
// smaller than. It is found bit by bit, from the highest one on, by comparisons and counts: loops
// over windows of any size, without a branch. For windows of 3 x 3 and 5 x 5 less work does:
// columns are sorted, those of 5 once for all their windows, and merged by networks of minima and
// maxima. Large windows of bytes have histograms (byte_medians.h).
#pragma once
#include "base/view.h"
#include "kernels/neighbourhood/border.h"
#include "kernels/neighbourhood/sort_key.h"
#include "memory/arena.h"

namespace stoker {

inline constexpr int64_t kMostMedian = 255;

// Sets `out`, which is dense, to the medians of the windows of `in`, which has its dtype. Beyond
// the edges the outermost elements are repeated. Requires: two axes, in order and next to each
// other, whose windows have odd sizes up to kMostMedian, about their middles; `in` covers
// window_demand() of `out`, without overlap.
void median(const View& in, const View& out, std::span<const WindowAxis> axes, Arena& scratch);

}  // namespace stoker
