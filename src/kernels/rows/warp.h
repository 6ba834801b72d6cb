// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows of pixels of bytes that a linear Warp along two axes makes, by the best instructions of the
// CPU: Note [Warps] in kernels/warp/warp_map.h. All targets give the same bytes. Pure functions;
// thread-safe.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace stoker::rows {

// Pixels of up to 4 neighbouring bytes. Lists have the axis of rows first, then that within a row.
struct WarpedPixels {
  const std::byte* from;  // the first used byte of the pixel at position 0 of both axes
  int64_t row, pixel;  // bytes from one row to the next, and from one pixel to the next
  int64_t used;  // bytes of a pixel, at most `pixel`
  int64_t extent[2];
  int64_t lo[2], hi[2];  // the positions in memory; none but these are needed
  bool clamped;
  uint8_t fill;

  static constexpr int64_t kLoad = 8;  // bytes: two pixels, which are loaded at once
  // How far behind a place's pixel the last byte of its load lies, in pixels.
  int64_t reach() const { return std::max<int64_t>(1, (kLoad - used + pixel - 1) / pixel); }
  // Where the last load of a row lies. Requires: has_room().
  int64_t last_load() const { return (hi[1] - 1) * pixel + used - kLoad; }
  bool has_room() const { return last_load() >= lo[1] * pixel; }
};

inline constexpr int64_t kWarpChunk = 256;

// Makes up to kWarpChunk pixels, at `place`, place + step, ... They become four bytes each, of
// which those behind the used ones have no meaning. `quads` has room for kWarpChunk pixels. With
// `inside` all places lie in [lo, hi - reach) of a row and in [lo, hi - 1) of the rows. Requires:
// has_room().
void warp(const WarpedPixels& p, bool inside, const int64_t* place, const int64_t* step, int64_t n,
          uint32_t* quads);

}  // namespace stoker::rows
