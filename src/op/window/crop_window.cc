// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/window/crop_window.h"

#include <cmath>

#include "op/rules.h"

namespace stoker {

namespace {

// The axis of depth or, in a layout without, of frames.
int depth_axis(const Layout& layout) {
  return layout.find('D') >= 0 ? layout.find('D') : layout.find('F');
}

struct DepthHeightWidth {
  int axis[3];
  explicit DepthHeightWidth(const Layout& l) : axis{depth_axis(l), l.find('H'), l.find('W')} {}
};

struct Extents {
  int64_t extent[3] = {0, 0, 0};  // D, H, W; 0: whole
};

int64_t pixels(const char* name, float x) {
  require(!(x > 0 && x < 1), "argument '", name, "' asks for ", x,
          " of a pixel; it counts pixels, 0 takes the whole axis");
  require(x < 0x1p40f, "argument '", name, "' asks for ", x, " pixels, more than 2^40");
  return static_cast<int64_t>(x);
}

Extents requested(const CropArguments& a) {
  if (!a.crop)
    return {{pixels("crop_d", a.crop_d), pixels("crop_h", a.crop_h), pixels("crop_w", a.crop_w)}};
  const size_t n = a.crop->size();
  require_count("argument 'crop'", n, {2, 3}, "(H, W) or (D, H, W)");
  Extents e;
  for (size_t i = 0; i < n; ++i) e.extent[3 - n + i] = pixels("crop", (*a.crop)[i]);
  return e;
}

int64_t start_of(float position, int64_t extent, int64_t window, Rounding rounding) {
  const double start = shortest(position) * static_cast<double>(extent - window);
  return rounding == Rounding::kRound ? std::llround(start) : static_cast<int64_t>(start);
}

void require_fitting(const CropArguments& a, const Checker& c) {
  const bool list = a.crop || c.is_computed("crop");
  const bool h = a.crop_h > 0 || c.is_computed("crop_h");
  const bool w = a.crop_w > 0 || c.is_computed("crop_w");
  const bool d = a.crop_d > 0 || c.is_computed("crop_d");
  require(!list || !(h || w || d), "argument 'crop' excludes 'crop_h', 'crop_w' and 'crop_d'");
  require(h == w, "arguments 'crop_h' and 'crop_w' go together");
  require(h || !d, "argument 'crop_d' needs 'crop_h' and 'crop_w'");
}

Shape cropped_shape(const CropArguments& a, OutOfBounds policy, const Checker& c,
                    const TensorType& in) {
  static constexpr const char* kExtents[] = {"crop_d", "crop_h", "crop_w"};
  const DepthHeightWidth axes(in.layout);
  const bool all_computed = c.is_computed("crop");
  const Extents e = all_computed ? Extents{} : requested(a);
  require(axes.axis[0] >= 0 || !a.crop || a.crop->size() < 3,
          "argument 'crop' has a depth, and the layout ", in.layout,
          " has no axis D or F; channels are all kept and have no number in it");
  Shape s = in.shape;
  for (int i = 0; i < 3; ++i) {
    if (axes.axis[i] < 0) continue;
    int64_t& extent = s[axes.axis[i]];
    if (all_computed || c.is_computed(kExtents[i])) extent = -1;
    else if (e.extent[i] > 0)
      extent = policy == OutOfBounds::kTrim ? std::min(e.extent[i], extent) : e.extent[i];
  }
  return s;
}

}  // namespace

Shape checked_crop(const CropArguments& a, OutOfBounds policy, const Checker& c,
                   const TensorType& in) {
  require_fitting(a, c);
  return cropped_shape(a, policy, c, in);
}

Window crop_window(const CropArguments& a, std::optional<OutOfBounds> policy,
                   const TensorType& in) {
  const DepthHeightWidth axes(in.layout);
  const Shape s = cropped_shape(a, policy.value_or(OutOfBounds::kError), {},
                                in);  // nothing is computed any more
  const float position[] = {a.crop_pos_z, a.crop_pos_y, a.crop_pos_x};
  Window w = Window::all(in.shape);
  for (int i = 0; i < 3; ++i) {
    const int axis = axes.axis[i];
    if (axis < 0) continue;
    w.begin[axis] = start_of(position[i], in.shape[axis], s[axis], a.rounding);
    w.end[axis] = w.begin[axis] + s[axis];
  }
  return settle(w, in, policy);
}

}  // namespace stoker
