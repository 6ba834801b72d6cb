// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Which types the samples of one batch may have.
#pragma once
#include "base/types.h"

namespace stoker {

// What would make these types meet, or null if they may.
inline const char* way_to_meet(const TensorType& a, const TensorType& b) {
  if (a.dtype != b.dtype) return "fn.cast gives one of them the other's dtype";
  if (a.shape.rank >= 0 && b.shape.rank >= 0 && a.shape.rank != b.shape.rank)
    return "fn.reshape or fn.expand_dims gives them as many axes";
  if (!a.layout.empty() && !b.layout.empty() && a.layout != b.layout)
    return "fn.reshape(x, layout=...) gives them one layout";
  return nullptr;
}
inline bool may_meet(const TensorType& a, const TensorType& b) { return !way_to_meet(a, b); }

}  // namespace stoker
