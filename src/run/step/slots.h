// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the values of a step lie in host memory. Whoever has a ticket uses the places of its
// samples. Functions for all samples are for whoever has the ticket of all, or for when nobody has
// one: when the step is opened, begins again or is handed out.
#pragma once
#include <optional>

#include "run/executor_options.h"
#include "run/feed/feed.h"

namespace stoker {

class Samples;

// Note [What was fed]
// An output that is just what was fed would be copied twice: when it is fed, and into the batch.
// Instead its batch takes the first copy. The pool of batches is charged for it when the step is
// opened, so this takes no room from earlier steps. In the end it counts among the batches
// (take_over_fed), and what is fed next has its room. A step that is made again needs the bytes
// unchanged. So none are taken if samples may be left out, which leaves gaps to close, or if a
// device may still read the bytes or needs them to be pinned.
//
// Note [What was read]
// An output of a sample may be just bytes that were read, such as an encoded picture. The batch
// then takes their memory, if the output's own would be of the same size class. This saves a copy,
// and a step takes no more memory.
class Slots {
 public:
  Slots(const Plan& plan, std::shared_ptr<const FedStep> fed, int64_t size,
        const ExecutorOptions& options);

  // Acquires one buffer for each slot of fixed type. Returns false when the pool has no room; the
  // step cannot be used then. `takes_fed`: see Note [What was fed].
  bool allocate(HostPool& pool, bool takes_fed);
  size_t fixed_bytes() const;  // what allocate() acquires

  // Counts bytes that sample i will take in a stage, until forget(). Throws TooLarge if the sample
  // alone takes more than all batches may.
  void claim(int i, int stage, size_t bytes);
  static size_t claim_of(const TensorType& type);  // what to claim for the value of a slot
  // What reserve() will acquire, in bytes: nothing if the whole slot has its memory.
  size_t need_of(int slot, const TensorType& type) const;
  // Gives the memory for sample i's value of a slot. Throws Starved when the pool has no room.
  View reserve(int slot, int i, const TensorType& type, HostPool& pool);
  // Takes a value that lies in a buffer that was read: Note [What was read]. Returns false if the
  // slot cannot take it.
  bool keep(int slot, int i, const View& value, const std::shared_ptr<Buffer>& owner,
            HostPool& pool);
  void forget(int i, int stage);

  // Begins to fill a slot, which may hold values from before, with those of a whole batch. If all
  // are of `type`, they get one buffer, as those of a fixed type; null: they differ. Throws
  // Starved. Then reserve() follows for each sample.
  void begin_whole(int slot, const TensorType* type, HostPool& pool);
  size_t need_of_whole(int slot, const TensorType& type) const;  // what that acquires, in bytes

  const std::vector<View>& views(int slot) const { return memory_[slot].views; }  // by sample
  const View& view(int slot, int i) const { return views(slot)[i]; }
  // A value that was fed, or whose slot a stage has filled.
  const View& host_view(const Ref& value, int i) const;
  // These samples of such a value. They stay as long as the result lives.
  HostBatch host_batch(const Ref& value, std::span<const int> samples) const;

  // Makes batches of the slots of all stages up to this one, again for each later stage. Requires:
  // nothing reads or writes these slots meanwhile if has_new_gaps().
  void collect(const Samples& samples, int stage);
  // Whether samples were lost since the slots were collected, so that bytes will be moved.
  bool has_new_gaps(const Samples& samples) const;
  const Batch& batch(int slot) const { return batches_[slot]; }  // as it was collected last
  // Lets buffers that were fed count among the batches.
  void take_over_fed(HostPool& pool);
  void drop_batches();  // as if nothing had been collected
  size_t bytes() const;

 private:
  struct SlotMemory {
    std::shared_ptr<Buffer> whole;
    TensorType type;  // of the samples for which `whole` has room
    std::vector<std::shared_ptr<Buffer>> own;  // by sample
    std::vector<View> views;
    // If `whole` is what was fed: its room in the pool of batches.
    std::shared_ptr<void> room;
  };
  const FedBatch* fed_for(int node) const;
  size_t& claimed(int i, int stage) {
    return claimed_[static_cast<size_t>(i) * static_cast<size_t>(plan_.stage_count()) +
                    static_cast<size_t>(stage)];
  }
  // Whether this is the slot of its value, and not that of an output that is named again.
  bool is_first(int slot) const { return plan_.slot_of(plan_.slot(slot).from) == slot; }
  bool may_take_fed(int slot) const;
  TensorType type_of(int slot) const;
  std::optional<int64_t> fixed_bytes(size_t slot) const;
  Batch collect_slot(SlotMemory& memory, const Slot& slot, const Samples& samples);

  const Plan& plan_;
  const std::shared_ptr<const FedStep> fed_;
  const int64_t size_;  // number of samples
  const ErrorPolicy error_policy_;
  const size_t limit_;  // bytes that all batches may take
  std::vector<size_t> claimed_;  // bytes, by sample and stage
  int64_t collected_ = -1;  // how many samples were made when slots were collected
  std::vector<SlotMemory> memory_;
  std::vector<Batch> batches_;  // by slot
};

}  // namespace stoker
