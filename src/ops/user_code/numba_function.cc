// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/type_of.h"

namespace stoker::ops::user_code {

struct NumbaFunction {
  std::vector<std::string> out_types = {}, in_types = {};
  std::vector<int> outs_ndim = {}, ins_ndim = {};

  static constexpr Classes kClasses = Classes::kRead;
  static constexpr bool kUserCode = true;
  static constexpr std::array kIgnored = {"blocks", "threads_per_block"};
  static constexpr const char* kSkip = "calls a function of the user's; tests/user_code tests it";
  static constexpr auto schema = describe(
      "numba_function",
      "Calls a function that Numba compiles.\n\n"
      "run_fn gets an array for each output, which it fills, and then one for each input; it "
      "returns nothing. With batch_processing these are lists of arrays, one for each sample. "
      "setup_fn says which shapes the outputs have: it gets a list of arrays for the outputs and "
      "one for the inputs, each of which has a row with the extents of each sample, and fills "
      "those of the outputs. Without it, output k has the shape of input k. Both are compiled for "
      "the CPU, and run without Python's lock. They depend on their inputs only, and may be called "
      "again for a batch that is made again.",
      ports({.name = "inputs", .help = "Tensors of the dtypes in_types.", .repeats = true}),
      ports({.name = "output", .help = "What run_fn wrote.", .for_each = "outs_ndim"}),
      arg(&NumbaFunction::out_types, "out_types", "The dtype of each output.", kRequired),
      arg(&NumbaFunction::in_types, "in_types", "The dtype of each input.", kRequired),
      arg(&NumbaFunction::outs_ndim, "outs_ndim", "The number of axes of each output.", kRequired),
      arg(&NumbaFunction::ins_ndim, "ins_ndim", "The number of axes of each input.", kRequired));

  void check(Checker& c) const {
    const auto inputs = c.inputs.size();
    require(in_types.size() == inputs && ins_ndim.size() == inputs, "in_types has ",
            in_types.size(), " and ins_ndim ", ins_ndim.size(), " entries for ", inputs, " inputs");
    require(out_types.size() == outs_ndim.size(), "out_types has ", out_types.size(),
            " entries, outs_ndim ", outs_ndim.size());
    for (size_t i = 0; i < inputs; ++i) {
      const TensorType& t = c.in(i);
      require(t.dtype == dtype(in_types[i]) && t.shape.rank == ins_ndim[i], "input ", i,
              " expects ", in_types[i], " with ", ins_ndim[i], " axes, got ", t.str());
    }
    for (size_t k = 0; k < out_types.size(); ++k) {
      require(outs_ndim[k] >= 0 && outs_ndim[k] <= kMaxRank,
              "argument 'outs_ndim' expects numbers from 0 to ", kMaxRank, ", got ", outs_ndim[k]);
      c.out({dtype(out_types[k]), {}, Shape::filled(outs_ndim[k], -1)});
    }
  }

 private:
  static DType dtype(const std::string& name) {
    const DType t = dtype_named(name);
    require(t != DType::kNone, "expects dtypes such as types.FLOAT or 'float32', got '", name, "'");
    return t;
  }
};

}  // namespace stoker::ops::user_code

STOKER_OPERATOR(stoker::ops::user_code::NumbaFunction)
