// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Copies of views into dense memory: mirrored, cropped, transposed, repeated.
#pragma once
#include "base/view.h"

namespace stoker {

// Copies elements of `size` bytes to `to`, where they lie one after another, the last axis fastest.
// Both addresses and the strides, in bytes, may be any; a stride of 0 repeats. Nothing is read that
// lies before the first or behind the last element of a row. Requires: `to` does not overlap them.
void copy_to_dense(const void* from, const Shape& shape, const Shape& strides, int64_t size,
                   void* to);

inline void copy_to_dense(const View& from, void* to) {
  copy_to_dense(from.data, from.shape, from.strides, size_of(from.dtype), to);
}

}  // namespace stoker
