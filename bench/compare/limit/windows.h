// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The windows and mirrors that the pipeline of peers/with_stoker.py draws.
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
