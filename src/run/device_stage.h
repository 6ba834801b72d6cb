// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The operators on a device: what the chain made goes up, kernels run on a stream, the batch stays there. One thread at a time,
// in the order of the steps; nothing here waits for the device.
#pragma once
#include "run/step.h"

namespace stoker {

class FusedBatch;

class DeviceStage {
 public:
  // Requires: the plan outlives this. `streams`: how many steps may overlap.
  DeviceStage(const Plan& plan, int device_id, int streams);

  // Enqueues everything for a published step and fills its device outputs. Throws DeviceError, BudgetError.
  void enqueue(const Step& step, Outputs& outputs);

 private:
  // The values of one edge, for each sample that was made.
  struct Value {
    std::shared_ptr<Buffer> owner;
    std::vector<View> views;
    bool is_dense = false;
  };
  std::shared_ptr<Buffer> acquire(Stream& stream, size_t bytes) const;
  void launch(Stream& stream, const std::shared_ptr<FusedBatch>& batch,
              const std::string& name) const;
  Value reserve(Stream& stream, const std::vector<TensorType>& types) const;
  Value upload(Stream& stream, const Batch& batch) const;
  Value run_pass(Stream& stream, const Step& step, int head, int tail, const Value& in) const;
  Value copy(Stream& stream, const Value& value) const;
  Batch batch_of(const Value& value, const Step& step) const;

  const Plan& plan_;
  Device& device_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::vector<int> place_;  // by node: its place in Plan::device_nodes
};

}  // namespace stoker
