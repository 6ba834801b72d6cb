// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// One batch while it is being made: where its samples go, what failed. The executor that owns it guards it; reserve() of different
// samples may run at once.
#pragma once
#include "run/device_work.h"
#include "run/executor.h"
#include "run/feed.h"

namespace stoker {

// The values of one edge on the device, for each sample that was made.
struct DeviceValues {
  std::shared_ptr<Buffer> owner;
  std::vector<View> views;
  bool is_dense = false;
};

// No memory for a sample of an iteration that is not the oldest: its ticket goes back.
struct Starved {};

class Step {
 public:
  // `number` counts steps since the executor began; `cursors` is where each order stands before this one;
  // `fed` is what it is made of, null without inputs.
  Step(const Plan& plan, int64_t number, std::vector<int64_t> cursors,
       std::shared_ptr<const FedStep> fed);

  // Takes the contiguous buffers of the fixed slots. False when the pool has no room: the step is of no use then.
  bool allocate(const Plan& plan, HostPool& pool);
  // Where sample i's value of a slot goes; behind the slots of the plan come its host copies. Throws Starved when the pool has no room.
  View reserve(int slot, int i, const TensorType& type, HostPool& pool);
  // Forgets what reserve() gave to sample i.
  void forget(int i);
  // The samples become batches, by graph output. Outputs of the device stage stay empty.
  Outputs publish(const std::shared_ptr<const Plan>& plan, HostPool& pool, OnError on_error);

  int64_t number;
  std::vector<int64_t> cursors;
  std::shared_ptr<const FedStep> fed;
  int64_t size() const { return static_cast<int64_t>(is_made.size()); }  // samples
  std::vector<char> is_made;  // by sample; read when all are done
  std::vector<int64_t> index;  // by sample: which sample of the lead source it became
  std::vector<std::vector<DeviceWork>> device_work;  // by sample, by place in Plan::device_nodes
  std::vector<std::vector<Picture>> pictures;  // by sample, by place in Plan::mixed_nodes
  std::vector<char> is_refused;  // by sample: the device could not decode it, the CPU is to
  std::vector<DeviceValues> decoded;  // by place in Plan::mixed_nodes; set by the device stage
  std::vector<SampleFailure> failures;  // guarded by the executor
  std::exception_ptr fatal;  // likewise
  size_t bytes() const;  // of its slots, for planning ahead

  // A slot's batch, once published.
  const Batch& slot(int k) const { return slots_[k]; }

 private:
  struct SlotMemory {
    std::shared_ptr<Buffer> whole;
    std::vector<std::shared_ptr<Buffer>> own;
    std::vector<View> views;
  };
  TensorType type_of(const Plan& plan, int slot) const;
  Batch collect(SlotMemory& memory, const TensorType& type);
  Batch copy(const Batch& batch, HostPool& pool) const;
  std::vector<SlotMemory> memory_;
  std::vector<Batch> slots_;
};

// The bytes become the user's: the pool says so from now on.
void hold(const Outputs& outputs, HostPool& pool);

}  // namespace stoker
