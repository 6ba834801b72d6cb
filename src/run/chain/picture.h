// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Pictures on their way to the device stage: prepared by its decoder, or pixels that the CPU
// decoded and that are only copied.
#pragma once
#include "codec/device_decoder.h"

namespace stoker {

struct Picture {
  TensorType type;  // of the whole output
  Window window;  // of it, that is made
  std::unique_ptr<PreparedPicture> prepared;  // null: the pixels are there
  View pixels;
  std::shared_ptr<Buffer> owner;  // of the pixels; null once their copy is enqueued
};

// Where a chain leaves pictures. One thread at a time.
class PictureShelf {
 public:
  virtual ~PictureShelf() = default;
  // True when the device's decoder took what makes the window of this node's output. Throws what
  // reserve() throws.
  virtual bool prepare(int node, const TensorType& type, const Window& window,
                       const DecodeRequest& request) = 0;
  // Where the CPU is to put the window instead. Throws Starved when the pool has no room.
  virtual View reserve(int node, const TensorType& type, const Window& window) = 0;
};

}  // namespace stoker
