// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/arithmetic/evaluate.h"
#include "op/arithmetic/gpu_evaluate.cuh"
#include "op/type_of.h"

namespace stoker::ops::values {

struct Arithmetic {
  std::string expression;
  std::shared_ptr<const Expression> made;

  static constexpr Classes kClasses = Classes::kRead;
  static constexpr auto schema = describe(
      "arithmetic",
      "Computes an expression of its inputs, element by element.\n\n"
      "The operators on nodes and the functions of stoker.math become calls of it. The inputs are "
      "x0, x1 and so on; each operation stands in parentheses, as in \"((x0 - x1) * 2.5)\". "
      "Shapes are aligned at their last axes, and an extent of 1 is repeated, as in NumPy. The "
      "result has the layout of the inputs with all of its axes. docs/guide/arithmetic.md lists "
      "the operations, and says which dtype comes of which. Where a whole number is divided by 0, "
      "the sample is bad; on a GPU the quotient is 0.",
      ports({.name = "inputs", .help = "Any tensors.", .repeats = true}),
      ports({.name = "output", .help = "The results."}),
      arg(&Arithmetic::expression, "expression", "What is computed.", kRequired));

  void check(Checker& c) const {
    const Expression e = Expression::read(expression);
    require(e.input_count() == c.inputs.size(), "argument 'expression' has inputs up to x",
            static_cast<int64_t>(e.input_count()) - 1, ", the operator has ", c.inputs.size(),
            c.inputs.size() == 1 ? " input" : " inputs");
    c.out(type(e, c.inputs));
  }
  void prepare() { made = std::make_shared<const Expression>(Expression::read(expression)); }
  void infer(Inference& i) const { i.out(type(*made, i.inputs)); }
  void demand(Demand& d) const {
    for (size_t i = 0; i < d.inputs.size(); ++i)
      d.needed[i] = part_for(d.wanted[0], d.inputs[i].shape);
  }

  bool lowers(std::span<const TensorType> inputs) const {
    std::vector<LinearStep> steps;
    return is_linear(*made, inputs[0].dtype, steps);
  }
  void lower(Lowering& l) const {
    std::vector<LinearStep> steps;
    is_linear(*made, l.type().dtype, steps);
    add_blocks(steps, l);
  }

  void run_cpu(Run& r) const {
    const Window* judged = r.judged.empty() ? nullptr : &r.judged[0];
    evaluate(compile(*made, types_of(r.inputs)), r.inputs, r.outputs[0], r.scratch, judged);
  }
  static void run_gpu(GpuRun& r, std::span<const Arithmetic* const> items) {
    evaluate(r, compile(*items[0]->made, types_of(r.items[0].inputs)));
  }

  static std::vector<Case> cases() {
    return {
        {"expression=\"((x0 - x1) * 2)\"", {"int32 [5, 7]", "int32 3"}, {"int32 [4, 8]"}},
        {"expression=\"(x0 + x1)\"", {"uint8 [250, 1]", "uint8 [10, 1]"}, {"uint8 [4, 2]"}},
        {"expression=\"((x0 / 255) - 0.5)\"",
         {"uint8 HW [[0, 51, 255]]"},
         {"float32 [[-0.5, -0.3, 0.5]]"}},
        {"expression=\"(x0 > 2)\"", {"float32 [1.5, 2.5]"}, {"bool [False, True]"}},
        {"expression=\"where((x0 < x1), x0, (-x1))\"",
         {"int16 [[1], [5]]", "int16 [2, 3]"},
         {"int16 [[1, 1], [-2, -3]]"}},
        {"expression=\"sqrt(x0)\"", {"int64 [4, 9]"}, {"float32 [2.0, 3.0]"}},
    };
  }

 private:
  template <class Typed>
  static std::vector<DType> types_of(const Typed& inputs) {
    std::vector<DType> types;
    for (const auto& in : inputs) types.push_back(in.dtype);
    return types;
  }
  static TensorType type(const Expression& e, std::span<const TensorType> inputs) {
    TensorType t = broadcast(inputs);
    t.dtype = compile(e, types_of(inputs)).dtype;
    return t;
  }
};

}  // namespace stoker::ops::values

STOKER_OPERATOR(stoker::ops::values::Arithmetic)
