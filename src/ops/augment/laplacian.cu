// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/elements/boxes.h"
#include "op/loops/gpu_window.cuh"
#include "op/op.h"

namespace stoker::ops::augment {

struct Laplacian {
  Small<int> window_size = {3}, smoothing_size;
  Small<float> scale = {1};
  bool normalized_kernel = false;
  std::optional<DType> dtype;

  static constexpr auto schema = describe(
      "laplacian",
      "Sums up the second derivatives of an image, a volume or a sequence along its axes.\n\n"
      "The derivative along one of the axes D, H and W is smoothed along the others. Its window is "
      "(1, -2, 1), smoothed as well where it is longer; smoothing windows are (1, 2, 1) and its "
      "powers. Beyond its edge the image is mirrored about the outermost element.",
      ports({.name = "input",
             .help = "Image, volume or sequence.",
             .layouts = "HWC, CHW, HW, DHWC, CDHW, DHW"}),
      ports({.name = "output", .help = "The sums."}),
      arg(&Laplacian::window_size, "window_size",
          "Positions of the derivatives' windows, odd: for each axis or one number for all.",
          between(3, 23), kPerFrame),
      arg(&Laplacian::smoothing_size, "smoothing_size",
          "Positions of the smoothing windows, odd: for each axis or one number for all; 1 does "
          "not smooth. Default: as many as the derivative's window has.",
          between(1, 23), kPerFrame),
      arg(&Laplacian::scale, "scale",
          "Factors of the derivatives: for each axis or one number for all.", kPerFrame),
      arg(&Laplacian::normalized_kernel, "normalized_kernel",
          "Whether to scale derivatives so that their size does not depend on the windows: that of "
          "window_size=3 without smoothing. Does not go together with 'scale'."),
      arg(&Laplacian::dtype, "dtype", "The input's dtype, which is the default, or FLOAT."));

  void check(Checker& c) const {
    TensorType t = c.in();
    require(!dtype || *dtype == t.dtype || *dtype == DType::kFloat32, "argument 'dtype' is ",
            name_of(dtype.value_or(t.dtype)), ", expected ", name_of(t.dtype), " or float32");
    const bool has_scale = c.is_computed("scale") || scale.size() != 1 || scale[0] != 1;
    require(!normalized_kernel || !has_scale,
            "arguments 'normalized_kernel' and 'scale' do not go together");
    const bool computed =
        c.is_computed("window_size") || c.is_computed("smoothing_size") || c.is_computed("scale");
    if (!computed) (void)kernel(t.layout);
    t.dtype = dtype.value_or(t.dtype);
    c.out(t);
  }
  void infer(Inference& i) const {
    TensorType t = i.inputs[0];
    (void)kernel(t.layout);
    t.dtype = dtype.value_or(t.dtype);
    i.out(t);
  }
  void demand(Demand& d) const {
    const TensorType& in = d.inputs[0];
    d.needed[0] = window_demand(d.wanted[0], in.shape, kernel(in.layout).axes, kBorder);
  }
  void run_cpu(Run& r) const {
    const Kernel k = kernel(r.outputs[0].layout);
    correlate(r.inputs[0], r.outputs[0], k.axes, k.weights, kBorder, 0, r.scratch);
  }
  static void run_gpu(GpuRun& r, std::span<const Laplacian* const> items) {
    const auto kernel = [&](size_t i) { return items[i]->kernel(r.items[i].outputs[0].layout); };
    const auto axes = [&](size_t i) { return kernel(i).axes; };
    const auto weights = [&](size_t i) {
      const std::vector<float> all = kernel(i).weights;
      const float* from = r.put(std::span<const float>(all));
      return DeviceWeights{reinterpret_cast<const std::byte*>(from),
                           Axes({std::ssize(all)}, {int64_t{sizeof(float)}})};
    };
    correlate(r, axes, weights, kBorder);
  }

  static std::vector<Case> cases() {
    return {
        {"",
         {"int16 HW [[0, 0, 0], [0, 1, 0], [0, 0, 0]]"},
         {"int16 [[8, 0, 8], [0, -8, 0], [8, 0, 8]]"}},
        {"smoothing_size=1, scale=[10.0, 1.0], dtype=types.FLOAT",
         {"uint8 HWC [[[1], [5], [2]], [[1], [5], [2]]]"},
         {"float32 [[[8], [-7], [6]], [[8], [-7], [6]]]"}},
        {"window_size=[3, 5], smoothing_size=1",
         {"float32 CHW [[[0, 0, 1, 0, 0, 0], [0, 0, 0, 0, 0, 0]]]"},
         {"float32 [[[2, 0, -4, 0, 1, 0], [0, 0, 2, 0, 0, 0]]]"}},
        {"normalized_kernel=True",
         {"float32 DHW [[[1, 1], [1, 1]], [[2, 2], [2, 2]]]"},
         {"float32 [[[2, 2], [2, 2]], [[-2, -2], [-2, -2]]]"}},
    };
  }

 private:
  static constexpr Border kBorder = Border::kReflect101;

  struct Kernel {
    std::vector<WindowAxis> axes;
    std::vector<float> weights;
  };

  // The coefficients of (1 + x)^(size - 1) or, for a derivative, of (1 + x)^(size - 3) (1 - x)^2.
  static std::vector<double> window(int size, bool is_derivative) {
    std::vector<double> w = {1};
    for (int i = 1; i < size; ++i) {
      const double next = is_derivative && i <= 2 ? -1 : 1;
      w.push_back(0);
      for (size_t k = w.size(); --k > 0;) w[k] += next * w[k - 1];
    }
    return w;
  }
  // The sizes of the windows of the derivative along axis i. Throws WrongCall.
  std::vector<int> sizes(size_t i, size_t rank) const {
    std::vector<int> all;
    for (size_t j = 0; j < rank; ++j) {
      const bool smoothes = i != j && !smoothing_size.empty();
      all.push_back(smoothes ? smoothing_size.at_or_only(j) : window_size.at_or_only(i));
      require(all.back() % 2 == 1, "argument '", smoothes ? "smoothing_size" : "window_size",
              "' is ", all.back(), ", expected odd numbers");
    }
    return all;
  }
  // One window that sums up all derivatives. Throws WrongCall.
  Kernel kernel(const Layout& layout) const {
    Kernel k;
    for (const char letter : {'D', 'H', 'W'})
      if (const int axis = layout.find(letter); axis >= 0) k.axes.push_back({axis, 1, 0});
    const size_t rank = k.axes.size();
    const auto n = static_cast<int64_t>(rank);
    require_count("argument 'window_size'", window_size.size(), {1, n}, "one per axis");
    require_count("argument 'scale'", scale.size(), {1, n}, "one per axis");
    if (!smoothing_size.empty())
      require_count("argument 'smoothing_size'", smoothing_size.size(), {1, n}, "one per axis");
    for (size_t i = 0; i < rank; ++i)
      for (size_t j = 0; j < rank; ++j)
        k.axes[j].size = std::max<int64_t>(k.axes[j].size, sizes(i, rank)[j]);
    int64_t count = 1;
    for (WindowAxis& a : k.axes) a.anchor = a.size / 2, count *= a.size;
    std::vector<double> sums(static_cast<size_t>(count));
    for (size_t i = 0; i < rank; ++i) add_derivative(i, k.axes, sums);
    k.weights.assign(sums.begin(), sums.end());
    return k;
  }
  void add_derivative(size_t i, std::span<const WindowAxis> axes, std::vector<double>& sums) const {
    const std::vector<int> size = sizes(i, axes.size());
    std::vector<std::vector<double>> windows;
    double factor = static_cast<double>(scale.at_or_only(i));
    if (normalized_kernel) factor = 4;
    for (size_t j = 0; j < axes.size(); ++j) {
      windows.push_back(window(size[j], i == j));
      if (normalized_kernel) factor /= static_cast<double>(1 << (size[j] - 1));
    }
    for (size_t k = 0; k < sums.size(); ++k) {
      double weight = factor;
      for (size_t j = axes.size(), rest = k; j-- > 0; rest /= static_cast<size_t>(axes[j].size)) {
        const auto length = static_cast<size_t>(axes[j].size);
        const size_t at = rest % length - (length - windows[j].size()) / 2;
        weight *= at < windows[j].size() ? windows[j][at] : 0;  // `at` may have wrapped
      }
      sums[k] += weight;
    }
  }
};

}  // namespace stoker::ops::augment

STOKER_OPERATOR(stoker::ops::augment::Laplacian)
