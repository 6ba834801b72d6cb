// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "op/operator_type.h"

namespace stoker {

// The outputs that a node has with these arguments, and with input i if has_input(i).
template <class HasInput>
std::vector<std::string> output_names(const OperatorType& type, Arguments given,
                                      const HasInput& has_input) {
  for (size_t i = 0; i < type.inputs.size(); ++i)
    if (type.inputs[i].is_optional) given[type.inputs[i].name] = bool{has_input(i)};
  return type.output_names(given);
}

// The type with a condition for output k that its schema cannot state: the name of an optional
// input, or "argument!=text" of an enumeration.
inline OperatorType with_output_when(OperatorType type, size_t k, const char* when) {
  type.outputs[k].when = when;
  return type;
}

}  // namespace stoker
