// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/arguments/dtype_argument.h"
#include "op/resize/filter.h"
#include "op/type_of.h"
#include "op/window/random_window.h"

namespace stoker::ops::geometry {

struct RandomResizedCrop : RandomWindowArguments, FilterArguments, DtypeArgument {
  Small<int> size;

  static constexpr bool kRandom = true;
  static constexpr const char* kIgnored[] = {"minibatch_size", "temp_buffer_hint"};
  static constexpr auto schema = describe(
      "random_resized_crop",
      "Cuts a random window out of an image and resizes it.\n\n"
      "The window's area and aspect ratio are drawn until the window fits into the picture; then "
      "its place is drawn. All frames of a sequence share one window. Accepts any dtype. The draws "
      "depend only on the pipeline's seed, the epoch and the sample.",
      ports({.name = "input", .help = "Image or sequence.", .layouts = "HWC, CHW, HW, CFHW"}),
      ports({.name = "output", .help = "The window, of the given size."}),
      arg(&RandomResizedCrop::size, "size",
          "Output size in pixels, (H, W), or one number for both.", at_least(1), kRequired),
      kRandomWindowArguments, kFilterArguments, kDtypeArgument);

  void check(Checker& c) const {
    check_random_window(*this);
    require_count("argument 'size'", size.size(), {1, 2}, "one for both axes or (H, W)");
    TensorType t = c.in();
    t.shape[t.layout.find('H')] = size.at_or_only(0);
    t.shape[t.layout.find('W')] = size.at_or_only(1);
    t.dtype = dtype.value_or(t.dtype);
    c.out(t);
  }

  void lower(Lowering& l) const {
    const TensorType in = l.type();
    const int y = in.layout.find('H'), x = in.layout.find('W');
    require_pixels(in);
    const PlaneWindow w = random_window(*this, in.shape[y], in.shape[x], l.chance);
    const auto axis = [&](int a, int64_t out, int64_t begin, int64_t extent) {
      return resample_axis(*this, a, out, static_cast<double>(begin),
                           static_cast<double>(begin + extent));
    };
    Resample r;
    r.count = 2;
    r.axis[0] = axis(y, size.at_or_only(0), w.y, w.height);
    r.axis[1] = axis(x, size.at_or_only(1), w.x, w.width);
    l.add(r, dtype.value_or(in.dtype));
  }

  static std::vector<Case> cases() {
    return {
        {"size=[1, 1], random_area=[1.0, 1.0], random_aspect_ratio=[1.0, 1.0]",
         {"uint8 HWC [[[10], [20]], [[30], [40]]]"},
         {"uint8 [[[25]]]"}},
        {"size=[1, 3], interp_type=types.INTERP_NN, dtype=types.FLOAT",
         {"uint8 HW [[7]]"},
         {"float32 [[7, 7, 7]]"}},
        {"size=2, random_area=[0.5, 1.0]",
         {"float32 CHW [[[0.5, 0.5, 0.5], [0.5, 0.5, 0.5]]]"},
         {"float32 [[[0.5, 0.5], [0.5, 0.5]]]"}},
    };
  }
};

}  // namespace stoker::ops::geometry

STOKER_OPERATOR(stoker::ops::geometry::RandomResizedCrop)
