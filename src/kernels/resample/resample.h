// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Resamples any axes of any types, one axis after the other, with every intermediate result in
// memory. The code is plain enough to be seen correct, and judges the row loops of kernels/rows,
// which serve the usual pictures; this serves the rest.
#pragma once
#include "base/view.h"
#include "kernels/block.h"
#include "kernels/strided.h"
#include "memory/arena.h"

namespace stoker {

// Whether every axis picks the nearest position, so that values are only moved.
bool is_selection(const Resample& r);

// Resamples `in`, whose full shape is `full`. Returns the window `wanted` of the result as type
// `result`, dense in the arena. Requires: `in` covers demand() of `wanted`; r has an axis or more.
View resample(const Resample& r, const Strided& in, const Shape& full, DType result,
              const Window& wanted, Arena& arena);

}  // namespace stoker
