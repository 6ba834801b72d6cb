// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Copies of views into dense memory: mirrored, cropped, transposed, repeated.
#pragma once
#include "base/view.h"

namespace stoker {

// Copies elements of `size` bytes to `to`, one after another, the last axis fastest. Addresses and
// the strides, in bytes, may be any; a stride of 0 repeats. Nothing before the first or behind the
// last element of a row is read. Requires: `to` does not overlap them.
void copy_to_dense(const void* from, const Shape& shape, const Shape& strides, int64_t size,
                   void* to);

inline void copy_to_dense(const View& from, void* to) {
  copy_to_dense(from.data, from.shape, from.strides, size_of(from.dtype), to);
}

}  // namespace stoker
