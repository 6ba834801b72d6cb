// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What workers give to the device for one sample: the work of its nodes, and pictures to decode.
#pragma once
#include "codec/device_decoder.h"
#include "op/operator_type.h"

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

  // Whether the node has something to do for this sample: Note [Guards] (graph/graph.h).
  bool is_there() const { return !types.empty(); }

  template <class T>
  static const T& of_frame(const std::vector<T>& list, int64_t frame) {
    return list[list.size() == 1 ? 0 : static_cast<size_t>(frame)];
  }
};

// The device's decoder has prepared it, or the CPU has decoded it and its pixels are only copied.
struct Picture {
  TensorType type;  // of the whole output
  Window window;  // the part of it that is made
  std::unique_ptr<PreparedPicture> prepared;  // null: `pixels` are there
  View pixels;
  std::shared_ptr<Buffer> owner;  // of the pixels; null once their copy is enqueued
};

// Takes a picture, of which this window of the node's output is made. Gives the memory into which
// the CPU has to put it, or a view without data if the device's decoder took over `request`. Throws
// Starved when the pool has no room now, TooLarge when it never will have.
using TakePicture = std::function<View(int node, const TensorType& type, const Window& window,
                                       const std::optional<DecodeRequest>& request)>;

}  // namespace stoker
