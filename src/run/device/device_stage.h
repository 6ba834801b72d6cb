// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The operators of steps that run on a device: copies values there, decodes pictures and launches
// kernels. Steps begin in order; their later stages may come in between. Only wait(), finish() and
// trim() wait for the device, and issue() while the decoder allocates memory or host memory is
// pinned.
#pragma once
#include "base/error.h"
#include "device/held.h"
#include "run/bell.h"
#include "run/step/step.h"

namespace stoker {

class FusedBatch;
class GpuRun;
struct BatchItem;

// The device has no room for a step until older steps or their holders release memory.
struct DeviceFull : BudgetError {
  using BudgetError::BudgetError;
};

// How far DeviceStage::issue() has come with the stages of a step.
struct Issued {
  bool is_collected = false;  // this stage's pictures are enqueued and its slots are batches
  std::optional<Outputs> outputs;  // set when the step was published
  // Reached when the values that later stages read are on the host.
  std::unique_ptr<Event> copied;
  int64_t polled_at = 0;  // IterationQueue::polls when `copied` was last queried
};

class DeviceStage {
 public:
  // Until silence(), a thread of the device's runtime calls `bell` whenever awaited copies may be
  // there. Requires: the pool outlives this.
  DeviceStage(std::shared_ptr<const Plan> plan, const ExecutorOptions& options, HostPool& pool,
              std::function<void()> bell);
  void silence() { bell_->silence(); }

  // Decodes pictures; null where the plan has no mixed nodes.
  DeviceDecoder* decoder() const { return decoder_.get(); }
  const DeviceBudget& memory() const { return *memory_; }  // thread-safe
  void trim();
  // Enqueues a stage, and publishes the step in the last one. Returns samples that the decoder
  // refuses: they are dropped and marked (DevicePart::is_refused). The CPU has to decode them in
  // the chain before; then the stage has to be issued again. Throws DeviceError, or DeviceFull,
  // after which it may be called again. `insists`: the decoder gives up the memory that it keeps
  // for coming pictures. Requires: the stages before are over.
  std::vector<int> issue(Step& step, int stage, Issued& state, bool insists);
  // Whether the copies that the step awaits are on the host. Throws what failed before them.
  static bool is_copied(Issued& state);
  // The host waits for all that was enqueued. Throws failures not reported yet. Thread-safe.
  void finish() const;
  // The host waits for all that was enqueued for the step. Throws what failed in it.
  void wait(const Step& step) const { stream_of(step).synchronize(); }

 private:
  // A stage while it is enqueued. Afterwards the step takes the values.
  struct EnqueuedStage {
    Step& step;
    Stream& stream;
    Held& held;
    std::map<Ref, DeviceEdge>& values;
  };
  Stream& stream_of(const Step& step) const {
    return *streams_[static_cast<size_t>(step.number) % streams_.size()];
  }
  std::vector<int> try_issue(Step& step, int stage, Issued& state);
  bool make_room();
  std::vector<int> decode(Step& step, int stage);
  void enqueue(Step& step, int stage, Outputs* outputs);
  // Calls enqueue(). Errors name the node; a lack of any memory becomes DeviceFull.
  void at_node(int node, const std::function<void()>& enqueue) const;
  DeviceEdge decode_node(EnqueuedStage& work, int node, std::vector<int>& refused) const;
  std::shared_ptr<Buffer> acquire(Stream& stream, size_t bytes) const;
  void launch(EnqueuedStage& work, const FusedBatch& batch, const std::string& name) const;
  DeviceEdge reserve(EnqueuedStage& work, std::span<const int> samples,
                     const std::function<TensorType(int sample)>& type_of) const;
  DeviceEdge upload(EnqueuedStage& work, const Ref& value) const;
  const DeviceEdge& values_of(EnqueuedStage& work, const Ref& from) const;
  bool is_upload(const Step& step, int node) const;
  void run_node(EnqueuedStage& work, int node) const;
  DeviceEdge run_line(EnqueuedStage& work, int head, int tail, std::span<const View> in) const;
  std::vector<View> taken_views(EnqueuedStage& work, int node) const;
  void run_operator(EnqueuedStage& work, int node) const;
  DeviceEdge alias(EnqueuedStage& work, int node) const;
  std::vector<BatchItem> items_of(const Step& step, int node,
                                  std::span<const DeviceEdge* const> inputs,
                                  std::span<const DeviceEdge> outputs,
                                  std::vector<const Operator*>& ops) const;
  DeviceEdge copy(EnqueuedStage& work, const DeviceEdge& value, std::span<const int> samples,
                  const std::function<TensorType(int sample)>& type_of) const;
  void download(EnqueuedStage& work, int slot) const;
  Batch batch_of(const DeviceEdge& value, const Step& step, int node) const;
  std::map<size_t, Batch> outputs_of(EnqueuedStage& work) const;
  void enqueue_stage(EnqueuedStage& work, int stage, Outputs* outputs) const;

  const std::shared_ptr<const Plan> owner_;
  const Plan& plan_;
  HostPool& pool_;
  Device& device_;
  const std::shared_ptr<const DeviceBudget> memory_;
  mutable HostPool staging_;  // pinned; holds the tables of kernels until they are copied
  std::unique_ptr<DeviceDecoder> decoder_;
  std::vector<std::unique_ptr<Stream>> streams_;  // destroyed before the decoder
  const std::shared_ptr<Bell> bell_;
};

}  // namespace stoker
