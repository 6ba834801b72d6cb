// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A step while it is being made. Each of its parts says who may touch it when; the strictest rule
// holds for what concerns several.
#pragma once
#include "run/step/device_part.h"
#include "run/step/samples.h"
#include "run/step/slots.h"

namespace stoker {

class Step {
 public:
  // `number` counts steps since the executor began. `cursors`: where each order stands before this
  // step. `fed`: what was fed for it, or null when the graph has no inputs.
  Step(const Plan& plan, int64_t number, std::vector<int64_t> cursors,
       const std::shared_ptr<const FedStep>& fed, const ExecutorOptions& options);

  const Plan& plan;
  const int64_t number;
  const std::vector<int64_t> cursors;
  Samples samples;
  DevicePart on_device;
  Slots slots;

  // Whether the value is there for sample i, which was made: Note [Guards] (graph/graph.h).
  // Requires: the stage of the value is over, and a later stage reads it or it is on the device.
  bool has(const Ref& value, int i) const;
  std::vector<int> samples_with(const Ref& value) const;
  // The type of sample i's value that an earlier stage decided, wherever it is made.
  TensorType type_of(const Ref& value, int i) const;
  // Drops the host memory that sample i has in a stage, and its claims.
  void forget(int i, int stage);
  // Drops everything that was made, so that the step begins again with the replacement of a sample
  // that failed in a later stage, as if that had been taken at once.
  void rewind();
  // Of host memory that it holds.
  size_t bytes() const { return slots.bytes() + on_device.host_bytes(); }
  // Makes the outputs of the graph. Those that stay on the device stay empty.
  Outputs publish(const std::shared_ptr<const Plan>& owner, HostPool& pool);
};

// "epoch 2, step from position 128 on"
std::string step_in_words(const Plan& plan, const std::vector<int64_t>& cursors);

}  // namespace stoker
