// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The operations of operations.h on rows of values on the CPU.
#pragma once
#include "kernels/elements/operations.h"

namespace stoker {

// Sets out[i] to the result of the operation on a[i], b[i] and c[i] for all i in [0, n). Where it
// takes fewer operands, the others are not read. The results do not overlap the operands, which are
// dense.
using OperationRow = void (*)(const void* a, const void* b, const void* c, void* out, int64_t n);

// Null where there is no such operation on values of type `t`, which is neither bool nor float16.
OperationRow operation_row(Operation o, DType t);

// Whether one of n whole numbers of type `t` is 0.
bool has_zero(const void* values, DType t, int64_t n);

}  // namespace stoker
