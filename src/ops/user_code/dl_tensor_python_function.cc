// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/arguments/returned_types.h"

namespace stoker::ops::user_code {

struct DlTensorPythonFunction : ReturnedTypes {
  static constexpr bool kUserCode = true;
  static constexpr std::array kIgnored = {"synchronize_stream"};
  static constexpr const char* kSkip = "calls a function of the user's; tests/user_code tests it";
  static constexpr auto schema = describe(
      "dl_tensor_python_function",
      "Calls a function with DLPack capsules.\n\n"
      "Without batch_processing, the function gets one capsule for each input and returns "
      "one capsule, or anything with `__dlpack__`, for each output. With it, it gets and "
      "returns lists of them. The capsules are of copies in host memory. The function "
      "depends on its inputs only, and may be called again for a batch that is made again.",
      ports(
          {.name = "inputs", .help = "Any tensor: an argument of the function.", .repeats = true}),
      ports({.name = "output", .help = "What the function returned.", .for_each = "num_outputs"}),
      kReturnedTypes);
};

}  // namespace stoker::ops::user_code

STOKER_OPERATOR(stoker::ops::user_code::DlTensorPythonFunction)
