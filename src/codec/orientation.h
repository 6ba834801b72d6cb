// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Turns a window of the displayed picture into the same window of the stored picture. Pure
// functions; thread-safe.
#pragma once
#include "base/view.h"

namespace stoker {

// True when the displayed picture is as wide as the stored one is high.
constexpr bool swaps_axes(int orientation) { return orientation >= 5; }

// The memory of `displayed` (rank 3, HWC) in stored coordinates: what a decoder writes to a stored
// position lands where EXIF `orientation` (1..8) displays it. Strides may be negative or swapped.
// Requires: displayed.full is set.
View as_stored(const View& displayed, int orientation);
// How many rows of the stored picture it takes to hold the window `displayed` of a picture that is
// displayed with the shape `full`. 0 if the window is empty.
int64_t stored_rows(const Window& displayed, const Shape& full, int orientation);

}  // namespace stoker
