// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/window/pasted_regions.h"

#include <cmath>

namespace stoker {
namespace {

// In float32, where a share of 0.3 of ten pixels is exactly three.
int64_t share_of(int64_t extent, float share, bool up) {
  const float pixels = share * static_cast<float>(extent);
  return static_cast<int64_t>(up ? std::ceil(pixels) : std::floor(pixels));
}

}  // namespace

void PastedArguments::check(const Checker& c) const {
  const auto exclude = [&](const char* pixels, bool has_pixels, const char* shares,
                           bool has_shares) {
    require(!(has_pixels || c.is_computed(pixels)) || !(has_shares || c.is_computed(shares)),
            "arguments '", pixels, "' and '", shares, "' do not go together");
  };
  exclude("in_anchors", in_anchors.has_value(), "in_anchors_rel", in_anchors_rel.has_value());
  exclude("out_anchors", out_anchors.has_value(), "out_anchors_rel", out_anchors_rel.has_value());
  exclude("shapes", shapes.has_value(), "shapes_rel", shapes_rel.has_value());
}

void PastedArguments::check_counts(size_t regions) const {
  const auto count = 2 * static_cast<int64_t>(regions);
  const auto fit = [&](const char* name, const auto& list) {
    if (list) require_count(name, list->size(), {count}, "two for each region");
  };
  fit("argument 'in_anchors'", in_anchors);
  fit("argument 'in_anchors_rel'", in_anchors_rel);
  fit("argument 'out_anchors'", out_anchors);
  fit("argument 'out_anchors_rel'", out_anchors_rel);
  fit("argument 'shapes'", shapes);
  fit("argument 'shapes_rel'", shapes_rel);
}

std::vector<PastedRegion> PastedArguments::regions(std::span<const std::array<int64_t, 2>> images,
                                                   const std::array<int64_t, 2>& canvas) const {
  check_counts(images.size());
  std::vector<PastedRegion> all;
  for (size_t k = 0; k < images.size(); ++k) {
    PastedRegion& r = all.emplace_back();
    for (size_t a = 0; a < 2; ++a) {
      const size_t at = 2 * k + a;
      const int64_t image = images[k][a];
      const auto given = [&](const auto& pixels, const auto& shares, int64_t extent, bool up,
                             int64_t otherwise) {
        if (pixels) return int64_t{(*pixels)[at]};
        return shares ? share_of(extent, (*shares)[at], up) : otherwise;
      };
      r.from[a] = given(in_anchors, in_anchors_rel, image, false, 0);
      r.to[a] = given(out_anchors, out_anchors_rel, canvas[a], false, 0);
      r.extent[a] = given(shapes, shapes_rel, image, true, std::max<int64_t>(image - r.from[a], 0));
      const char* axis = a ? "columns" : "rows";
      require(r.from[a] + r.extent[a] <= image, "region ", k, " has the ", axis, " from ",
              r.from[a], " to ", r.from[a] + r.extent[a], " of an image with ", image);
      require(r.to[a] + r.extent[a] <= canvas[a], "region ", k, " is put at the ", axis, " from ",
              r.to[a], " to ", r.to[a] + r.extent[a], " of an output with ", canvas[a]);
    }
  }
  return all;
}

}  // namespace stoker
