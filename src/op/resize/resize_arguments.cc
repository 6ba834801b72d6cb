// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/resize/resize_arguments.h"

#include "op/rules.h"
#include "op/window/out_of_bounds.h"

namespace stoker {

TensorType ResizeArguments::checked_resize(Checker& c) const {
  const auto given = [&](const char* name, bool constant) {
    return constant || c.is_computed(name);
  };
  const bool shorter = given("resize_shorter", resize_shorter != 0),
             longer = given("resize_longer", resize_longer != 0);
  const bool x = given("resize_x", resize_x != 0), y = given("resize_y", resize_y != 0),
             z = given("resize_z", resize_z != 0), whole = given("size", size.has_value());
  const bool region = given("roi_start", roi_start.has_value());
  if (whole + (x || y || z) + shorter + longer > 1) {
    std::string all;
    for (const auto& [is_given, name] :
         {std::pair(whole, "size"), std::pair(x, "resize_x"), std::pair(y, "resize_y"),
          std::pair(z, "resize_z"), std::pair(shorter, "resize_shorter"),
          std::pair(longer, "resize_longer")})
      if (is_given) all += (all.empty() ? "'" : ", '") + std::string(name) + "'";
    throw GraphError("the size is given more than once: " + all +
                     "; it is size, or resize_x/y/z, or resize_shorter, or resize_longer");
  }
  warn_of_shares(c);
  require(mode == ResizeMode::kDefault || !(shorter || longer),
          "argument 'mode' does not go together with 'resize_shorter' or 'resize_longer'");
  require(region == given("roi_end", roi_end.has_value()),
          "arguments 'roi_start' and 'roi_end' go together");
  require(region || !roi_relative, "argument 'roi_relative' needs 'roi_start' and 'roi_end'");
  TensorType t = c.in();
  require(!z || t.layout.find('D') >= 0, "argument 'resize_z' needs an axis D, the layout is ",
          t.layout);
  require_lengths(t.layout);
  t.shape = checked_shape(c, t);
  t.dtype = dtype.value_or(t.dtype);
  return t;
}

// A size below a pixel gives one pixel, and was probably meant as a share.
void ResizeArguments::warn_of_shares(Checker& c) const {
  const auto warn = [&](const char* name, float v) {
    if (v != 0 && std::abs(v) < 1)
      c.warning = "argument '" + std::string(name) + "' is " + to_string(to_value(v)) +
                  ", which gives one pixel: sizes are pixels, not shares of the input's";
  };
  for (size_t i = 0; size && i < size->size(); ++i) warn("size", (*size)[i]);
  warn("resize_x", resize_x);
  warn("resize_y", resize_y);
  warn("resize_z", resize_z);
  warn("resize_shorter", resize_shorter);
  warn("resize_longer", resize_longer);
}

Block ResizeArguments::resample(const TensorType& in) const {
  require_lengths(in.layout);
  const ResizedAxes axes(in.layout);
  ResizeRequest asked = size_request(axes, in.shape);
  const bool is_empty = drop_empty_axes(axes, in.shape, asked);
  const ResizeResult result = resize_extents(asked);
  if (is_empty) {
    Window w = Window::all(in.shape);
    for (int i = 0; i < axes.rank; ++i)
      if (int64_t& end = w.end[axes.axis[i]]; end > 0) end = result.out[i];
    return {cut(w, in, {0}), dtype.value_or(in.dtype)};
  }
  Resample r;
  r.count = axes.rank;
  for (int i = 0; i < axes.rank; ++i)
    r.axis[i] = resample_axis(*this, axes.axis[i], result.out[i], result.lo[i], result.hi[i]);
  return {r, dtype.value_or(in.dtype)};
}

void ResizeArguments::require_lengths(const Layout& layout) const {
  const int64_t rank = ResizedAxes(layout).rank;
  const auto require_length = [&](const char* what, const std::optional<Small<float>>& list,
                                  int64_t least) {
    if (list)
      require_count(what, list->size(), {least, rank}, "one per axis of ", layout,
                    " that is resized");
  };
  require_length("argument 'size'", size, 1);
  require_length("argument 'max_size'", max_size, 1);
  require_length("argument 'roi_start'", roi_start, rank);
  require_length("argument 'roi_end'", roi_end, rank);
}

// An axis without pixels has none after resizing either, and no part in the scale of the others.
// Returns whether there is one.
bool ResizeArguments::drop_empty_axes(const ResizedAxes& axes, const Shape& in, ResizeRequest& r) {
  bool is_empty = false;
  for (int i = 0; i < axes.rank; ++i) {
    if (in[axes.axis[i]] > 0) continue;
    is_empty = true;
    r.size[i] = r.max_size[i] = r.lo[i] = 0;
    r.hi[i] = 1;
  }
  return is_empty;
}

double ResizeArguments::size_of_axis(int i, char letter) const {
  if (size) return size->at_or_only(i);
  if (resize_shorter != 0) return resize_shorter;
  if (resize_longer != 0) return resize_longer;
  return letter == 'W' ? resize_x : letter == 'H' ? resize_y : resize_z;
}

ResizeRequest ResizeArguments::size_request(const ResizedAxes& axes, const Shape& in) const {
  ResizeRequest r;
  r.rank = axes.rank;
  r.mode = resize_shorter != 0  ? ResizeMode::kNotSmaller
           : resize_longer != 0 ? ResizeMode::kNotLarger
                                : mode;
  r.subpixel_scale = subpixel_scale;
  for (int i = 0; i < axes.rank; ++i) {
    const double extent = static_cast<double>(in[axes.axis[i]]), unit = roi_relative ? extent : 1;
    r.size[i] = size_of_axis(i, axes.letter[i]);
    r.lo[i] = roi_start ? shortest((*roi_start)[i]) * unit : 0;
    r.hi[i] = roi_end ? shortest((*roi_end)[i]) * unit : extent;
    r.max_size[i] = max_size ? max_size->at_or_only(i) : 0;
  }
  return r;
}

// The extents as far as they are known before the run. In these two modes, an axis with a constant
// size depends neither on other axes nor on the input.
Shape ResizeArguments::checked_shape(const Checker& c, const TensorType& in) const {
  static constexpr const char* kDeciding[] = {"size",      "resize_x",       "resize_y",
                                              "resize_z",  "resize_shorter", "resize_longer",
                                              "roi_start", "roi_end"};
  const ResizedAxes axes(in.layout);
  const bool any_computed = std::any_of(std::begin(kDeciding), std::end(kDeciding),
                                        [&](auto n) { return c.is_computed(n); });
  const bool own = (mode == ResizeMode::kDefault || mode == ResizeMode::kStretch) &&
                   !resize_shorter && !resize_longer;
  Shape some = in.shape;
  bool known = true;
  for (int i = 0; i < axes.rank; ++i) {
    int64_t& extent = some[axes.axis[i]];
    known = known && extent > 0;
    extent = std::max<int64_t>(extent, 1);
  }
  const ResizeResult r = any_computed ? ResizeResult{} : resize_extents(size_request(axes, some));
  Shape s = in.shape;
  for (int i = 0; i < axes.rank; ++i) {
    const bool fixed = !any_computed && (known || (own && size_of_axis(i, axes.letter[i]) != 0));
    s[axes.axis[i]] = fixed ? r.out[i] : -1;
  }
  return s;
}

}  // namespace stoker
