// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What a device node has to do for one sample, as it was decided on the worker. A value.
#pragma once
#include "op/operator.h"

namespace stoker {

// A value in host memory, and what keeps it there.
struct HostValue {
  View view;
  std::shared_ptr<const std::byte[]> owner;
};

struct DeviceTask {
  std::vector<TensorType> inputs;  // of a frame where sequences are taken apart
  std::vector<TensorType> types;  // of the outputs
  // An operator that lowers has blocks; one with a GPU half has itself, with its arguments. There
  // is one entry for all frames, or one for each.
  std::vector<std::vector<Block>> blocks;
  std::vector<std::shared_ptr<const Operator>> ops;
  std::vector<HostValue> values;  // for a GPU half: by input, those whose port is a value
  Chance chance{0, 0, 0, 0};
  Origin origin;
  size_t taken = 0;  // of a merge: the input that it gives

  // Whether the node has something to do for this sample: see Note [Guards], graph/graph.h.
  bool is_there() const { return !types.empty(); }

  template <class T>
  static const T& of_frame(const std::vector<T>& list, int64_t frame) {
    return list[list.size() == 1 ? 0 : static_cast<size_t>(frame)];
  }
};

}  // namespace stoker
