// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What stands for a function of the user's in a trial.
#pragma once
#include "graph/graph.h"

namespace stoker::torture {

// Whether torture has a function for nodes of this type, which is user code.
bool has_function(const OperatorType& type);

// What the function returns, or that it fails, follows from the values of all its inputs.
std::shared_ptr<UserFunction> function_for(const Node& node);

}  // namespace stoker::torture
