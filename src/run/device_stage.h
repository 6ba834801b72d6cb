// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The operators on a device: what the chain made goes up, pictures are decoded, kernels run on a stream, the batch stays there. One
// thread at a time, in the order of the steps; nothing here waits for the device.
#pragma once
#include <map>

#include "base/error.h"
#include "run/step.h"

namespace stoker {

class FusedBatch;
class GpuRun;
struct GpuItem;

// The device has no room for a step now; what older steps and their holders let go of may make it.
struct DeviceFull : BudgetError {
  using BudgetError::BudgetError;
};

class DeviceStage {
 public:
  // Requires: the plan outlives this. `streams`: how many steps may overlap; `workers`: how many prepare pictures; `memory_limit`:
  // bytes of the device that its steps may hold at once.
  DeviceStage(const Plan& plan, int device_id, int streams, int workers, size_t memory_limit);

  // Of pictures; null where the plan has no mixed nodes.
  DeviceDecoder* decoder() const { return decoder_.get(); }
  // Thread-safe.
  DeviceShare share() const;
  void trim();
  // Enqueues what makes the pictures of a step whose samples are all made, before it is published. The samples that the decoder
  // refuses: forgotten and marked in Step::is_refused, they are to be made again, then this be called again. Throws DeviceError,
  // DeviceFull; then it may be called again.
  std::vector<int> decode(Step& step);
  // Enqueues everything else for a published step and fills its device outputs. Throws DeviceError, or
  // DeviceFull; then it may be called again.
  void enqueue(const Step& step, Outputs& outputs);

 private:
  using Value = DeviceValues;
  struct Share;  // what is held on the device
  class SharedOut;
  using Place = std::pair<int, int>;  // node, output
  // What one step has on the device so far.
  struct Values {
    const Step& step;
    Stream& stream;
    std::map<int, Value> uploads;  // by slot
    std::map<Place, Value> made;
  };
  Stream& stream_of(const Step& step) const {
    return *streams_[static_cast<size_t>(step.number) % streams_.size()];
  }
  Value decode_node(Stream& stream, Step& step, int place, std::vector<int>& refused) const;
  std::shared_ptr<Buffer> acquire(Stream& stream, size_t bytes) const;
  void launch(Stream& stream, const FusedBatch& batch, const std::string& name) const;
  Value reserve(Stream& stream, const std::vector<TensorType>& types) const;
  Value upload(Stream& stream, const Batch& batch) const;
  const Value& value(Values& values, const Ref& from) const;
  void run_node(Values& values, int node) const;
  Value run_pass(Stream& stream, const Step& step, int head, int tail, const Value& in) const;
  void run_operator(Values& values, int node) const;
  std::vector<GpuItem> items_of(const Step& step, int node, std::span<const Value* const> inputs,
                                std::span<const Value> outputs,
                                std::vector<const Operator*>& ops) const;
  Value copy(Stream& stream, const Value& value) const;
  void download(Stream& stream, const Value& value, const Batch& to) const;
  Batch batch_of(const Value& value, const Step& step) const;

  const Plan& plan_;
  Device& device_;
  const std::shared_ptr<Share> share_;
  mutable HostPool staging_;  // pinned; of the kernels' tables until they are copied
  std::unique_ptr<DeviceDecoder> decoder_;
  std::vector<std::unique_ptr<Stream>> streams_;  // they end before the decoder does
  std::vector<int> place_;  // by node: its place in Plan::device_nodes
};

}  // namespace stoker
