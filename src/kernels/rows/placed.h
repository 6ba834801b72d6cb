// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Pixels of a picture at any places, given as lists: Note [Warps] in kernels/warp/warp_map.h, Note
// [Filtered places] in kernels/warp/place_filter.h.
#pragma once
#include "base/view.h"
#include "kernels/rows/warp.h"
#include "kernels/warp/warp_map.h"
#include "memory/arena.h"

namespace stoker {

struct Placing {
  // kNearest gives the value in which the place lies, the others what is between values.
  Filter filter = Filter::kLinear;
  float fill = 0;  // what lies outside, rounded to the picture's dtype

  STOKER_HD bool is_between() const { return filter != Filter::kNearest; }
  STOKER_HD bool is_wide() const { return filter > Filter::kLinear; }
};

// A coordinate, which counts from the edge of the first position, as a place, which is half a
// position less between values.
STOKER_HD inline int64_t place_of(double coordinate, bool between) {
  using Map = PerspectiveMap;
  const double at = detail::add_once(coordinate, between ? -0.5 : 0);
  return Map::rounded(Map::cut_above(Map::cut_below(at)));
}

// Make the places of n coordinates, or their whole parts where values are not interpolated: the
// whole number next to the coordinate, or the one before. `c` is overwritten. Loops with one choice
// each become vectors.
inline void find_places(double* c, int64_t n, bool between, int64_t* to) {
  using Map = PerspectiveMap;
  const double shift = between ? -0.5 : 0;
  for (int64_t k = 0; k < n; ++k) c[k] = Map::cut_below(c[k] + shift);
  for (int64_t k = 0; k < n; ++k) c[k] = Map::cut_above(c[k]);
  for (int64_t k = 0; k < n; ++k) to[k] = Map::rounded(c[k]);
}
inline void find_whole_parts(double* c, int64_t n, int32_t* to) {
  using Map = PerspectiveMap;
  constexpr double kShift = 0x1.8p52;
  for (int64_t k = 0; k < n; ++k) c[k] = Map::cut_below(c[k]);
  for (int64_t k = 0; k < n; ++k) c[k] = Map::cut_above(c[k]);
  for (int64_t k = 0; k < n; ++k) {
    const double next = c[k] + kShift - kShift;
    c[k] = next - (c[k] - next < -0x1p-33 ? 1.0 : 0.0);
  }
  for (int64_t k = 0; k < n; ++k) to[k] = static_cast<int32_t>(c[k]);
}

namespace rows {

// Makes rows of the picture's pixels.
class PlacedPixels {
 public:
  // `picture` is whole, with the axes rows, columns and channels. It is copied to `scratch` unless
  // its pixels are dense. Requires: both outlive this.
  PlacedPixels(const View& picture, const Placing& how, Arena& scratch);

  // Writes n pixels, one behind the other. `y` and `x` list their coordinates, and are overwritten.
  void make(double* y, double* x, int64_t n, std::byte* to) const;

 private:
  // make() for up to kWarpChunk pixels, by their coordinates or places.
  void pick_some(double* y, double* x, int64_t n, std::byte* to) const;
  void make_some(const int64_t* y, const int64_t* x, int64_t n, std::byte* to) const;
  void make_any(const int64_t* y, const int64_t* x, int64_t n, std::byte* to) const;
  template <class T>
  void blend(const PlaceRow& at, bool inside, int64_t n, std::byte* to) const;

  View picture_;
  Placing how_;
  WarpInput source_;
  WarpedPixels pixels_;
  int64_t channels_, unit_;  // unit_: bytes of a pixel
  std::byte fill_[8];
  const std::byte* filled_ = nullptr;  // a pixel outside, where pixels are picked
  enum class Way : uint8_t { kValues, kPick, kBytes, kFloats } way_ = Way::kValues;
  int64_t lo_[2], hi_[2];  // places in [lo, hi) of both axes are inside
};

}  // namespace rows
}  // namespace stoker
