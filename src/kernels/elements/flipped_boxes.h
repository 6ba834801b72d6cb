// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Mirrors bounding boxes, whose coordinates are shares of a picture.
#pragma once
#include "kernels/levels.h"
#include "kernels/strided.h"

namespace stoker {

// The elements of the dense `out`. The last axis has the four coordinates of a box: x, y, w, h, or
// as two corners left, top, right, bottom.
struct FlippedBoxes {
  const std::byte* in;  // box 0
  int64_t box_step, step, begin, width, first_box;
  float* out;
  int64_t pieces;
  bool flips[2], corners;

  FlippedBoxes(const View& from, const View& to, bool horizontal, bool vertical, bool corners)
      : step(from.strides[from.shape.rank - 1]),
        begin(to.origin[to.shape.rank - 1]),
        width(to.shape[to.shape.rank - 1]),
        out(to.as<float>()),
        pieces(to.shape.volume()),
        flips{horizontal, vertical},
        corners(corners) {
    const Strided s = Strided::of(from);
    in = s.data + s.offset;
    box_step = from.shape.rank > 1 ? from.strides[0] : 0;
    first_box = from.shape.rank > 1 ? to.origin[0] : 0;
  }
  STOKER_HD float at(int64_t box, int64_t coordinate) const {
    return *reinterpret_cast<const float*>(in + box * box_step + coordinate * step);
  }
  STOKER_HD float value(int64_t box, int64_t c) const {
    const int64_t other = (c + 2) % 4;
    if (!flips[c % 2] || (!corners && c >= 2)) return at(box, c);
    return corners ? 1 - at(box, other) : 1 - at(box, c) - at(box, other);
  }
  STOKER_HD void run(int64_t k) const { out[k] = value(first_box + k / width, begin + k % width); }
  void run_all() const {
    at_cpu_level([all = *this] {
      for (int64_t box = 0, boxes = all.width ? all.pieces / all.width : 0; box < boxes; ++box)
        for (int64_t c = 0; c < all.width; ++c)
          all.out[box * all.width + c] = all.value(all.first_box + box, all.begin + c);
    });
  }
};

}  // namespace stoker
