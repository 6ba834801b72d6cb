// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The operators of a step that run on a device: copies values of the chain there, decodes pictures
// and launches kernels. One thread at a time. Steps begin in order; their later stages may come in
// between. Only these wait for the device: wait(), finish() and trim(), decode() while the decoder
// allocates memory, and enqueue() while host memory is pinned.
#pragma once
#include "base/error.h"
#include "device/held.h"
#include "run/step/step.h"

namespace stoker {

class FusedBatch;
class GpuRun;
struct BatchItem;

// The device has no room for a step now. Memory that older steps or their holders release may make
// room.
struct DeviceFull : BudgetError {
  using BudgetError::BudgetError;
};

class DeviceStage {
 public:
  // Requires: the plan outlives this. `streams`: how many steps may overlap. `memory_limit`: the
  // most bytes of the device that steps may hold at once.
  DeviceStage(const Plan& plan, int device_id, int streams, size_t memory_limit);

  // Decodes pictures; null where the plan has no mixed nodes.
  DeviceDecoder* decoder() const { return decoder_.get(); }
  // Thread-safe.
  DeviceShare share() const;
  void trim();
  // Calls `enqueue`. If that throws DeviceFull, the decoder gives back the memory that it keeps for
  // coming pictures, and `enqueue` is called once more.
  template <class Enqueue>
  auto insist(Enqueue enqueue) {
    try {
      return enqueue();
    } catch (const DeviceFull&) {
      if (!make_room()) throw;
    }
    return enqueue();
  }
  // Enqueues the decoding of a step's pictures. Requires: the stages before are over, and the
  // step is not collected. Returns the samples that the decoder refuses. They are dropped
  // and marked in Step::is_refused; once they are made again, this has to be called again. Throws
  // DeviceError, or DeviceFull; then it may be called again.
  std::vector<int> decode(Step& step, int stage);
  // Enqueues everything else of a stage. Requires: the step is collected. In the last stage it is
  // also published, and this fills the device's part of its `outputs`. Throws DeviceError, or
  // DeviceFull; then it may be called again.
  void enqueue(Step& step, int stage, Outputs* outputs = nullptr);
  // The event comes when all that was enqueued for the step is done. Then `call` is called, on a
  // thread of the device's runtime.
  std::unique_ptr<Event> notify(const Step& step, std::function<void()> call) const;
  // The host waits for all that was enqueued. Throws failures that were not reported yet.
  // Thread-safe.
  void finish() const;
  // The host waits for all that was enqueued for the step. Throws what failed in it.
  void wait(const Step& step) const { stream_of(step).synchronize(); }

 private:
  // A stage of a step while it is enqueued, with the values that it makes or brings to the device.
  // When all is enqueued, the step takes the values.
  struct EnqueuedStage {
    Step& step;
    Stream& stream;
    Held& held;
    std::map<Ref, DeviceValues>& values;
  };
  bool make_room();  // false: there was nothing to give back
  Stream& stream_of(const Step& step) const {
    return *streams_[static_cast<size_t>(step.number) % streams_.size()];
  }
  // Calls enqueue(). Errors name the node; a lack of memory of any kind becomes DeviceFull.
  void at_node(int node, const std::function<void()>& enqueue) const;
  DeviceValues decode_node(Stream& stream, const Step& step, int node, Held& held,
                           std::vector<int>& refused) const;
  std::shared_ptr<Buffer> acquire(Stream& stream, size_t bytes) const;
  void launch(EnqueuedStage& work, const FusedBatch& batch, const std::string& name) const;
  DeviceValues reserve(Stream& stream, const Step& step, std::span<const int> samples,
                       const std::function<TensorType(int sample)>& type_of) const;
  DeviceValues upload(EnqueuedStage& work, const Batch& batch) const;
  const DeviceValues& values_of(EnqueuedStage& work, const Ref& from) const;
  bool is_upload(const Step& step, int node) const;
  void run_node(EnqueuedStage& work, int node) const;
  DeviceValues run_pass(EnqueuedStage& work, int head, int tail, std::span<const View> in) const;
  std::vector<View> taken_views(EnqueuedStage& work, int node) const;
  void run_operator(EnqueuedStage& work, int node) const;
  DeviceValues alias(EnqueuedStage& work, int node) const;
  std::vector<BatchItem> items_of(const Step& step, int node,
                                  std::span<const DeviceValues* const> inputs,
                                  std::span<const DeviceValues> outputs,
                                  std::vector<const Operator*>& ops) const;
  DeviceValues copy(Stream& stream, const Step& step, const DeviceValues& value) const;
  void download(EnqueuedStage& work, const DeviceValues& value, const Batch& to) const;
  Batch batch_of(const DeviceValues& value, const Step& step, int node) const;
  std::map<size_t, Batch> outputs_of(EnqueuedStage& work) const;
  void enqueue_stage(EnqueuedStage& work, int stage, Outputs* outputs) const;
  void settle(Step& step, std::map<Ref, DeviceValues>& values, int stage) const;

  const Plan& plan_;
  Device& device_;
  const std::shared_ptr<const DeviceBudget> memory_;
  mutable HostPool staging_;  // pinned; holds the tables of kernels until they are copied
  std::unique_ptr<DeviceDecoder> decoder_;
  std::vector<std::unique_ptr<Stream>> streams_;  // destroyed before the decoder
};

}  // namespace stoker
