// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Pictures on their way to the device stage. Its decoder has prepared them, or the CPU has decoded
// them and their pixels are only copied.
#pragma once
#include "codec/device_decoder.h"

namespace stoker {

struct Picture {
  TensorType type;  // of the whole output
  Window window;  // the part of it that is made
  std::unique_ptr<PreparedPicture> prepared;  // null: `pixels` are there
  View pixels;
  std::shared_ptr<Buffer> owner;  // of the pixels; null once their copy is enqueued
};

// Where a chain leaves pictures. One thread at a time.
class PictureShelf {
 public:
  virtual ~PictureShelf() = default;
  // Returns true when the device's decoder took over this window of the node's output. Throws what
  // reserve() throws.
  virtual bool prepare(int node, const TensorType& type, const Window& window,
                       const DecodeRequest& request) = 0;
  // Gives the memory into which the CPU has to put the window instead. Throws Starved when the pool
  // has no room now, TooLarge when it never will have.
  virtual View reserve(int node, const TensorType& type, const Window& window) = 0;
};

}  // namespace stoker
