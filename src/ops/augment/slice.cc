// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "op/dtype_argument.h"
#include "op/op.h"
#include "op/window/out_of_bounds.h"

namespace stoker::ops::augment {

struct Slice : OutOfBoundsArguments, DtypeArgument {
  std::optional<Small<int>> axes;
  std::optional<Layout> axis_names;
  std::optional<Small<int64_t>> start, end, shape;
  std::optional<Small<float>> rel_start, rel_end, rel_shape;
  bool normalized_anchor = true, normalized_shape = true;

  static constexpr auto schema = describe(
      "slice",
      "Cuts a window out of any tensor.\n\n"
      "The window's start and its end or shape are given by positional inputs (anchor, shape) or "
      "by arguments, with one value per sliced axis. Values count elements or, with rel_ and "
      "normalized_, are fractions of the extent. Other axes stay whole. Positions are rounded to "
      "whole elements, halves away from zero. By default the axes are W, H, in this order. A "
      "window that reaches outside is treated as out_of_bounds_policy says; under 'error' the "
      "sample fails.",
      ports({.name = "data", .help = "Any tensor."},
            {.name = "anchor",
             .help = "Where the window starts. Integers count elements.",
             .is_optional = true,
             .is_value = true},
            {.name = "shape_input",
             .help = "Size of the window. Integers count elements.",
             .is_optional = true,
             .is_value = true}),
      ports({.name = "output", .help = "The window, in the input's layout."}),
      arg(&Slice::axes, "axes",
          "The axes that are sliced, by number; negative ones count from the end. Default: [1, 0].",
          kPerSample),
      arg(&Slice::axis_names, "axis_names",
          "The axes that are sliced, by letter of the layout; takes precedence over axes. Default: "
          "'WH'."),
      arg(&Slice::start, "start", "Where the window starts, in elements. Default: 0.", kPerSample),
      arg(&Slice::rel_start, "rel_start", "Where the window starts, as a fraction of the extent.",
          kPerSample),
      arg(&Slice::end, "end", "Where the window ends, in elements. Default: the end of the axis.",
          kPerSample),
      arg(&Slice::rel_end, "rel_end", "Where the window ends, as a fraction of the extent.",
          kPerSample),
      arg(&Slice::shape, "shape", "Size of the window, in elements.", at_least(0), kPerSample),
      arg(&Slice::rel_shape, "rel_shape", "Size of the window, as a fraction of the extent.",
          at_least(0), kPerSample),
      arg(&Slice::normalized_anchor, "normalized_anchor",
          "Whether a floating-point anchor input is a fraction of the extent."),
      arg(&Slice::normalized_shape, "normalized_shape",
          "Whether a floating-point shape input is a fraction of the extent."),
      kOutOfBoundsArguments, kDtypeArgument);

  void check(Checker& c) const {
    static constexpr const char* kNamed[] = {"start",   "rel_start", "end",
                                             "rel_end", "shape",     "rel_shape"};
    const bool given[] = {start.has_value(),   rel_start.has_value(), end.has_value(),
                          rel_end.has_value(), shape.has_value(),     rel_shape.has_value()};
    int count[2] = {0, 0};  // of starts; of ends and shapes
    for (int i = 0; i < 6; ++i) count[i >= 2] += given[i] || c.is_computed(kNamed[i]);
    const bool named = count[0] + count[1] > 0;
    require(!named || !c.has(1),
            "the inputs 'anchor' and 'shape_input' exclude start, end, shape and their rel_ forms");
    require(c.has(1) == c.has(2), "the inputs 'anchor' and 'shape_input' go together");
    require(
        named || c.has(1),
        "the window is missing: give the inputs anchor and shape_input, or start, end or shape");
    require(count[0] <= 1, "arguments 'start' and 'rel_start' exclude each other");
    require(count[1] <= 1, "only one of 'end', 'rel_end', 'shape' and 'rel_shape' may be given");
    TensorType t = c.in();
    t.dtype = dtype.value_or(t.dtype);
    t.shape = checked_shape(c);
    c.out(t);
  }

  void lower(Lowering& l) const {
    const TensorType in = l.type();
    const Small<int> sliced = sliced_axes(in);
    require_lengths(sliced.size());
    if (l.has(1)) require_lengths(l, sliced.size());
    Window w = Window::all(in.shape);
    for (size_t i = 0; i < sliced.size(); ++i) {
      const int axis = sliced[i];
      const Span s = l.has(1) ? positional(l, i, in.shape[axis]) : named(i, in.shape[axis]);
      w.begin[axis] = rounded(s.begin);
      w.end[axis] = rounded(s.end);
      require(w.begin[axis] <= w.end[axis], "the window of axis ", axis, " ends at ", w.end[axis],
              ", before its start ", w.begin[axis]);
    }
    l.add(cut(settle(w, in, out_of_bounds_policy), in, fill_values), dtype.value_or(in.dtype));
  }

  static std::vector<Case> cases() {
    return {
        {"start=[1, 0], shape=[2, 1]",
         {"uint8 HWC [[[1], [2], [3]], [[4], [5], [6]]]"},
         {"uint8 [[[2], [3]]]"}},
        {"rel_start=[0.5], rel_end=[1.0], axes=[0]", {"int32 [1, 2, 3]"}, {"int32 [3]"}},
        {"",
         {"uint8 HW [[1, 2], [3, 4]]", "float32 [0.5, 0.0]", "float32 [0.5, 0.5]"},
         {"uint8 [[2]]"}},
        {"axis_names=\"H\", start=[-1], end=[2], out_of_bounds_policy=\"pad\", fill_values=[7.0]",
         {"float32 HW [[1], [2]]"},
         {"float32 [[7], [1], [2]]"}},
        {"axes=[-1], out_of_bounds_policy=\"trim_to_shape\"",
         {"int16 [1, 2, 3, 4]", "int32 [2]", "int32 [9]"},
         {"int16 [3, 4]"}},
        {"axis_names=\"F\", start=[1], dtype=types.FLOAT",
         {"uint8 FHW [[[1]], [[2]]]"},
         {"float32 [[[2]]]"}},
    };
  }

 private:
  struct Span {
    double begin, end;
  };

  // The limit leaves room for the sums of starts where many slices become one pass.
  static int64_t rounded(double x) {
    require(std::fabs(x) < 0x1p53, "a window position is ", x, ", expected between -2^53 and 2^53");
    return std::llround(x);
  }

  Small<int> sliced_axes(const TensorType& in) const {
    Small<int> all;
    const bool by_name =
        axis_names || (!axes && in.layout.find('W') >= 0 && in.layout.find('H') >= 0);
    if (by_name) {
      const Layout letters = axis_names.value_or("WH");
      for (char letter : letters.str()) {
        all.push_back(in.layout.find(letter));
        require(all[all.size() - 1] >= 0, "argument 'axis_names' names axis ", letter,
                ", the layout is ", in.layout);
      }
    } else {
      const Small<int> numbers = axes.value_or(Small<int>{1, 0});
      for (int a : numbers) {
        require(-in.shape.rank <= a && a < in.shape.rank, "argument 'axes' names axis ", a,
                " of a tensor of ", in.shape.rank, " axes");
        all.push_back(a < 0 ? a + in.shape.rank : a);
      }
    }
    for (size_t i = 0; i < all.size(); ++i)
      require(std::count(all.begin(), all.end(), all[i]) == 1, "axis ", all[i], " is sliced twice");
    return all;
  }

  static void require_length(const char* what, size_t count, size_t axes) {
    require_count(what, count, {static_cast<int64_t>(axes)}, "one per sliced axis");
  }
  void require_lengths(size_t axes) const {
    const auto require_list = [&](const char* what, const auto& list) {
      if (list) require_length(what, list->size(), axes);
    };
    require_list("argument 'start'", start);
    require_list("argument 'rel_start'", rel_start);
    require_list("argument 'end'", end);
    require_list("argument 'rel_end'", rel_end);
    require_list("argument 'shape'", shape);
    require_list("argument 'rel_shape'", rel_shape);
  }
  static void require_lengths(const Lowering& l, size_t axes) {
    require_length("input 'anchor'", static_cast<size_t>(l.value(1).shape.volume()), axes);
    require_length("input 'shape_input'", static_cast<size_t>(l.value(2).shape.volume()), axes);
  }

  static double given(const View& list, size_t i) {
    const double number = detail::element(list, static_cast<int64_t>(i));
    return list.dtype == DType::kFloat32 ? shortest(static_cast<float>(number)) : number;
  }

  // Start and size are added before they are scaled, so that fractions of 0.1 and 0.9 reach the end
  // of the axis exactly.
  Span positional(const Lowering& l, size_t i, int64_t extent) const {
    const double full = static_cast<double>(extent);
    const double anchor = given(l.value(1), i), size = given(l.value(2), i);
    const bool relative_anchor = normalized_anchor && info(l.value(1).dtype).is_float;
    const bool relative_shape = normalized_shape && info(l.value(2).dtype).is_float;
    const double begin = relative_anchor ? anchor * full : anchor;
    if (relative_anchor && relative_shape) return {begin, (anchor + size) * full};
    return {begin, begin + (relative_shape ? size * full : size)};
  }

  Span named(size_t i, int64_t extent) const {
    const auto at = [&](const Small<int64_t>& list) { return static_cast<double>(list[i]); };
    const auto share = [&](const Small<float>& list) { return shortest(list[i]); };
    const double full = static_cast<double>(extent);
    const double begin = start ? at(*start) : rel_start ? share(*rel_start) * full : 0;
    if (end) return {begin, at(*end)};
    if (rel_end) return {begin, share(*rel_end) * full};
    if (shape) return {begin, begin + at(*shape)};
    if (!rel_shape) return {begin, full};
    if (rel_start) return {begin, (share(*rel_start) + share(*rel_shape)) * full};
    return {begin, begin + share(*rel_shape) * full};
  }

  // The extents as far as they are known before the run.
  Shape checked_shape(const Checker& c) const {
    const TensorType& in = c.in();
    if (in.shape.rank < 0) return in.shape;
    if (c.is_computed("axes")) return Shape::filled(in.shape.rank, -1);
    const Small<int> sliced = sliced_axes(in);
    require_lengths(sliced.size());
    const bool known = shape && out_of_bounds_policy != OutOfBounds::kTrim;
    Shape s = in.shape;
    for (size_t i = 0; i < sliced.size(); ++i) s[sliced[i]] = known ? (*shape)[i] : -1;
    return s;
  }
};

}  // namespace stoker::ops::augment

STOKER_OPERATOR(stoker::ops::augment::Slice)
