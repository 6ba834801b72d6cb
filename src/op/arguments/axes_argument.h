// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The arguments `axes` and `axis_names` of operators without blocks.
#pragma once
#include <optional>

#include "op/context.h"
#include "op/value.h"

namespace stoker {

// The axes by letter of the layout where `names` is given, else by number, where negative ones
// count from the end. Throws WrongCall where an axis is missing or named twice. Requires: the rank
// of `in` is known.
Small<int> axes_asked(const Small<int>& numbers, const std::optional<Layout>& names,
                      const TensorType& in);

// Throws WrongCall where axes are given by number and by letter.
void require_one_kind(bool has_numbers, bool has_letters);

}  // namespace stoker
