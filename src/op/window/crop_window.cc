// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/window/crop_window.h"

#include <cmath>

namespace stoker {

namespace {

// The axis of depth or, in a layout without depth, of frames.
int depth_axis(const Layout& layout) {
  return layout.find('D') >= 0 ? layout.find('D') : layout.find('F');
}

// For D, H and W: the axis in the layout, or -1.
struct Axes {
  int axis[3];
  explicit Axes(const Layout& l) : axis{depth_axis(l), l.find('H'), l.find('W')} {}
};

struct Extents {
  int64_t extent[3] = {0, 0, 0};  // D, H, W; 0: whole
};

template <class WrongCall>
int64_t pixels(const char* name, float x) {
  if (x > 0 && x < 1)
    throw WrongCall(std::string("argument '") + name + "' asks for " + to_string(to_value(x)) +
                    " of a pixel; it counts pixels, 0 takes the whole axis");
  return static_cast<int64_t>(x);
}

template <class WrongCall>
Extents requested(const CropArguments& a) {
  if (!a.crop)
    return {{pixels<WrongCall>("crop_d", a.crop_d), pixels<WrongCall>("crop_h", a.crop_h),
             pixels<WrongCall>("crop_w", a.crop_w)}};
  const size_t n = a.crop->size();
  if (n != 2 && n != 3)
    throw WrongCall("argument 'crop' takes (H, W) or (D, H, W), got " + std::to_string(n) +
                    " values");
  Extents e;
  for (size_t i = 0; i < n; ++i) e.extent[3 - n + i] = pixels<WrongCall>("crop", (*a.crop)[i]);
  return e;
}

template <class WrongCall>
void require_depth(const Extents& e, const Layout& layout) {
  if (e.extent[0] > 0 && depth_axis(layout) < 0)
    throw WrongCall("a crop in depth needs an axis D or F, the layout is '" +
                    std::string(layout.str()) + "'");
}

int64_t start_of(double position, int64_t extent, int64_t window, Rounding rounding) {
  const double start = position * static_cast<double>(extent - window);
  return rounding == Rounding::kRound ? std::llround(start) : static_cast<int64_t>(start);
}

}  // namespace

void check_crop(const CropArguments& a, const Checker& c, const Layout& layout) {
  const bool list = a.crop || c.is_computed("crop");
  const bool h = a.crop_h > 0 || c.is_computed("crop_h");
  const bool w = a.crop_w > 0 || c.is_computed("crop_w");
  const bool d = a.crop_d > 0 || c.is_computed("crop_d");
  if (list && (h || w || d))
    throw GraphError("argument 'crop' excludes 'crop_h', 'crop_w' and 'crop_d'");
  if (h != w) throw GraphError("arguments 'crop_h' and 'crop_w' go together");
  if (d && !h) throw GraphError("argument 'crop_d' needs 'crop_h' and 'crop_w'");
  if (!c.is_computed("crop")) require_depth<GraphError>(requested<GraphError>(a), layout);
  if (c.is_computed("crop_d")) require_depth<GraphError>({{1, 0, 0}}, layout);
}

Shape cropped_shape(const CropArguments& a, const Checker& c, const TensorType& in) {
  static constexpr const char* kExtents[] = {"crop_d", "crop_h", "crop_w"};
  const Axes axes(in.layout);
  const Extents e = c.is_computed("crop") ? Extents{} : requested<GraphError>(a);
  Shape s = in.shape;
  for (int i = 0; i < 3; ++i) {
    if (axes.axis[i] < 0) continue;
    if (c.is_computed("crop") || c.is_computed(kExtents[i])) s[axes.axis[i]] = -1;
    else if (e.extent[i] > 0) s[axes.axis[i]] = e.extent[i];
  }
  return s;
}

Window crop_window(const CropArguments& a, const TensorType& in) {
  const Axes axes(in.layout);
  const Extents e = requested<SampleError>(a);
  require_depth<SampleError>(e, in.layout);
  const float position[] = {a.crop_pos_z, a.crop_pos_y, a.crop_pos_x};
  Window w = Window::all(in.shape);
  for (int i = 0; i < 3; ++i) {
    const int axis = axes.axis[i];
    if (axis < 0 || e.extent[i] == 0) continue;
    w.begin[axis] = start_of(position[i], in.shape[axis], e.extent[i], a.rounding);
    w.end[axis] = w.begin[axis] + e.extent[i];
  }
  return w;
}

}  // namespace stoker
