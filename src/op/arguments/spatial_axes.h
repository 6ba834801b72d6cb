// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "base/types.h"

namespace stoker {

inline constexpr int kMostSpatial = 3;
inline constexpr const char* kSpatialInput =
    "1 to 3 axes of space, next to each other: all letters of the layout but C and F, whatever "
    "they "
    "are, and all axes where there is no layout. Channels (C) stand before or behind them. Frames "
    "(F) stand first. In CFHW and CFDHW they stand behind the channels; then there are no "
    "arguments with a value for each frame.";

// The axes that are neither channels nor frames, in their order. Throws WrongCall unless there are
// 1 to kMostSpatial, next to each other, with frames only behind leading channels. Requires: the
// rank is known.
std::vector<int> spatial_axes(const TensorType& type);

}  // namespace stoker
