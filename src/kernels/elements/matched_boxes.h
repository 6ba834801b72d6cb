// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Matches anchors with boxes, and encodes the boxes.
//
// Note [Matches]
// Each box has a best anchor, which overlaps it most, the last one of several; so has each anchor a
// best box. An anchor matches the box whose best anchor it is, the last one of several. Else it
// matches its best box, if their overlap is above the criterion. The overlap is the area of the
// intersection divided by that of the union.
#pragma once
#include <cmath>
#include <cstdint>

#include "base/exact_math.h"
#include "base/types.h"

namespace stoker {

struct BoxEncoding {
  float criteria;
  bool is_offset;
  float means[4], stds[4];
};

// Boxes and anchors are rows of left, top, right, bottom, dense.
struct MatchedBoxes {
  const float *boxes, *anchors;
  const int32_t* labels;
  int64_t box_count, anchor_count;
  BoxEncoding how;
  int64_t* best;  // by box: its best anchor
  float* out;  // by anchor: four numbers
  int32_t* out_labels;

  STOKER_HD static double overlap(const float* a, const float* b) {
    using exact::Num;
    const auto at = [](const float* box, int i) { return Num(static_cast<double>(box[i])); };
    const auto side = [&](int i) {
      const double low = a[i] > b[i] ? a[i] : b[i],
                   high = a[i + 2] < b[i + 2] ? a[i + 2] : b[i + 2];
      const double extent = (Num(high) - Num(low)).v;
      return Num(extent > 0 ? extent : 0);
    };
    const auto area = [&](const float* box) {
      return (at(box, 2) - at(box, 0)) * (at(box, 3) - at(box, 1));
    };
    const Num both = side(0) * side(1), either = area(a) + area(b) - both;
    return either.v > 0 ? (both / either).v : 0;
  }

  // To be run for all boxes first.
  STOKER_HD void find_best(int64_t box) const {
    double most = -1;
    for (int64_t a = 0; a < anchor_count; ++a) {
      const double o = overlap(boxes + 4 * box, anchors + 4 * a);
      if (o < most) continue;
      most = o;
      best[box] = a;
    }
  }
  // To be run for all anchors then.
  STOKER_HD void encode(int64_t anchor) const {
    int64_t match = -1;
    double most = 0;
    bool is_best = false;
    for (int64_t b = 0; b < box_count; ++b) {
      const bool is_forced = best[b] == anchor;
      const double o = overlap(boxes + 4 * b, anchors + 4 * anchor);
      if (is_forced || (!is_best && o >= most && o > static_cast<double>(how.criteria)))
        match = b, most = o;
      is_best = is_best || is_forced;
    }
    out_labels[anchor] = match < 0 ? 0 : labels[match];
    const float* own = anchors + 4 * anchor;
    const float* shown = match < 0 ? own : boxes + 4 * match;
    for (int i = 0; i < 2; ++i) {
      float* to = out + 4 * anchor + i;
      if (how.is_offset && match < 0) to[0] = to[2] = 0;
      else if (how.is_offset) set_offsets(i, shown, own, to);
      else to[0] = static_cast<float>(centre(shown, i)), to[2] = static_cast<float>(size(shown, i));
    }
  }

 private:
  STOKER_HD static double centre(const float* box, int i) {
    using exact::Num;
    return (Num(0.5) * (Num(static_cast<double>(box[i])) + Num(static_cast<double>(box[i + 2])))).v;
  }
  STOKER_HD static double size(const float* box, int i) {
    return static_cast<double>(box[i + 2]) - static_cast<double>(box[i]);
  }
  STOKER_HD void set_offsets(int i, const float* box, const float* anchor, float* to) const {
    using exact::Num;
    const Num moved = (Num(centre(box, i)) - Num(centre(anchor, i))) / Num(size(anchor, i));
    const Num grown = exact::log((Num(size(box, i)) / Num(size(anchor, i))).v);
    const auto settled = [&](Num x, int k) {
      const Num mean = static_cast<double>(how.means[k]),
                deviation = static_cast<double>(how.stds[k]);
      return static_cast<float>(((x - mean) / deviation).v);
    };
    to[0] = settled(moved, i);
    to[2] = settled(grown, i + 2);
  }
};

}  // namespace stoker
