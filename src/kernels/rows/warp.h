// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows of pixels that a Warp along two axes makes: Note [Warps] in kernels/warp/warp_map.h. All
// targets give the same bytes.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace stoker::rows {

// Pixels of a few neighbouring bytes. Arrays have the axis of rows first, then that within a row.
struct WarpedPixels {
  const std::byte* from;  // the first used byte of the pixel at position 0 of both axes
  int64_t row, pixel;  // bytes from one row to the next, and from one pixel to the next
  int64_t used;  // bytes of a pixel, at most `pixel`
  int64_t load;  // bytes from a place's pixel on that may be read
  int64_t extent[2];
  int64_t lo[2], hi[2];  // the positions in memory; none but these are needed
  bool clamped;
  std::byte fill[4];  // a value

  // How far behind a place's pixel the last byte of its load lies, in pixels.
  int64_t reach() const { return std::max<int64_t>(load - used + pixel - 1, 0) / pixel; }
};

// The places of a row: `place`, place + stride and so on or, where there are lists, what they hold.
struct PlaceRow {
  int64_t place[2] = {}, stride[2] = {};
  const int64_t* list[2] = {};

  PlaceRow behind(int64_t n) const {
    PlaceRow rest = *this;
    for (int i = 0; i < 2; ++i) {
      rest.place[i] += n * stride[i];
      if (list[i]) rest.list[i] += n;
    }
    return rest;
  }
};

// All functions go along a row of n places. Requires: pixel > 0; row and pixel fit into 32 bits.
// Places are inside in [lo, hi - reach) of a row and in [lo, hi) of the rows, or in [lo, hi - 1)
// where two rows are interpolated.

// Copies n pixels of `used` bytes. Requires: all places are inside, and `load` is pick_load(used).
int64_t pick_load(int64_t used);
void pick(const WarpedPixels& p, const PlaceRow& at, int64_t n, std::byte* to);

// pick() for pixels at any offsets. At kNowhere is the pixel `filled`, with `load` readable bytes.
inline constexpr int32_t kNowhere = INT32_MIN;
void pick_at(const WarpedPixels& p, const int32_t* offset, const std::byte* filled, int64_t n,
             std::byte* to);

// Interpolate up to kWarpChunk pixels, for which `quads` has room. They become four values each, of
// which those behind the used ones have no meaning.
inline constexpr int64_t kWarpChunk = 256;

// Pixels of up to 4 bytes. Requires: `load` is kByteLoad, pixel <= 4, has_byte_loads().
inline constexpr int64_t kByteLoad = 8;  // two pixels, which are loaded at once
void warp_bytes(const WarpedPixels& p, bool inside, const PlaceRow& at, int64_t n, uint32_t* quads);
// Whether the rows have room for a load.
bool has_byte_loads(const WarpedPixels& p);

// Pixels of up to 4 floats. Requires: `load` is float_load(pixel).
inline int64_t float_load(int64_t pixel) { return pixel + 16; }
void warp_floats(const WarpedPixels& p, bool inside, const PlaceRow& at, int64_t n, float* quads);

}  // namespace stoker::rows
