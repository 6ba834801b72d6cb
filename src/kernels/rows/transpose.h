// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Transposes values, by the best instructions of the CPU. All targets give the same bytes.
#pragma once
#include <cstddef>
#include <cstdint>

namespace stoker::rows {

// Value k of output row i is value i of input row k. Within a row, values of `size` bytes lie one
// behind the other; strides are the bytes from one row to the next. Requires: `from` and `to` do
// not overlap.
void transpose(const std::byte* from, int64_t from_stride, std::byte* to, int64_t to_stride,
               int size, int64_t rows, int64_t columns);

}  // namespace stoker::rows
