// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/elements/map.h"
#include "op/arguments/shape_argument.h"
#include "op/loops/gpu_each.cuh"
#include "op/type_of.h"

namespace stoker::ops::make {

struct Constant {
  // One value for each element, or one for all.
  struct Put {
    const std::byte* elements;
    int64_t count;
    int size;
    std::byte* to;
    int64_t pieces;

    STOKER_HD void run(int64_t k) const {
      const std::byte* from = elements + (count == 1 ? 0 : k * size);
      for (int b = 0; b < size; ++b) to[k * size + b] = from[b];
    }
  };

  std::optional<Small<float>> fdata;
  std::optional<Small<int64_t>> idata;
  std::optional<Small<int64_t>> shape;
  std::optional<DType> dtype;
  Layout layout;
  std::shared_ptr<const std::vector<std::byte>> elements;  // the values, in the output's dtype

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

  void prepare() {
    std::vector<std::byte> bytes(static_cast<size_t>(count() * size_of(type({}).dtype)));
    if (fdata) convert_row(fdata->data(), DType::kFloat32, bytes.data(), type({}).dtype, count());
    else if (idata)
      convert_row(idata->data(), DType::kInt64, bytes.data(), type({}).dtype, count());
    elements = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  }

  std::optional<bool> truth() const {
    if (count() != 1) return {};
    bool x = false;
    from_tensor(View::dense(const_cast<std::byte*>(elements->data()), type({}).dtype, {}), x);
    return x;
  }
  void run_cpu(Run& r) const {
    const View& out = r.outputs[0];
    const View all =
        View::dense(const_cast<std::byte*>(elements->data()), out.dtype, out.full, out.layout);
    with_size(size_of(out.dtype), [&]<class T>(T) {
      if (count() == 1) map<T>(out, [value = *all.as<const T>()] { return value; });
      else map<T, T>(out, [](T element) { return element; }, all);
    });
  }

  static void run_gpu(GpuRun& r, std::span<const Constant* const> items) {
    const Constant& c = *items[0];  // all are equal, as nothing is computed per sample
    const std::byte* elements = r.put(std::span<const std::byte>(*c.elements));
    std::vector<Put> puts;
    for (const BatchItem& item : r.items) {
      const View& out = item.outputs[0];
      puts.push_back(
          {elements, c.count(), size_of(out.dtype), out.as<std::byte>(), out.shape.volume()});
    }
    run_each(r, std::span<const Put>(puts));
  }

  static std::vector<Case> cases() {
    return {
        {"fdata=[0.5, 1.5]", {}, {"float32 [0.5, 1.5]"}},
        {"idata=[7], shape=[]", {}, {"int32 7"}},
        {"idata=[1, 2, 300], shape=[1, 3], layout=\"HW\", dtype=types.UINT8",
         {},
         {"uint8 [[1, 2, 255]]"}},
        {"fdata=[2.5], shape=[2, 2], dtype=types.INT16", {}, {"int16 [[3, 3], [3, 3]]"}},
    };
  }

 private:
  int64_t count() const { return static_cast<int64_t>(fdata ? fdata->size() : idata->size()); }

  TensorType type(Shape asked) const {
    if (!shape) asked = {count()};
    return {dtype.value_or(fdata ? DType::kFloat32 : DType::kInt32), layout, asked};
  }
};

}  // namespace stoker::ops::make

STOKER_OPERATOR(stoker::ops::make::Constant)
