// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/dtype_argument.h"
#include "op/op.h"
#include "op/resize/filter.h"
#include "op/resize/size.h"

namespace stoker::ops::augment {

struct Resize : FilterArguments, DtypeArgument {
  std::optional<Small<float>> size, max_size, roi_start, roi_end;
  float resize_x = 0, resize_y = 0, resize_z = 0;
  float resize_shorter = 0, resize_longer = 0;
  ResizeMode mode = ResizeMode::kDefault;
  bool subpixel_scale = true, roi_relative = false, save_attrs = false;

  static constexpr const char* kIgnored[] = {"minibatch_size", "temp_buffer_hint"};
  static constexpr auto schema = describe(
      "resize",
      "Resizes an image, a volume or a sequence.\n\n"
      "The size is given in pixels in one of four ways: by size, by the trio resize_x, resize_y "
      "and resize_z, by resize_shorter or by resize_longer; without any of them it stays. A size "
      "of 0 leaves the axis to mode; a negative size mirrors the axis. The result has at least one "
      "pixel per axis. With roi_start and roi_end, only that region of the input is resized. "
      "Accepts any dtype.",
      ports({.name = "input",
             .help = "Image, volume or sequence.",
             .layouts = "HWC, CHW, HW, DHWC, CDHW, DHW, CFHW, CFDHW"}),
      ports({.name = "output", .help = "The resized input, in its layout."},
            {.name = "extents",
             .help = "The extents that the input had along the axes that are resized, as int32; of "
                     "a sequence those of its frames, once.",
             .when = "save_attrs"}),
      arg(&Resize::size, "size", "Output size, (H, W) or (D, H, W); one number serves all axes.",
          kPerSample),
      arg(&Resize::resize_x, "resize_x", "Output width.", kPerSample),
      arg(&Resize::resize_y, "resize_y", "Output height.", kPerSample),
      arg(&Resize::resize_z, "resize_z", "Output depth (axis D).", kPerSample),
      arg(&Resize::resize_shorter, "resize_shorter",
          "Size of the shortest axis; the aspect ratio stays. Excludes mode.", at_least(0),
          kPerSample),
      arg(&Resize::resize_longer, "resize_longer",
          "Size of the longest axis; the aspect ratio stays. Excludes mode.", at_least(0),
          kPerSample),
      arg(&Resize::mode, "mode",
          "'default': axes without a size are scaled by the geometric mean of the other scales; "
          "'stretch': they keep their size; 'not_smaller', 'not_larger': all axes have one scale, "
          "so that none gets smaller or larger than asked for."),
      arg(&Resize::max_size, "max_size",
          "Limit of the output size, one for all axes or one per axis; 0 is no limit.",
          at_least(0)),
      arg(&Resize::subpixel_scale, "subpixel_scale",
          "Where the output size has to be rounded, stretch the input's region around its centre "
          "so that the scale stays exact. With False the region stays and the scale changes, as in "
          "Pillow and OpenCV."),
      arg(&Resize::roi_start, "roi_start", "Start of the region to resize, by axis. Needs roi_end.",
          kPerSample),
      arg(&Resize::roi_end, "roi_end",
          "End of the region to resize, by axis. An end before the start mirrors the axis.",
          kPerSample),
      arg(&Resize::roi_relative, "roi_relative",
          "Whether the region is given as fractions of the extents (0 to 1) instead of pixels."),
      arg(&Resize::save_attrs, "save_attrs", "Whether the input's extents are a second output."),
      kFilterArguments, kDtypeArgument);

  void check(Checker& c) const {
    const auto given = [&](const char* name, bool constant) {
      return constant || c.is_computed(name);
    };
    const bool shorter = given("resize_shorter", resize_shorter != 0),
               longer = given("resize_longer", resize_longer != 0);
    const bool z = given("resize_z", resize_z != 0);
    const bool trio = given("resize_x", resize_x != 0) || given("resize_y", resize_y != 0) || z;
    const bool region = given("roi_start", roi_start.has_value());
    require(given("size", size.has_value()) + trio + shorter + longer <= 1,
            "the size is given in one way: size, or resize_x/y/z, or resize_shorter, or "
            "resize_longer");
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
    c.out(t);
    if (save_attrs) c.out(extents_type(t.layout));
  }

  void lower(Lowering& l) const {
    const TensorType in = l.type();
    require_lengths(in.layout);
    require_pixels(in);
    const Axes axes(in.layout);
    const ResizeResult result = resize_extents(request(axes, in.shape));
    Resample r;
    r.count = axes.rank;
    for (int i = 0; i < axes.rank; ++i)
      r.axis[i] = resample_axis(*this, axes.axis[i], result.out[i], result.lo[i], result.hi[i]);
    l.add(r, dtype.value_or(in.dtype));
    if (!save_attrs) return;
    auto* extents = l.make(extents_type(in.layout)).as<int32_t>();
    for (int i = 0; i < axes.rank; ++i) extents[i] = static_cast<int32_t>(in.shape[axes.axis[i]]);
  }

  static std::vector<Case> cases() {
    return {
        {"size=[1, 2]", {"uint8 HWC [[[10], [20]], [[30], [40]]]"}, {"uint8 [[[20], [30]]]"}},
        {"resize_x=4, interp_type=types.INTERP_NN",
         {"uint8 HW [[1, 2]]"},
         {"uint8 [[1, 1, 2, 2], [1, 1, 2, 2]]"}},
        {"resize_x=-2", {"int16 HW [[1, 2], [3, 4]]"}, {"int16 [[2, 1], [4, 3]]"}},
        {"resize_shorter=2, dtype=types.FLOAT",
         {"uint8 CHW [[[8, 8]]]"},
         {"float32 [[[8, 8, 8, 8], [8, 8, 8, 8]]]"}},
        {"roi_start=[0.0, 0.5], roi_end=[1.0, 1.0], roi_relative=True",
         {"float32 HW [[1, 2, 3, 4]]"},
         {"float32 [[3, 4]]"}},
        {"size=[2, 1], save_attrs=True",
         {"uint8 FHW [[[1, 3, 5]], [[2, 4, 6]]]"},
         {"uint8 [[[3], [3]], [[4], [4]]]", "int32 [1, 3]"}},
        {"size=[0, 8], mode=\"not_larger\", max_size=[4]",
         {"uint8 HW [[5, 5]]"},
         {"uint8 [[5, 5, 5, 5], [5, 5, 5, 5]]"}},
    };
  }

 private:
  // The spatial axes, outermost first.
  struct Axes {
    int rank = 0;
    int axis[kMaxSpatial] = {};
    char letter[kMaxSpatial] = {};
    explicit Axes(const Layout& layout) {
      for (int a = 0; a < layout.rank(); ++a)
        if (char c = layout.letters[a]; c == 'D' || c == 'H' || c == 'W')
          axis[rank] = a, letter[rank++] = c;
    }
  };

  static TensorType extents_type(const Layout& layout) {
    return {DType::kInt32, {}, {Axes(layout).rank}};
  }

  void require_lengths(const Layout& layout) const {
    const int64_t rank = Axes(layout).rank;
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

  double size_of_axis(int i, char letter) const {
    if (size) return size->at_or_only(i);
    if (resize_shorter != 0) return resize_shorter;
    if (resize_longer != 0) return resize_longer;
    return letter == 'W' ? resize_x : letter == 'H' ? resize_y : resize_z;
  }

  ResizeRequest request(const Axes& axes, const Shape& in) const {
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

  // The extents as far as they are known before the run. In these two modes, an axis with a
  // constant size depends neither on the other axes nor on the input.
  Shape checked_shape(const Checker& c, const TensorType& in) const {
    static constexpr const char* kDeciding[] = {"size",      "resize_x",       "resize_y",
                                                "resize_z",  "resize_shorter", "resize_longer",
                                                "roi_start", "roi_end"};
    const Axes axes(in.layout);
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
    const ResizeResult r = any_computed ? ResizeResult{} : resize_extents(request(axes, some));
    Shape s = in.shape;
    for (int i = 0; i < axes.rank; ++i) {
      const bool fixed = !any_computed && (known || (own && size_of_axis(i, axes.letter[i]) != 0));
      s[axes.axis[i]] = fixed ? r.out[i] : -1;
    }
    return s;
  }
};

}  // namespace stoker::ops::augment

STOKER_OPERATOR(stoker::ops::augment::Resize)
