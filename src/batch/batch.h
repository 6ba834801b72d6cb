// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What a pipeline hands out: the samples of one output. Immutable once published but for its bytes,
// which belong to the holder; thread-safe as such.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/view.h"
#include "device/device.h"
#include "memory/buffer.h"

namespace stoker {

// Who can say where a sample came from; outlives every batch that names it.
class Provenance {
 public:
  virtual ~Provenance() = default;
  virtual std::string name(int64_t index) const = 0;
};

struct Sample {
  View view;  // dense
  std::shared_ptr<Buffer> owner;  // keeps the bytes
  int64_t index = 0;  // in the lead source
  int64_t in_batch = 0;  // its place in the whole batch, of which samples may have been skipped
};

struct Batch {
  DType dtype = DType::kUint8;
  Layout layout;
  std::vector<Sample> samples;
  std::shared_ptr<Buffer> whole;  // set when the samples lie one behind the other, all of one shape
  std::shared_ptr<const Provenance> provenance;

  // On a device: whose memory this is, and the event after which it may be read. Null on the CPU.
  std::shared_ptr<DeviceBatch> on_device;

  bool is_dense() const { return whole != nullptr || samples.empty(); }
};

}  // namespace stoker
