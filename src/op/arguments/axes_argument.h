// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "op/context.h"
#include "op/value.h"

namespace stoker {

// For operators without blocks: the axes by letter of the layout if `names` is given, else by
// number, where negative ones count from the end. Throws WrongCall where an axis is missing or
// named twice. Requires: the rank of `in` is known.
Small<int> axes_asked(const Small<int>& numbers, const std::optional<Layout>& names,
                      const TensorType& in);

// Throws WrongCall where axes are given by number and by letter.
void require_one_kind(bool has_numbers, bool has_letters);

}  // namespace stoker
