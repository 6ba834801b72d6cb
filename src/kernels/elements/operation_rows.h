// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The operations of operations.h on rows of values on the CPU.
#pragma once
#include "kernels/elements/operations.h"

namespace stoker {

// Sets out[i] to the result of the operation on a[i], b[i] and c[i] for all i in [0, n). Operands
// beyond those that it takes are not read. All are dense, and `out` overlaps none.
using OperationRow = void (*)(const void* a, const void* b, const void* c, void* out, int64_t n);

// Null where there is no such operation on values of type `t`, which is neither bool nor float16.
OperationRow operation_row(Operation o, DType t);

bool has_zero(const void* values, DType t, int64_t n);

}  // namespace stoker
