// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What a device node became for one sample: all that is decided on the worker. A value.
#pragma once
#include "op/op.h"

namespace stoker {

struct DeviceTask {
  std::vector<TensorType> inputs;  // without frames where they are taken apart
  std::vector<TensorType> types;  // of the outputs
  // Of one that lowers its blocks, of one with a GPU half itself with its arguments: for all, or
  // one for each frame.
  std::vector<std::vector<Block>> blocks;
  std::vector<std::shared_ptr<const Operator>> ops;
  Chance chance{0, 0, 0, 0};

  template <class T>
  static const T& of_frame(const std::vector<T>& list, int64_t frame) {
    return list[list.size() == 1 ? 0 : static_cast<size_t>(frame)];
  }
};

}  // namespace stoker
