// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The operators on a device: what the chain made goes up, pictures are decoded, kernels run on a
// stream, the batch stays there. One thread at a time; steps begin in order, their later rounds
// come in between. Only wait(), finish() and trim() wait for the device, decode() where the decoder
// makes memory for itself, and enqueue() where host memory is pinned.
#pragma once
#include "base/error.h"
#include "device/held.h"
#include "run/step/step.h"

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
  // Requires: the plan outlives this. `streams`: how many steps may overlap; `memory_limit`: bytes
  // of the device that its steps may hold at once.
  DeviceStage(const Plan& plan, int device_id, int streams, size_t memory_limit);

  // Of pictures; null where the plan has no mixed nodes.
  DeviceDecoder* decoder() const { return decoder_.get(); }
  // Thread-safe.
  DeviceShare share() const;
  void trim();
  // Calls `enqueue`; where that throws DeviceFull, once more without what the decoder keeps for
  // pictures to come.
  template <class Enqueue>
  auto insist(Enqueue enqueue) {
    try {
      return enqueue();
    } catch (const DeviceFull&) {
      if (!make_room()) throw;
    }
    return enqueue();
  }
  // For a step of which the chain's part of this round is done: enqueues what makes its pictures,
  // before it is collected. The samples that the decoder refuses: forgotten and marked in
  // Step::is_refused, they are to be made again, then this be called again. Throws DeviceError,
  // DeviceFull; then it may be called again.
  std::vector<int> decode(Step& step, int round);
  // Enqueues everything else of a round. Requires: the step is collected; in the last round it is
  // published, and this fills the device's part of its `outputs`. Throws DeviceError, or
  // DeviceFull; then it may be called again.
  void enqueue(Step& step, int round, Outputs* outputs = nullptr);
  // Comes when all that was enqueued for the step is done; `call` is called then, on a thread of
  // the runtime's.
  std::unique_ptr<Event> notify(const Step& step, std::function<void()> call) const;
  // On the host, for all that was enqueued. Throws what failed and nobody was told of. Thread-safe.
  void finish() const;
  // On the host, for all that was enqueued for the step. Throws what failed of it.
  void wait(const Step& step) const { stream_of(step).synchronize(); }

 private:
  // A round of a step while it is enqueued, and the values that it makes or brings up. In the end
  // the step has them.
  struct EnqueuedRound {
    Step& step;
    Stream& stream;
    Held& held;
    std::map<Ref, DeviceValues>& values;
  };
  bool make_room();  // false: there was nothing to give back
  Stream& stream_of(const Step& step) const {
    return *streams_[static_cast<size_t>(step.number) % streams_.size()];
  }
  // Calls enqueue(). What fails in it names the node; want of any memory is DeviceFull.
  void at_node(int node, const std::function<void()>& enqueue) const;
  DeviceValues decode_node(Stream& stream, const Step& step, int node, Held& held,
                           std::vector<int>& refused) const;
  std::shared_ptr<Buffer> acquire(Stream& stream, size_t bytes) const;
  void launch(EnqueuedRound& work, const FusedBatch& batch, const std::string& name) const;
  DeviceValues reserve(Stream& stream, const Step& step,
                       const std::function<TensorType(int sample)>& type_of) const;
  DeviceValues upload(EnqueuedRound& work, const Batch& batch) const;
  const DeviceValues& values_of(EnqueuedRound& work, const Ref& from) const;
  bool is_upload(const Step& step, int node) const;
  void run_node(EnqueuedRound& work, int node) const;
  DeviceValues run_pass(EnqueuedRound& work, int head, int tail, const DeviceValues& in) const;
  void run_operator(EnqueuedRound& work, int node) const;
  std::vector<GpuItem> items_of(const Step& step, int node,
                                std::span<const DeviceValues* const> inputs,
                                std::span<const DeviceValues> outputs,
                                std::vector<const Operator*>& ops) const;
  DeviceValues copy(Stream& stream, const Step& step, const DeviceValues& value) const;
  void download(EnqueuedRound& work, const DeviceValues& value, const Batch& to) const;
  Batch batch_of(const DeviceValues& value, const Step& step) const;
  std::map<size_t, Batch> outputs_of(EnqueuedRound& work) const;
  void enqueue_round(EnqueuedRound& work, int round, Outputs* outputs) const;
  void settle(Step& step, std::map<Ref, DeviceValues>& values, int round) const;

  const Plan& plan_;
  Device& device_;
  const std::shared_ptr<const DeviceBudget> memory_;
  mutable HostPool staging_;  // pinned; of the kernels' tables until they are copied
  std::unique_ptr<DeviceDecoder> decoder_;
  std::vector<std::unique_ptr<Stream>> streams_;  // they end before the decoder does
};

}  // namespace stoker
