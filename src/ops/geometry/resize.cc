// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/resize/resize_arguments.h"
#include "op/type_of.h"

namespace stoker::ops::geometry {

struct Resize : ResizeArguments {
  bool save_attrs = false;

  static constexpr std::array kIgnored = kIgnoredResizeArguments;
  static constexpr auto schema = describe(
      "resize",
      "Resizes an image, a volume or a sequence.\n\n"
      "The size is given in pixels in one of four ways: by size, by the trio resize_x, resize_y "
      "and resize_z, by resize_shorter or by resize_longer; without any of them it stays. A size "
      "of 0 leaves the axis to mode; a negative size mirrors the axis. The result has at least one "
      "pixel per axis; only axes without pixels stay so. With roi_start and roi_end, only that "
      "region of the input is resized. Accepts any dtype.",
      ports({.name = "input",
             .help = "Image, volume or sequence.",
             .layouts = "HWC, CHW, HW, DHWC, CDHW, DHW, CFHW, CFDHW"}),
      ports({.name = "output", .help = "The resized input, in its layout."},
            {.name = "extents",
             .help = "The extents that the input had along the axes that are resized, as int32; of "
                     "a sequence those of its frames, once.",
             .when = "save_attrs"}),
      kResizeArguments,
      arg(&Resize::save_attrs, "save_attrs", "Whether the input's extents are a second output."),
      kFilterArguments, kDtypeArgument);

  void check(Checker& c) const {
    c.out(checked_resize(c));
    if (save_attrs) c.out(extents_type(c.in().layout));
  }

  void lower(Lowering& l) const {
    const TensorType in = l.type();
    l.add(resample(in).kind, dtype.value_or(in.dtype));
    if (!save_attrs) return;
    const ResizedAxes axes(in.layout);
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
        {"size=[1, 2], border=\"clamp\"", {"uint8 HW [[0, 8, 16, 24]]"}, {"uint8 [[5, 19]]"}},
        {"size=[0, 8], mode=\"not_larger\", max_size=[4]",
         {"uint8 HW [[5, 5]]"},
         {"uint8 [[5, 5, 5, 5], [5, 5, 5, 5]]"}},
    };
  }

 private:
  static TensorType extents_type(const Layout& layout) {
    return {DType::kInt32, {}, {ResizedAxes(layout).rank}};
  }
};

}  // namespace stoker::ops::geometry

STOKER_OPERATOR(stoker::ops::geometry::Resize)
