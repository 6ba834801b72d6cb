// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Regions of pictures that are pasted onto one canvas.
#pragma once
#include <vector>

#include "op/context.h"
#include "op/rules.h"
#include "op/schema.h"

namespace stoker {

// A region of one picture: height and width at [0] and [1].
struct PastedRegion {
  int64_t from[2], to[2], extent[2];
};

struct PastedArguments {
  std::optional<Small<int>> in_anchors, out_anchors, shapes;
  std::optional<Small<float>> in_anchors_rel, out_anchors_rel, shapes_rel;

  // Throws WrongCall when arguments exclude each other.
  void check(const Checker& c) const;
  // Throws WrongCall if a list is not for this many regions.
  void check_counts(size_t regions) const;
  // The regions of pictures with these heights and widths. Throws WrongCall if they do not fit the
  // pictures, or a canvas of that height and width.
  std::vector<PastedRegion> regions(std::span<const std::array<int64_t, 2>> pictures,
                                    const std::array<int64_t, 2>& canvas) const;
};

inline constexpr auto kPastedArguments = std::tuple{
    arg(&PastedArguments::in_anchors, "in_anchors",
        "Where the regions begin in their images: y and x for each, in pixels. Default: 0.",
        at_least(0), kPerSample),
    arg(&PastedArguments::in_anchors_rel, "in_anchors_rel",
        "The same as shares of the images' extents, cut down to pixels.", between(0, 1),
        kPerSample),
    arg(&PastedArguments::out_anchors, "out_anchors",
        "Where the regions begin in the output: y and x for each, in pixels. Default: 0.",
        at_least(0), kPerSample),
    arg(&PastedArguments::out_anchors_rel, "out_anchors_rel",
        "The same as shares of the output's extents, cut down to pixels.", between(0, 1),
        kPerSample),
    arg(&PastedArguments::shapes, "shapes",
        "Height and width of the regions in pixels. Default: up to the images' ends.", at_least(0),
        kPerSample),
    arg(&PastedArguments::shapes_rel, "shapes_rel",
        "The same as shares of the images' extents, rounded up to pixels.", between(0, 1),
        kPerSample),
};

}  // namespace stoker
