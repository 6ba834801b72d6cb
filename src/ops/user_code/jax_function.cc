// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/arguments/returned_types.h"

namespace stoker::ops::user_code {

struct JaxFunction : ReturnedTypes {
  static constexpr bool kUserCode = true;
  static constexpr const char* kSkip = "calls a function of the user's; tests/user_code tests it";
  static constexpr auto schema = describe(
      "jax_function",
      "Calls a function with JAX arrays that hold whole batches.\n\n"
      "The samples of an input are one array, with the batch as its first axis, so they "
      "must have one shape; so are those of an output. The arrays are on the CPU. The "
      "function depends on its inputs only, and may be called again for a batch that is "
      "made again. Without output_layouts, an output has the layout of the input at the same "
      "place, if that has as many axes.",
      ports({.name = "inputs",
             .help = "A tensor of the same shape in all samples.",
             .repeats = true}),
      ports({.name = "output", .help = "What the function returned.", .for_each = "num_outputs"}),
      kReturnedTypes);

  // Without output_layouts, an output has the layout of the input at its place, if the ranks are
  // equal.
  void check(Checker& c) const {
    ReturnedTypes::check(c);
    if (!output_layouts.empty()) return;
    for (size_t k = 0; k < std::min(c.inputs.size(), c.outputs.size()); ++k)
      if (c.inputs[k].layout.rank() == c.outputs[k].shape.rank)
        c.outputs[k].layout = c.inputs[k].layout;
  }
};

}  // namespace stoker::ops::user_code

STOKER_OPERATOR(stoker::ops::user_code::JaxFunction)
