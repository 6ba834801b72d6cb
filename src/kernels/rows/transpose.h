// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Transposes values. All targets give the same bytes.
#pragma once
#include <cstddef>
#include <cstdint>

namespace stoker::rows {

// Value k of output row i is value i of input row k. In a row, values of `size` bytes are
// neighbours; strides are the bytes from one row to the next. Requires: no overlap.
void transpose(const std::byte* from, int64_t from_stride, std::byte* to, int64_t to_stride,
               int size, int64_t rows, int64_t columns);

}  // namespace stoker::rows
