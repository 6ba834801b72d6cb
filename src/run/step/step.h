// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// One batch while it is being made: where its samples go, what failed. The executor that owns it
// guards it; reserve() of different samples may run at once.
#pragma once
#include <map>

#include "run/chain/device_task.h"
#include "run/executor.h"
#include "run/feed/feed.h"

namespace stoker {

// The values of one edge on the device.
struct DeviceValues {
  std::shared_ptr<Buffer> owner;
  std::vector<View> views;  // by sample; null of those that were not made then
  size_t count = 0;  // that were
  bool is_dense = false;  // of one shape, one behind the other
};

class Step {
 public:
  // `number` counts steps since the executor began; `cursors` is where each order stands before
  // this one; `fed` is what it is made of, null without inputs.
  Step(const Plan& plan, int64_t number, std::vector<int64_t> cursors,
       std::shared_ptr<const FedStep> fed, OnError on_error);

  // Takes the contiguous buffers of the fixed slots. False when the pool has no room: the step is
  // of no use then.
  bool allocate(HostPool& pool);
  // Where sample i's value of a slot goes. Throws Starved when the pool has no room.
  View reserve(int slot, int i, const TensorType& type, HostPool& pool);
  // Forgets what reserve() gave to sample i in a round, and its pictures.
  void forget(int i, int round);
  const View& view(int slot, int i) const { return memory_[slot].views[i]; }
  // Of sample i's value on the device.
  const TensorType& type_on_device(const Ref& value, int i) const;
  // The slots of rounds up to this one become batches of the samples that are made. Again, when
  // later rounds lost some. Requires: nothing reads or writes these slots meanwhile.
  void collect(int round);
  // The same for all slots, and the outputs of the graph. What stays on the device stays empty.
  Outputs publish(const std::shared_ptr<const Plan>& plan, HostPool& pool);

  // A sample failed in a round after the first and is to be replaced: then everything is made
  // again, in the first round from the replacement on. What comes out is the same as without the
  // detour.
  bool is_to_rewind() const;
  void rewind();

  const Plan& plan;
  int64_t number;
  std::vector<int64_t> cursors;
  std::shared_ptr<const FedStep> fed;
  int64_t size() const { return static_cast<int64_t>(is_made.size()); }  // samples
  std::vector<char> is_made;  // by sample; read when all are done
  std::vector<int> made_samples() const;  // their numbers
  std::vector<int> attempts;  // by sample: how many failed
  const int max_attempts;
  std::vector<int64_t> index;  // by sample: which sample of the lead reader's store it became
  std::vector<std::vector<DeviceTask>> device_task;  // by sample, by PlanNode::device_number
  std::vector<std::vector<Picture>> pictures;  // by sample, by PlanNode::mixed_number
  std::vector<char> is_refused;  // by sample: the device could not decode it, the CPU is to
  // What of this step is on the device: made there or brought there, until no round needs it. The
  // device stage's.
  std::map<Ref, DeviceValues> on_device;
  std::vector<SampleFailure> failures;  // guarded by the executor
  std::exception_ptr fatal;  // likewise
  size_t bytes() const;  // of its slots, for planning ahead

  // A slot's batch, once collected.
  const Batch& slot(int k) const { return slots_[k]; }

 private:
  struct SlotMemory {
    std::shared_ptr<Buffer> whole;
    std::vector<std::shared_ptr<Buffer>> own;
    std::vector<View> views;
  };
  TensorType type_of(int slot) const;
  Batch collect_slot(SlotMemory& memory, const TensorType& type);
  Batch copy(const Batch& batch, HostPool& pool) const;
  const OnError on_error_;
  std::vector<SlotMemory> memory_;
  std::vector<Batch> slots_;
};

// "epoch 2, step from position 128 on": of the one that begins at these cursors.
std::string step_in_words(const Plan& plan, const std::vector<int64_t>& cursors);

// The bytes become the user's: the pool says so from now on.
void mark_held(const Outputs& outputs, HostPool& pool);

}  // namespace stoker
