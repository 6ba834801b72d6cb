// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Arguments that say what a function of the user's returns.
#pragma once
#include <string>
#include <vector>

#include "op/type_of.h"

namespace stoker {

struct ReturnedTypes {
  static constexpr Classes kClasses = Classes::kRead;
  int num_outputs = 1;
  std::vector<std::string> dtype = {}, output_layouts = {};
  std::vector<int> ndim = {};

  void check(Checker& c) const {
    for (int k = 0; k < num_outputs; ++k) {
      const Layout layout = layout_of(k);
      require(!dtype.empty() && (!ndim.empty() || !layout.empty()),
              "its types are not known: declare dtype and ndim (or output_layouts)");
      const std::string& name = entry("dtype", dtype, k);
      require(dtype_named(name) != DType::kNone,
              "argument 'dtype' expects dtypes such as types.FLOAT or 'float32', got '", name, "'");
      const int rank = ndim.empty() ? layout.rank() : entry("ndim", ndim, k);
      require(rank >= 0 && rank <= kMaxRank, "argument 'ndim' expects numbers from 0 to ", kMaxRank,
              ", got ", rank);
      require(layout.empty() || layout.rank() == rank, "the layout of output ", k, " is ", layout,
              ", its ndim is ", rank);
      c.out({dtype_named(name), layout, Shape::filled(rank, -1)});
    }
  }

 private:
  // The entry for output k. A list of one entry is for all outputs.
  template <class T>
  const T& entry(const char* argument, const std::vector<T>& list, int k) const {
    require(list.size() == 1 || list.size() == static_cast<size_t>(num_outputs), "argument '",
            argument, "' has ", list.size(), " entries for ", num_outputs, " outputs");
    return list[list.size() == 1 ? 0 : k];
  }
  Layout layout_of(int k) const {
    require(output_layouts.size() <= static_cast<size_t>(num_outputs),
            "argument 'output_layouts' has ", output_layouts.size(), " entries for ", num_outputs,
            " outputs");
    if (static_cast<size_t>(k) >= output_layouts.size()) return {};
    require(output_layouts[k].size() <= kMaxRank,
            "argument 'output_layouts' expects layouts of at "
            "most 6 axes, got '",
            output_layouts[k], "'");
    return Layout(output_layouts[k]);
  }
};

inline constexpr auto kReturnedTypes = std::make_tuple(
    arg(&ReturnedTypes::num_outputs, "num_outputs",
        "How many outputs the function returns, as a tuple if there are several. Of NumPy's, "
        "DLPack's and PyTorch's functions also 0: it is called for what it does.",
        between(1, static_cast<int>(kMostOutputs))),
    arg(&ReturnedTypes::output_layouts, "output_layouts",
        "The layout of each output, or of the first ones."),
    arg(&ReturnedTypes::dtype, "dtype",
        "Dtype of the outputs, one for all or one for each; default: as in the first batch."),
    arg(&ReturnedTypes::ndim, "ndim",
        "Number of axes of the outputs' samples, likewise; default: that of their layouts, or as "
        "in the first batch."));

}  // namespace stoker
