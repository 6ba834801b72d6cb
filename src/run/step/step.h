// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A step while it is being made: where its samples go, and which of them failed. The executor that
// owns it guards it; reserve() may run for different samples at once.
#pragma once
#include <algorithm>
#include <atomic>
#include <map>
#include <optional>

#include "run/chain/device_task.h"
#include "run/executor.h"
#include "run/feed/feed.h"

namespace stoker {

// The values of one edge on the device, for all samples of a step.
struct DeviceValues {
  std::shared_ptr<Buffer> owner;
  std::vector<View> views;  // by sample; null for a sample that was not made
  size_t count = 0;  // how many of the views are not null
  bool is_dense = false;  // all of one shape, without gaps
};

// A call of a function of the user's. It owns all that it uses, so it may outlive the executor.
struct UserCall {
  std::shared_ptr<UserFunction> function;  // null: no sample is for it
  int64_t step = 0;  // how many were received before this one since the pipeline was built
  int64_t count = 0;  // of samples
  std::vector<HostBatch> inputs, outputs;
  std::exception_ptr error;
  int64_t ns = 0;  // how long it took
  std::atomic<bool> is_over = false;  // the rest is the caller's again
};

// Note [What was fed]
// An output that is nothing but what was fed would be copied twice: when it is fed, and into the
// batch. Instead its batch takes the first copy. The step charges the pool of batches for it when
// it is opened, so this takes no room from steps that go before. publish() then exchanges accounts:
// the buffer counts among the batches, and what is fed next has its room. The feeds keep the bytes
// until the step was received, so a step that is made again finds them unchanged. For that reason a
// skipped sample must leave no gap to close, and nothing is taken where samples may be left out.
// Neither is it where a device may still read the bytes, or needs them to be pinned.
//
// Note [What was read]
// An output of a sample may be nothing but bytes that were read, such as an encoded picture. The
// batch then takes the memory that they were read into, where an output's own would be of the same
// size class. So this changes nothing in what a step takes, and saves a copy.
class Step {
 public:
  // `number` counts steps since the executor began. `cursors` says where each order stands before
  // this step. `fed` is what was fed for this step, or null when the graph has no inputs.
  Step(const Plan& plan, int64_t number, std::vector<int64_t> cursors,
       std::shared_ptr<const FedStep> fed, const ExecutorOptions& options);

  // Acquires one contiguous buffer for each slot of fixed type. Returns false when the pool has no
  // room; the step cannot be used then. `takes_fed`: an output that is what was fed may take its
  // buffer. Note [What was fed]
  bool allocate(HostPool& pool, bool takes_fed);
  size_t fixed_bytes() const;  // what allocate() acquires
  // Counts bytes of host memory that sample i will take in a stage for what comes out of it, until
  // forget(). Throws TooLarge if the sample alone takes more than all batches may. So this does
  // not depend on the rest of the batch.
  void claim(int i, int stage, size_t bytes);
  static size_t claim_of(const TensorType& type);  // what to claim for the value of a slot
  // What reserve() will acquire, in bytes: nothing where the whole slot has its memory.
  size_t need_of(int slot, const TensorType& type) const;
  // Gives the memory for sample i's value of a slot. Throws Starved when the pool has no room.
  View reserve(int slot, int i, const TensorType& type, HostPool& pool);
  // The same where the value is there already and belongs to a buffer that was read. Returns false
  // where the slot cannot take it. Note [What was read]
  bool keep(int slot, int i, const View& value, const std::shared_ptr<Buffer>& owner,
            HostPool& pool);
  // Begins to fill a slot with the values of a whole batch, of which there may be some from before.
  // Where all are of `type`, they get one buffer, as those of a fixed type; null: they differ.
  // Throws Starved. Then reserve() follows for each sample.
  void begin_whole(int slot, const TensorType* type, HostPool& pool);
  size_t need_of_whole(int slot, const TensorType& type) const;  // what that acquires, in bytes
  // Drops the memory, the claims and the pictures of sample i in a stage.
  void forget(int i, int stage);
  const std::vector<View>& views(int slot) const { return memory_[slot].views; }  // by sample
  const View& view(int slot, int i) const { return views(slot)[i]; }
  // Whether the value is there for sample i, which was made: see Note [Guards], graph/graph.h.
  // Requires: the stage of the value is over, and a later stage reads it or it is on the device.
  bool has(const Ref& value, int i) const;
  // The numbers of the samples that are made and have the value.
  std::vector<int> samples_with(const Ref& value) const;
  // A value that is in host memory: it was fed, or a stage has filled its slot.
  const View& host_view(const Ref& value, int i) const;
  // These samples of such a value. Keeps them for as long as it lives.
  HostBatch host_batch(const Ref& value, std::span<const int> samples) const;
  // The type of sample i's value on the device.
  const TensorType& type_on_device(const Ref& value, int i) const;
  // The type of sample i's value that an earlier stage decided, wherever it is made.
  TensorType type_of(const Ref& value, int i) const;
  // Finds where sample i comes from, or its replacement after so many failures.
  void find_origins(int i);
  // Makes batches of the slots of all stages up to this one, with the samples that are made. It is
  // called again for later stages. Requires: where has_new_gaps(), nothing reads or writes these
  // slots meanwhile.
  void collect(int stage);
  // Whether samples were lost since the slots were collected, so that bytes will be moved.
  bool has_new_gaps() const;
  // Collects all slots and makes the outputs of the graph. Outputs that stay on the device stay
  // empty.
  Outputs publish(const std::shared_ptr<const Plan>& plan, HostPool& pool);

  // Whether a sample failed in a stage after the first and is to be replaced. rewind() then drops
  // everything that was made, so that the step begins again in the first stage, with the
  // replacement. The outputs are the same as if the replacement had been taken at once.
  bool is_to_rewind() const;
  void rewind();
  // Whether nothing will be handed out of it: a sample is missing that on_error does not leave out,
  // or all are.
  bool is_lost() const;
  // The stage that follows this one, or stage_count() if nothing is left to do: a stage that sees
  // whole batches makes nothing of a step that is lost.
  int stage_after(int stage) const;
  // Loses all of its samples, because a stage that sees all of them failed.
  void lose();

  const Plan& plan;
  int64_t number;
  std::vector<int64_t> cursors;
  std::shared_ptr<const FedStep> fed;
  int64_t size() const { return static_cast<int64_t>(is_made.size()); }  // number of samples
  std::vector<char> is_made;  // by sample; read only when all are done
  std::vector<int> made_samples() const;  // the numbers of the samples that are made
  std::vector<int> attempts;  // by sample: how many attempts failed
  const int max_attempts;
  std::vector<std::vector<Origin>> origins;  // by sample, by source of the plan
  const Origin& origin(int node, int i) const { return origins[i][plan.source_of(node)]; }
  const Origin& lead(int i) const {
    return origins[i][plan.reader_count() ? plan.lead() : plan.source_count() - 1];
  }
  // Of a node that is needed on the device.
  DeviceTask& task(int node, int i) { return tasks_[i][plan.planned(node).device_number]; }
  const DeviceTask& task(int node, int i) const {
    return tasks_[i][plan.planned(node).device_number];
  }
  std::vector<std::vector<Picture>> pictures;  // by sample, by PlanNode::mixed_number
  // Of a mixed node.
  Picture& picture(int node, int i) { return pictures[i][plan.planned(node).mixed_number]; }
  const Picture& picture(int node, int i) const {
    return pictures[i][plan.planned(node).mixed_number];
  }
  std::vector<char> is_refused;  // by sample: the device's decoder refused it; the CPU decodes it
  // This step's values on the device, made there or brought there. Each stays until no stage needs
  // it. Only the device stage uses them.
  std::map<Ref, DeviceValues> on_device;
  std::vector<SampleFailure> failures;  // guarded by the executor
  std::exception_ptr fatal;  // guarded by the executor as well
  size_t bytes() const;  // bytes of host memory that it holds
  int64_t made_count() const { return std::count(is_made.begin(), is_made.end(), 1); }

  // Requires: the slot was collected.
  const Batch& slot(int k) const { return slots_[k]; }

 private:
  struct SlotMemory {
    std::shared_ptr<Buffer> whole;
    TensorType type;  // of the samples for which `whole` has room
    std::vector<std::shared_ptr<Buffer>> own;  // by sample
    std::vector<View> views;
    // Where `whole` is what was fed: its room in the pool of batches.
    std::shared_ptr<void> room;
  };
  const FedBatch* fed_for(int node) const;
  size_t& claimed(int i, int stage) {
    return claimed_[static_cast<size_t>(i) * static_cast<size_t>(plan.stage_count()) +
                    static_cast<size_t>(stage)];
  }
  // Whether this is the slot of its value, and not that of an output that is named again.
  bool is_first(int slot) const { return plan.slot_of(plan.slot(slot).from) == slot; }
  bool may_take_fed(int slot) const;
  TensorType type_of(int slot) const;
  std::optional<int64_t> fixed_bytes(size_t slot) const;
  Batch collect_slot(SlotMemory& memory, const Slot& slot);
  std::shared_ptr<const Provenance> provenance(const std::shared_ptr<const Plan>& owner,
                                               int node) const;
  const OnError on_error_;
  const size_t limit_;  // bytes that all batches may take
  std::vector<std::vector<DeviceTask>> tasks_;  // by sample, by PlanNode::device_number
  std::vector<size_t> claimed_;  // bytes, by sample and stage
  int64_t collected_ = -1;  // how many samples were made when slots were collected
  std::vector<SlotMemory> memory_;
  std::vector<Batch> slots_;
};

// Names the step that begins at these cursors: "epoch 2, step from position 128 on".
std::string step_in_words(const Plan& plan, const std::vector<int64_t>& cursors);

// Batches have too little memory for a step. The message names a memory_limit.
class NoRoom : public BudgetError {
 public:
  // There is none for `what`, which takes at least so many bytes more. What the step needs after
  // that is not known, so the limit may not suffice.
  NoRoom(const std::string& what, size_t bytes, const HostPool& pool);
  // The same where a limit that suffices is known.
  NoRoom with_limit(size_t limit) const;

 private:
  NoRoom(std::string before, size_t limit, bool suffices, std::string after);
  std::string before_, after_;  // what stands around the limit
};

// Tells the pool that the user holds these bytes from now on.
void mark_held(const Outputs& outputs, HostPool& pool);

}  // namespace stoker
