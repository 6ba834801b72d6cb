// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "op/context.h"
#include "op/value.h"

namespace stoker {

// For an operator without data: the argument, else the shape of the first input, else a scalar.
// Throws WrongCall when an extent is negative or there are too many axes or elements.
Shape shape_asked(const std::optional<Small<int64_t>>& argument, const Inference& i);
// The same when the graph is built; -1 where it is not known.
Shape shape_asked(const std::optional<Small<int64_t>>& argument, const Checker& c);

}  // namespace stoker
