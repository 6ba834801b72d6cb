// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/loops/elements.h"
#include "op/loops/gpu_each.cuh"
#include "op/op.h"

namespace stoker::ops::read {

struct Constant {
  // There is one value for each element, or one for all.
  struct Element {
    const double* values;
    int64_t count;

    STOKER_HD double operator()(int64_t k) const { return values[count == 1 ? 0 : k]; }
  };

  std::optional<Small<float>> fdata;
  std::optional<Small<int64_t>> idata;
  std::optional<Small<int64_t>> shape;
  std::optional<DType> dtype;
  Layout layout;

  static constexpr auto schema = describe(
      "constant",
      "Gives the same tensor for every sample.\n\n"
      "The values are given as floats or as integers, with the last axis running fastest; one "
      "value fills the whole shape.",
      ports(), ports({.name = "output", .help = "The tensor."}),
      arg(&Constant::fdata, "fdata", "The values as floats. Excludes idata."),
      arg(&Constant::idata, "idata", "The values as integers. Excludes fdata."),
      arg(&Constant::shape, "shape",
          "Shape; [] is a scalar. Default: one axis that holds all values.", at_least(0)),
      arg(&Constant::dtype, "dtype",
          "Dtype; default: FLOAT for fdata, INT32 for idata. Values are rounded and saturate."),
      arg(&Constant::layout, "layout", "Layout of the output, one letter per axis."));

  void check(Checker& c) const {
    require(fdata.has_value() != idata.has_value(),
            "the values are given either as 'fdata' or as 'idata'");
    const TensorType t = type(shape_asked(shape, c));
    require(layout.empty() || layout.rank() == t.shape.rank, "argument 'layout' is ", layout,
            ", the shape is ", t.shape);
    require_count(fdata ? "argument 'fdata'" : "argument 'idata'", static_cast<size_t>(count()),
                  {1, t.shape.volume()}, "one per element of the shape ", t.shape);
    c.out(t);
  }

  void infer(Inference& i) const { i.out(type(shape_asked(shape, i))); }

  void run_cpu(Run& r) const {
    set_elements(r.outputs[0], [&](int64_t k) { return value(static_cast<size_t>(k)); });
  }

  static void run_gpu(GpuRun& r, std::span<const Constant* const> items) {
    const Constant& c = *items[0];  // all are equal, as nothing is computed per sample
    std::vector<double> list;
    for (size_t i = 0; i < static_cast<size_t>(c.count()); ++i) list.push_back(c.value(i));
    const Element all{r.put(std::span<const double>(list)), c.count()};
    set_elements(r, [&](size_t) { return all; });
  }

  static std::vector<Case> cases() {
    return {
        {"fdata=[0.5, 1.5]", {}, {"float32 [0.5, 1.5]"}},
        {"idata=[7], shape=[]", {}, {"int32 7"}},
        {"idata=[1, 2, 300], shape=[1, 3], layout=\"HW\", dtype=types.UINT8",
         {},
         {"uint8 [[1, 2, 255]]"}},
        {"fdata=[2.5], shape=[2, 2], dtype=types.INT16", {}, {"int16 [[2, 2], [2, 2]]"}},
    };
  }

 private:
  double value(size_t i) const {
    return fdata ? static_cast<double>(fdata->at_or_only(i))
                 : static_cast<double>(idata->at_or_only(i));
  }

  int64_t count() const { return static_cast<int64_t>(fdata ? fdata->size() : idata->size()); }

  TensorType type(Shape asked) const {
    if (!shape) asked = {count()};
    return {dtype.value_or(fdata ? DType::kFloat32 : DType::kInt32), layout, asked};
  }
};

}  // namespace stoker::ops::read

STOKER_OPERATOR(stoker::ops::read::Constant)
