// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Apache Arrow's structure for exchanging arrays (its C data interface). The binary layout is
// fixed, so it is written out here instead of included.
#pragma once
#include <cstdint>

namespace stoker::arrow {

// The content of a capsule named "arrow_array".
struct Array {
  int64_t length, null_count, offset, n_buffers, n_children;
  const void** buffers;
  Array** children;
  Array* dictionary;
  void (*release)(Array*);
  void* private_data;
};

}  // namespace stoker::arrow
