// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Resample along any axes of any types, one axis at a time with everything in between in memory:
// obviously right, and what the row loops of kernels/rows are measured against. They take the usual
// pictures; this takes the rest. Thread-safe.
#pragma once
#include "base/view.h"
#include "kernels/block.h"
#include "kernels/strided.h"
#include "memory/arena.h"

namespace stoker {

// Every axis picks the nearest position: values are moved, never computed.
bool is_selection(const Resample& r);

// The window `wanted` of what `r` makes of `in` (of shape `full`), as `result`; dense in the arena.
// Requires: `in` is valid over demand of `wanted`; r has an axis.
View resample(const Resample& r, const Strided& in, const Shape& full, DType result,
              const Window& wanted, Arena& arena);

}  // namespace stoker
