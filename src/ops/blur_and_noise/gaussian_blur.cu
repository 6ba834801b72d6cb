// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/arguments/spatial_axes.h"
#include "op/loops/gpu_blur.cuh"
#include "op/type_of.h"

namespace stoker::ops::blur_and_noise {

struct GaussianBlur {
  Small<float> sigma = {0};
  Small<int> window_size = {0};
  std::optional<DType> dtype;

  static constexpr auto schema = describe(
      "gaussian_blur",
      "Blurs an image, a volume or a sequence with a Gaussian bell.\n\n"
      "sigma and window_size have one value for all axes of space, or one for each of them, in "
      "their order. Where only sigma is given, the window has 2 ceil(3 sigma) + 1 positions. Where "
      "only the window is, sigma is 0.3 ((window - 1) / 2 - 1) + 0.8. Beyond its edge the image is "
      "mirrored about the outermost element. uint8 that stays uint8 is at most one level off.",
      ports({.name = "input", .help = kSpatialInput, .unfolds = true}),
      ports({.name = "output", .help = "The blurred input."}),
      arg(&GaussianBlur::sigma, "sigma", "Standard deviation of the bell, in elements.",
          between(0, 10000), kPerFrame),
      arg(&GaussianBlur::window_size, "window_size",
          "Positions of the bell: odd, or 0 where sigma decides.", between(0, 60001), kPerFrame),
      arg(&GaussianBlur::dtype, "dtype", "The input's dtype, which is the default, or FLOAT."));

  void check(Checker& c) const {
    const DType in = c.in().dtype;
    require(!dtype || *dtype == in || *dtype == DType::kFloat32, "argument 'dtype' is ",
            name_of(dtype.value_or(in)), ", expected ", name_of(in), " or float32");
    if (c.in().shape.rank >= 0) {
      (void)spatial_axes(c.in());
      if (!c.is_computed("sigma") && !c.is_computed("window_size")) (void)axes(c.in());
    }
    c.out(blurred(c.in()));
  }
  void infer(Inference& i) const {
    (void)axes(i.inputs[0]);
    i.out(blurred(i.inputs[0]));
  }
  void demand(Demand& d) const {
    d.needed[0] = blur_demand(d.wanted[0], d.inputs[0].shape, axes(d.inputs[0]));
  }
  void run_cpu(Run& r) const {
    blur(r.inputs[0], r.outputs[0], axes(r.outputs[0].whole()), r.scratch);
  }
  static void run_gpu(GpuRun& r, std::span<const GaussianBlur* const> items) {
    blur(r, [&](size_t i) { return items[i]->axes(r.items[i].outputs[0].whole()); });
  }

  static std::vector<Case> cases() {
    return {
        {"window_size=3, sigma=100.0", {"uint8 HW [[0, 0, 90]]"}, {"uint8 [[0, 30, 30]]"}},
        {"window_size=[3, 1], sigma=10000.0, dtype=types.FLOAT",
         {"uint8 HW [[8, 1], [2, 4]]"},
         {"float32 [[4, 3], [6, 2]]"}},
        {"sigma=0.1", {"int16 CHW [[[7, -7]], [[1, 2]]]"}, {"int16 [[[7, -7]], [[1, 2]]]"}},
        {"window_size=[1, 1, 5]", {"float32 DHW [[[3]], [[0]]]"}, {"float32 [[[3]], [[0]]]"}},
        {"window_size=3, sigma=100.0", {"uint8 [0, 0, 90]"}, {"uint8 [0, 30, 30]"}},
    };
  }

 private:
  TensorType blurred(const TensorType& t) const {
    return {dtype.value_or(t.dtype), t.layout, t.shape};
  }
  std::vector<BlurAxis> axes(const TensorType& type) const {
    std::vector<BlurAxis> all;
    for (const int axis : spatial_axes(type)) all.push_back({axis, {}});
    const int64_t n = std::ssize(all);
    require_count("argument 'sigma'", sigma.size(), {1, n}, "one per blurred axis");
    require_count("argument 'window_size'", window_size.size(), {1, n}, "one per blurred axis");
    for (size_t k = 0; k < all.size(); ++k) {
      const double s = shortest(sigma.at_or_only(k));
      const int window = window_size.at_or_only(k);
      require(s > 0 || window > 0, "the blur is missing: give 'sigma' or 'window_size'");
      require(window == 0 || window % 2 == 1, "argument 'window_size' is ", window,
              ", expected odd numbers");
      all[k].weights = gaussian(s, window ? window / 2 : static_cast<int>(std::ceil(3 * s)));
    }
    return all;
  }
};

}  // namespace stoker::ops::blur_and_noise

STOKER_OPERATOR(stoker::ops::blur_and_noise::GaussianBlur)
