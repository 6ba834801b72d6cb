// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What will be done, decided once: which nodes run when, which form one pass, who reads what.
// Immutable once made; thread-safe.
#pragma once
#include "batch/batch.h"
#include "graph/graph.h"
#include "io/order.h"

namespace stoker {

// Rewrites that never change a byte. Each can be switched off.
struct Rewrites {
  bool demand = true;  // decode only what is looked at
  bool fuse = true;  // runs of lowered operators are one pass
};

// Note [Rounds]
// Work goes back and forth between workers and device. A round is the chain's part for every
// sample, then the device's part for the batch. What a node on the CPU looks at of the device's is
// copied to the host, and the node belongs to a later round: the chain begins anew with what it
// takes from the rounds before. Most graphs have one round.
struct PlanNode {
  // Who looks at an output on the device.
  struct DeviceUse {
    int nodes = 0;
    int last_round = -1;  // one more than there are: it is an output of the graph there
  };
  int round = 0;
  bool is_used = false;  // something leads from here to an output
  bool is_early = false;  // its value is needed before shapes are known, on the CPU
  // Of a GPU node: its value is needed there. It may be early too.
  bool is_needed_on_device = false;
  // The one consumer that continues this node's pass, -1: the result is materialised.
  int fuses_into = -1;
  std::unique_ptr<SampleStore> store;  // of a reader
  // Its number among the nodes of that kind that are used, -1: it is none of them.
  int mixed_number = -1, device_number = -1, input_number = -1;
  std::vector<int> output_slots;  // by output: which slot of the chain it fills, -1 none
  std::vector<DeviceUse> device_uses;  // by output
};

// Every extent is known.
bool is_fixed(const TensorType& type);

// A value that leaves the per-sample chain: an output of the graph, for the device stage, or for a
// later round.
struct Slot {
  Ref from;
  TensorType type;  // extents of -1: ragged
  bool is_fixed() const { return stoker::is_fixed(type); }
};

// What the chain of a round takes from the rounds before.
struct Carried {
  Ref from;
  int slot;  // that holds it; -1: it stays on the device, and only its type is asked for
};

struct PlanOptions {
  int64_t batch_size = 1;
  int shard_id = 0, num_shards = 1;  // of a pipeline without a reader
  Rewrites rewrites;
};

class Plan : public Provenance {
 public:
  // Throws GraphError.
  Plan(Graph graph, const PlanOptions& options);

  const Graph& graph() const { return graph_; }
  int size() const { return static_cast<int>(nodes_.size()); }
  const Node& node(int i) const { return graph_.nodes[i]; }
  const CheckedNode& checked(int i) const { return checked_[i]; }
  const PlanNode& planned(int i) const { return nodes_[i]; }

  // Inputs by number: nodes that the user feeds.
  int input_count() const { return static_cast<int>(inputs_.size()); }
  int input_node(int k) const { return inputs_[k]; }

  // Readers by number; the lead one decides positions. Without a reader there is one endless order
  // of the pipeline's own.
  int reader_count() const { return static_cast<int>(readers_.size()); }
  int reader_node(int r) const { return readers_[r]; }
  const SampleStore& store(int r) const { return *nodes_[readers_[r]].store; }
  int order_count() const { return static_cast<int>(orders_.size()); }
  const io::Order& order(int r) const { return orders_[r]; }
  // The i-th sample of this shard's batch in the step at `cursor`.
  io::SampleRef sample_at(int r, int64_t cursor, int64_t i) const {
    return orders_[r].at(cursor, i + own_offset_);
  }
  int lead() const { return lead_; }
  // Of a sample of the lead reader; "" without a reader.
  std::string name(int64_t index) const override;

  int round_count() const { return static_cast<int>(carried_.size()); }
  int round_of(const Ref& value) const { return nodes_[value.node].round; }
  const std::vector<Carried>& carried(int round) const { return carried_[round]; }

  // What is in host memory, per sample: first what the chains deliver, then what the device stage
  // copies there.
  int slot_count() const { return static_cast<int>(slots_.size()); }
  const Slot& slot(int k) const { return slots_[k]; }
  bool is_host_copy(int slot) const { return slot >= delivered_; }
  // The one that an output of the graph takes; -1: it stays on the device.
  int slot_of_output(size_t output) const { return slot_of_output_[output]; }
  // Requires: the chain delivers it.
  int slot_of(const Ref& value) const { return nodes_[value.node].output_slots[value.output]; }
  bool has_copied_outputs() const;
  // On the device, in rounds after this one or as an output.
  bool is_needed_after(int round, const Ref& value) const {
    return device_use(value).last_round > round;
  }
  // Of the CPU's, and one device node looks at it.
  bool goes_up_once(const Ref& value) const {
    return !ends_on_device(value.node) && device_use(value).nodes == 1;
  }
  bool has_host_copy(const Ref& value) const { return host_copy(value) >= 0; }
  const std::vector<int>& device_nodes() const { return device_nodes_; }
  // Nodes that begin on the CPU and end on the device.
  const std::vector<int>& mixed_nodes() const { return mixed_nodes_; }
  bool has_device_stage() const { return !device_nodes_.empty() || !mixed_nodes_.empty(); }
  int64_t batch_size() const { return options_.batch_size; }
  const Rewrites& rewrites() const { return options_.rewrites; }

  std::string str() const;  // in words, for people

 private:
  bool ends_on_device(int node) const { return graph_.nodes[node].device != DeviceKind::kCpu; }
  const PlanNode::DeviceUse& device_use(const Ref& value) const {
    return nodes_[value.node].device_uses[value.output];
  }
  // use(from, is_value) for all inputs and arguments; values are needed on the CPU.
  template <class Use>
  void for_each_input(int node, const Use& use) const;
  bool reads_host_copy(int node, const Ref& from, bool is_value) const;
  void find_rounds();
  void mark_used();
  void number_used();
  void mark_early(int node);
  void open_readers();
  void find_passes();
  void find_slots();
  void find_host_copies();
  void find_device_uses();
  void find_carried();
  int add_slot(Ref from);
  bool is_host_copy_read(const Ref& value) const;
  int host_copy(const Ref& value) const;  // its slot, -1 none
  bool is_narrowed(int node) const;
  std::string early_words(int node) const;

  Graph graph_;
  PlanOptions options_;
  std::vector<CheckedNode> checked_;
  std::vector<PlanNode> nodes_;
  std::vector<int> readers_, inputs_, device_nodes_, mixed_nodes_;
  std::vector<io::Order> orders_;
  int64_t own_offset_ = 0;  // of this shard in the step, where the order is the pipeline's own
  int lead_ = 0;
  std::vector<Slot> slots_;
  int delivered_ = 0;  // slots that the chains deliver
  std::vector<int> slot_of_output_;
  std::vector<std::vector<Carried>> carried_;  // by round
};

}  // namespace stoker
