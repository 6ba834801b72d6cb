// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What a pipeline hands out: the samples of one output. A published batch never changes, except for
// its bytes, which belong to the holder.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/view.h"
#include "device/device.h"
#include "memory/buffer.h"

namespace stoker {

// Tells where samples came from: a reader's store, or what was fed. It outlives every batch that
// names it.
class Provenance {
 public:
  virtual ~Provenance() = default;
  virtual std::string name(int64_t index) const = 0;
};

struct Sample {
  View view;  // dense
  std::shared_ptr<Buffer> owner;  // keeps the bytes alive
  int64_t index = 0;  // in the batch's provenance
  int64_t in_batch = 0;  // place in the whole batch, of which some samples may be skipped
};

struct Batch {
  DType dtype = DType::kUint8;
  Layout layout;
  std::vector<Sample> samples;
  std::shared_ptr<Buffer> whole;  // set when the samples lie one behind the other, all of one shape
  std::shared_ptr<const Provenance> provenance;

  // For a batch on a device: which device has the memory, and the event after which it may be read.
  // Null on the CPU.
  std::shared_ptr<DeviceBatch> on_device;

  bool is_dense() const { return whole != nullptr || samples.empty(); }
};

}  // namespace stoker
