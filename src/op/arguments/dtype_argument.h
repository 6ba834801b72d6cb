// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The argument `dtype` of operators whose output has the input's unless told otherwise.
#pragma once
#include <optional>

#include "op/schema.h"

namespace stoker {

struct DtypeArgument {
  std::optional<DType> dtype = {};
};
inline constexpr auto kDtypeArgument =
    arg(&DtypeArgument::dtype, "dtype",
        "Output dtype; default: the input's. Values are rounded and saturate.");

}  // namespace stoker
