// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/convert.h"
#include "op/type_of.h"
#include "op/window/random_window.h"

namespace stoker::ops::random {

struct RandomCropGenerator : RandomWindowArguments {
  static constexpr bool kRandom = true;
  static constexpr auto schema = describe(
      "random_crop_generator",
      "Draws a window for pictures of a given shape.\n\n"
      "It is the window that random_resized_crop and decoders.image_random_crop would cut out. The "
      "outputs are int32 and fit the arguments 'anchor' and 'shape' of slice.",
      ports({.name = "shapes",
             .help = "The shape of a picture, (H, W) or (H, W, C).",
             .dtypes = "int32, int64"}),
      ports({.name = "anchor", .help = "Top and left edge of the window in pixels."},
            {.name = "shape", .help = "Height and width of the window in pixels."}),
      kRandomWindowArguments);

  static void require_shape(const Shape& s) {
    require(s.rank < 0 || (s.rank == 1 && (s[0] < 0 || s[0] == 2 || s[0] == 3)),
            "the input is of shape ", s, ", expected (2) or (3)");
  }
  void check(Checker& c) const {
    check_random_window(*this);
    require_shape(c.in().shape);
    for (int k = 0; k < 2; ++k) c.out({DType::kInt32, {}, {2}});
  }
  void infer(Inference& i) const {
    require_shape(i.inputs[0].shape);
    for (int k = 0; k < 2; ++k) i.out({DType::kInt32, {}, {2}});
  }

  void run_cpu(Run& r) const {
    const auto extent = [&](int64_t k) {
      const View& v = r.inputs[0];
      const std::byte* from = v.as<std::byte>() + k * v.strides[0];
      int64_t e = 0;
      convert_row(from, v.dtype, &e, DType::kInt64, 1);
      require(e >= 1 && e <= std::numeric_limits<int32_t>::max(), "the picture has an extent of ",
              e, ", expected one between 1 and 2^31 - 1");
      return e;
    };
    const PlaneWindow w = random_window(*this, extent(0), extent(1), r.chance);
    const int64_t numbers[2][2] = {{w.y, w.x}, {w.height, w.width}};
    for (int k = 0; k < 2; ++k) {
      const View& out = r.outputs[k];
      for (int64_t p = 0; p < out.shape[0]; ++p)
        out.as<int32_t>()[p] = static_cast<int32_t>(numbers[k][out.origin[0] + p]);
    }
  }

  static std::vector<Case> cases() {
    return {
        {"random_area=[1.0, 1.0], random_aspect_ratio=[0.1, 10.0]",
         {"int64 [1, 1, 3]"},
         {"int32 [0, 0]", "int32 [1, 1]"}},
        {"random_area=[1.0, 1.0], random_aspect_ratio=[1.0, 1.0]",
         {"int32 [7, 7]"},
         {"int32 [0, 0]", "int32 [7, 7]"}},
    };
  }
};

}  // namespace stoker::ops::random

STOKER_OPERATOR(stoker::ops::random::RandomCropGenerator)
