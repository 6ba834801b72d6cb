// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A tensor that Python holds. Keeps its memory alive.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/types.h"
#include "memory/buffer.h"

namespace stoker::python {

struct PyTensor {
  void* data;
  DType dtype;
  std::string layout;  // may begin with N
  std::vector<int64_t> shape, strides;  // strides in elements
  std::shared_ptr<Buffer> owner;
  std::string source;
};

}  // namespace stoker::python
