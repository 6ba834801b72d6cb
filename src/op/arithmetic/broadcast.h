// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Shapes and layouts of values that are combined element by element, as NumPy combines them.
#pragma once
#include <span>

#include "base/view.h"

namespace stoker {

// The shape and layout of the result; its dtype is up to the caller. Shapes are aligned at their
// last axes, and an extent of 1 is repeated. Each layout must be the end of the longest one, which
// is the result's if it names all axes. Ranks and extents may be unknown. Throws WrongCall.
TensorType broadcast(std::span<const TensorType> inputs);

// The window of an input of shape `own` that the window `wanted` of the result needs.
Window part_for(const Window& wanted, const Shape& own);

// How an input moves along the axes of a result of this rank, in bytes: 0 where it is repeated.
// Requires: v covers what the result's window needs.
Shape strides_along(const View& v, int rank);

}  // namespace stoker
