// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What Stoker drew: the windows and mirrors of the pipeline in peers/with_stoker.py. Pure
// functions; thread-safe.
#pragma once
#include <cstdint>

namespace limit {

struct Window {
  int y, x, height, width;
  bool mirrored;
};

// Requires: the picture has height x width pixels, and `position` in the epoch is not negative.
Window window_drawn(int64_t epoch, int64_t position, int height, int width);

}  // namespace limit
