// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What operators share that give one number for all elements.
#pragma once
#include "op/arguments/shape_argument.h"
#include "op/arithmetic/evaluate.h"
#include "op/arithmetic/gpu_evaluate.cuh"
#include "op/type_of.h"

namespace stoker {

// Throws WrongCall unless the layout is empty or has a letter for each axis of the shape, if known.
inline Shape laid_out(const Shape& shape, const Layout& layout) {
  require(layout.empty() || shape.rank < 0 || layout.rank() == shape.rank, "argument 'layout' is ",
          layout, ", the shape is ", shape);
  return shape;
}

// All of an operator without inputs, Op.
template <class Op, int kNumber>
struct Filled {
  std::optional<Small<int64_t>> shape;
  DType dtype = DType::kInt32;
  Layout layout;

  static constexpr auto arguments() {
    return std::tuple(
        arg(&Filled::shape, "shape", "Shape; default: a scalar.", at_least(0), kPerSample),
        arg(&Filled::dtype, "dtype", "Dtype of the output."),
        arg(&Filled::layout, "layout", "Layout of the output, one letter per axis."));
  }
  void check(Checker& c) const { c.out({dtype, layout, laid_out(shape_asked(shape, c), layout)}); }
  void infer(Inference& i) const {
    i.out({dtype, layout, laid_out(shape_asked(shape, i), layout)});
  }
  void run_cpu(Run& r) const { evaluate(number(kNumber, dtype), {}, r.outputs[0], r.scratch); }
  static void run_gpu(GpuRun& r, std::span<const Op* const>) {
    evaluate(r, number(kNumber, r.items[0].outputs[0].dtype));
  }

 private:
  friend Op;
  Filled() = default;
};

// All of an operator, Op, whose output has the shape of its input.
template <class Op, int kNumber>
struct FilledLike {
  static constexpr Classes kClasses = Classes::kRead;
  std::optional<DType> dtype;

  static constexpr auto arguments() {
    return arg(&FilledLike::dtype, "dtype", "Dtype of the output; default: that of the input.");
  }
  TensorType like(TensorType t) const {
    t.dtype = dtype.value_or(t.dtype);
    return t;
  }
  void check(Checker& c) const { c.out(like(c.in())); }
  void infer(Inference& i) const { i.out(like(i.inputs[0])); }
  void demand(Demand& d) const { d.needed[0].end = d.needed[0].begin; }
  void run_cpu(Run& r) const {
    const View& out = r.outputs[0];
    evaluate(number(kNumber, out.dtype), {}, out, r.scratch);
  }
  static void run_gpu(GpuRun& r, std::span<const Op* const>) {
    evaluate(r, number(kNumber, r.items[0].outputs[0].dtype));
  }

 private:
  friend Op;
  FilledLike() = default;
};

}  // namespace stoker
