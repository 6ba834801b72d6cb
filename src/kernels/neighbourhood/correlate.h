// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums of the elements of a window, each times a weight.
//
// Note [Correlation]
// Products are added in the order of the weights, in float32, or in float64 where Note [Rounding]
// of kernels/block.h says so: the bytes are the same on every CPU and device. An element with the
// weight 0 takes no part, so a NaN does not spread to where it does not show.
#pragma once
#include "base/view.h"
#include "kernels/neighbourhood/border.h"
#include "memory/arena.h"

namespace stoker {

// Sets `out`, which is dense, to the sums. `weights` has one for each element of a window, in their
// order. Border::kConstant is `fill`. Requires: one to three axes, in order and next to each other;
// `out` has the dtype of `in` or float32; `in` covers window_demand() of `out`, without overlap.
void correlate(const View& in, const View& out, std::span<const WindowAxis> axes,
               std::span<const float> weights, Border border, double fill, Arena& scratch);

}  // namespace stoker
