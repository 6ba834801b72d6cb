// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The argument `shape` of random operators and constants.
#pragma once
#include <optional>

#include "op/context.h"
#include "op/value.h"

namespace stoker {

// The shape that an operator without data takes: the argument, else that of the first input, else a
// scalar. Throws WrongCall when an extent is negative or there are too many axes or elements.
Shape shape_asked(const std::optional<Small<int64_t>>& argument, const Inference& i);
// The shape when the graph is built, -1 where it is not known.
Shape shape_asked(const std::optional<Small<int64_t>>& argument, const Checker& c);

}  // namespace stoker
