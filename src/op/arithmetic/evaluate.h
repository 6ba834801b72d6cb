// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/view.h"
#include "memory/arena.h"
#include "op/arithmetic/expression.h"

namespace stoker {

// Sets each element of `out`, on the CPU, to the result for the inputs' elements at the same place,
// as broadcast() pairs them. The inputs cover what part_for() says. Throws SampleError where a
// whole number is divided by 0 in the window `judged` of the result (null: anywhere).
void evaluate(const Compiled& e, std::span<const View> inputs, const View& out, Arena& scratch,
              const Window* judged = nullptr);

}  // namespace stoker
