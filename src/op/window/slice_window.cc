// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/window/slice_window.h"

#include <cmath>

#include "op/arguments/axes_argument.h"
#include "op/rules.h"

namespace stoker {

namespace {

struct Interval {
  double begin, end;
};

// The limit leaves room for sums of starts when many slices become one pass.
int64_t rounded(double x) {
  require(std::fabs(x) < 0x1p53, "a window position is ", x, ", expected between -2^53 and 2^53");
  return std::llround(x);
}

// The layout, or what stands for it where letters name axes.
Layout letters_of(const TensorType& in) {
  if (!in.layout.empty()) return in.layout;
  constexpr const char* kByRank[] = {"HW", "HWC", "DHWC"};
  const int rank = in.shape.rank;
  return rank >= 2 && rank <= 4 ? kByRank[rank - 2] : "";
}

Small<int> sliced_axes(const SliceArguments& a, const TensorType& in) {
  if (a.axis_names ? a.axis_names->empty() : a.axes && a.axes->empty()) {
    Small<int> all;
    for (int axis = 0; axis < in.shape.rank; ++axis) all.push_back(axis);
    return all;
  }
  const TensorType named{in.dtype, letters_of(in), in.shape};
  std::optional<Layout> letters = a.axis_names;
  if (!a.axes && !letters && named.layout.find('W') >= 0 && named.layout.find('H') >= 0)
    letters = "WH";
  return axes_asked(a.axes.value_or(Small<int>{1, 0}), letters, named);
}

// An empty list says as much as none.
bool says(const auto& list) { return list && !list->empty(); }

void require_length(const char* what, size_t count, size_t axes) {
  require_count(what, count, {static_cast<int64_t>(axes)}, "one per sliced axis");
}

void require_lengths(const SliceArguments& a, size_t axes) {
  const auto require_list = [&](const char* what, const auto& list) {
    if (says(list))
      require_count(what, list->size(), {1, static_cast<int64_t>(axes)},
                    "one for all sliced axes or one for each");
  };
  require_list("argument 'start'", a.start);
  require_list("argument 'rel_start'", a.rel_start);
  require_list("argument 'end'", a.end);
  require_list("argument 'rel_end'", a.rel_end);
  require_list("argument 'shape'", a.shape);
  require_list("argument 'rel_shape'", a.rel_shape);
}

double given(const View& list, size_t i) {
  const double number = element(list, static_cast<int64_t>(i));
  return list.dtype == DType::kFloat32 ? shortest(static_cast<float>(number)) : number;
}

// Start and size are added before they are scaled, so that 0.1 and 0.9 reach the end of the axis
// exactly.
Interval positional(const SliceArguments& a, const View& anchors, const View& sizes, size_t i,
                    int64_t extent) {
  const double full = static_cast<double>(extent);
  const double anchor = given(anchors, i), size = given(sizes, i);
  const bool relative_anchor = a.normalized_anchor && info(anchors.dtype).is_float;
  const bool relative_shape = a.normalized_shape && info(sizes.dtype).is_float;
  const double begin = relative_anchor ? anchor * full : anchor;
  if (relative_anchor && relative_shape) return {begin, (anchor + size) * full};
  return {begin, begin + (relative_shape ? size * full : size)};
}

Interval named(const SliceArguments& a, size_t i, int64_t extent) {
  const auto at = [&](const Small<int64_t>& list) {
    return static_cast<double>(list.at_or_only(i));
  };
  const auto share = [&](const Small<float>& list) { return shortest(list.at_or_only(i)); };
  const double full = static_cast<double>(extent);
  const double begin = says(a.start)       ? at(*a.start)
                       : says(a.rel_start) ? share(*a.rel_start) * full
                                           : 0;
  if (says(a.end)) return {begin, at(*a.end)};
  if (says(a.rel_end)) return {begin, share(*a.rel_end) * full};
  if (says(a.shape)) return {begin, begin + at(*a.shape)};
  if (!says(a.rel_shape)) return {begin, full};
  if (says(a.rel_start)) return {begin, (share(*a.rel_start) + share(*a.rel_shape)) * full};
  return {begin, begin + share(*a.rel_shape) * full};
}

void require_one_way(const SliceArguments& a, const Checker& c) {
  static constexpr const char* kNamed[] = {"start",   "rel_start", "end",
                                           "rel_end", "shape",     "rel_shape"};
  const bool given[] = {a.start.has_value(),   a.rel_start.has_value(), a.end.has_value(),
                        a.rel_end.has_value(), a.shape.has_value(),     a.rel_shape.has_value()};
  int count[2] = {0, 0};  // of starts; of ends and shapes
  for (int i = 0; i < 6; ++i) count[i >= 2] += given[i] || c.is_computed(kNamed[i]);
  const bool named = count[0] + count[1] > 0;
  require(!named || !c.has(1),
          "the inputs 'anchor' and 'shape_input' exclude start, end, shape and their rel_ forms");
  require(c.has(1) == c.has(2), "the inputs 'anchor' and 'shape_input' go together");
  require(named || c.has(1),
          "the window is missing: give the inputs anchor and shape_input, or start, end or shape");
  require(count[0] <= 1, "arguments 'start' and 'rel_start' exclude each other");
  require(count[1] <= 1, "only one of 'end', 'rel_end', 'shape' and 'rel_shape' may be given");
}

}  // namespace

Shape checked_slice(const SliceArguments& a, OutOfBounds policy, const Checker& c,
                    const TensorType& in) {
  require_one_way(a, c);
  require_one_kind(a.axes || c.is_computed("axes"), a.axis_names.has_value());
  if (in.shape.rank < 0) return in.shape;
  if (c.is_computed("axes")) return Shape::filled(in.shape.rank, -1);
  const Small<int> sliced = sliced_axes(a, in);
  require_lengths(a, sliced.size());
  const bool known = says(a.shape) && policy != OutOfBounds::kTrim;
  Shape s = in.shape;
  for (size_t i = 0; i < sliced.size(); ++i) s[sliced[i]] = known ? a.shape->at_or_only(i) : -1;
  return s;
}

Window slice_window(const SliceArguments& a, const TensorType& in, const View* anchor,
                    const View* size) {
  const Small<int> sliced = sliced_axes(a, in);
  require_lengths(a, sliced.size());
  if (anchor) {
    require_length("input 'anchor'", static_cast<size_t>(anchor->shape.volume()), sliced.size());
    require_length("input 'shape_input'", static_cast<size_t>(size->shape.volume()), sliced.size());
  }
  Window w = Window::all(in.shape);
  for (size_t i = 0; i < sliced.size(); ++i) {
    const int axis = sliced[i];
    const int64_t extent = in.shape[axis];
    const Interval s = anchor ? positional(a, *anchor, *size, i, extent) : named(a, i, extent);
    w.begin[axis] = rounded(s.begin);
    w.end[axis] = rounded(s.end);
    require(w.begin[axis] <= w.end[axis], "the window of axis ", axis, " ends at ", w.end[axis],
            ", before its start ", w.begin[axis]);
  }
  return w;
}

std::string order_hint(const Window& w, const SliceArguments& a, const TensorType& in,
                       const View* anchor, const View* size) {
  if (a.axes || a.axis_names || !reaches_outside(w, in.shape)) return {};
  const Small<int> xy = sliced_axes(a, in);
  SliceArguments other = a;
  other.axes = Small<int>{xy[1], xy[0]};
  if (reaches_outside(slice_window(other, in, anchor, size), in.shape)) return {};
  return "; it would fit if the numbers are in the order (y, x): axis_names='HW' takes them so, "
         "the "
         "default is (x, y)";
}

}  // namespace stoker
