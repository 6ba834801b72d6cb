// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/elements/boxes.h"
#include "op/arguments/filter_arguments.h"
#include "op/loops/gpu_window.cuh"
#include "op/type_of.h"

namespace stoker::ops::blur_and_noise {

struct Filter : FilterWindowArguments {
  std::optional<DType> dtype;

  static constexpr auto schema = describe(
      "filter",
      "Makes each value the sum of those around it, each times its weight in a filter.\n\n"
      "The filter is not mirrored, so this is a correlation. It has as many axes as the input has "
      "in space: two for images and three for volumes. Channels do not mix. An element with the "
      "weight 0 takes no part.",
      ports(
          {.name = "data", .help = kSpatialInput, .unfolds = true},
          {.name = "filter",
           .help = "The weights. A leading F in the layout gives each frame its own.",
           .dtypes = "float32",
           .unfolds = true},
          {.name = "fill_value",
           .help = "The number beyond the edge under border='constant', or F of them; default: 0.",
           .is_optional = true,
           .unfolds = true}),
      ports({.name = "output", .help = "The filtered input."}), kFilterWindowArguments,
      arg(&Filter::dtype, "dtype", "Output dtype: the input's, which is the default, or FLOAT."));

  void check(Checker& c) const {
    TensorType t = c.in();
    require(!dtype || *dtype == t.dtype || *dtype == DType::kFloat32, "argument 'dtype' is ",
            name_of(dtype.value_or(t.dtype)), ", expected ", name_of(t.dtype), " or float32");
    if (t.shape.rank >= 0)
      for (const int a : spatial_axes(t))
        if (mode == FilterExtent::kValid) t.shape[a] = -1;
    t.dtype = dtype.value_or(t.dtype);
    c.out(t);
  }
  void infer(Inference& i) const {
    TensorType t = i.inputs[0];
    t.shape = filtered(t, i.inputs[1].shape);
    t.dtype = dtype.value_or(t.dtype);
    if (i.has(2))
      require(i.inputs[2].shape.volume() == 1, "the input 'fill_value' has the shape ",
              i.inputs[2].shape, ", expected one number");
    i.out(t);
  }
  void demand(Demand& d) const {
    const TensorType& in = d.inputs[0];
    d.needed[0] = window_demand(d.wanted[0], in.shape, axes(in, d.inputs[1].shape), border);
  }
  void run_cpu(Run& r) const {
    const View &out = r.outputs[0], filter = with_dense_rows(r.inputs[1], 0, r.scratch);
    const double fill = r.has(2) ? element(r.inputs[2], 0) : 0;
    correlate(r.inputs[0], out, axes(out.whole(), filter.full),
              {filter.as<float>(), static_cast<size_t>(filter.full.volume())}, border, fill,
              r.scratch);
  }
  static void run_gpu(GpuRun& r, std::span<const Filter* const> items) {
    const auto axes = [&](size_t i) {
      const BatchItem& item = r.items[i];
      return items[i]->axes(item.outputs[0].whole(), item.inputs[1].full);
    };
    const auto weights = [&](size_t i) {
      const View& filter = r.items[i].inputs[1];
      return DeviceWeights{filter.as<std::byte>(), Axes(filter.full, filter.strides)};
    };
    correlate(r, axes, weights, items[0]->border);
  }

  static std::vector<Case> cases() {
    return {
        {"",
         {"uint8 HW [[1, 2, 3], [4, 5, 6]]", "float32 [[0, 1, 0], [0, 0, 2]]"},
         {"uint8 [[8, 11, 10], [11, 14, 13]]"}},
        {"border=\"constant\", dtype=types.FLOAT",
         {"int16 HWC [[[1], [2], [3]]]", "float32 [[0.5, 0, 1]]", "float32 10"},
         {"float32 [[[7], [3.5], [11]]]"}},
        {"mode=\"valid\"",
         {"float32 CHW [[[1, 2, 4], [7, 0, 1]]]", "float32 [[1, -1]]"},
         {"float32 [[[-1, -2], [7, -1]]]"}},
        {"anchor=[0, 0, 1], border=\"clamp\"",
         {"uint8 DHW [[[1, 2]], [[3, 4]]]", "float32 [[[1, 0]], [[0, 1]]]"},
         {"uint8 [[[4, 5]], [[6, 7]]]"}},
        {"border=\"clamp\"", {"int16 [1, 2, 4]", "float32 [1, 0, -1]"}, {"int16 [-1, -3, -2]"}},
    };
  }
};

}  // namespace stoker::ops::blur_and_noise

STOKER_OPERATOR(stoker::ops::blur_and_noise::Filter)
