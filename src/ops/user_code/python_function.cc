// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/arguments/returned_types.h"

namespace stoker::ops::user_code {

struct PythonFunction : ReturnedTypes {
  static constexpr bool kUserCode = true;
  static constexpr const char* kSkip = "calls a function of the user's; tests/user_code tests it";
  static constexpr auto schema = describe(
      "python_function",
      "Calls a function with NumPy arrays.\n\n"
      "Without batch_processing, the function gets one sample of each input and returns "
      "one of each output. With it, it gets and returns lists of samples. Inputs cannot be "
      "written into, and are to be copied if they are kept. Numbers count as arrays "
      "without axes. The function depends on its inputs only, and may be called again for "
      "a batch that is made again.",
      ports(
          {.name = "inputs", .help = "Any tensor: an argument of the function.", .repeats = true}),
      ports({.name = "output", .help = "What the function returned.", .for_each = "num_outputs"}),
      kReturnedTypes);
};

}  // namespace stoker::ops::user_code

STOKER_OPERATOR(stoker::ops::user_code::PythonFunction)
