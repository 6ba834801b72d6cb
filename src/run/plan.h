// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What will be done, decided once: which nodes run when, which form one pass, who reads what. Immutable once made; thread-safe.
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

struct PlanNode {
  bool is_used = false;  // something leads from here to an output
  bool is_early = false;  // its value is needed before shapes are known, on the CPU
  bool is_on_device = false;  // its value is needed on the device; may be both
  // The one consumer that continues this node's pass, -1: the result is materialised.
  int fuses_into = -1;
  std::unique_ptr<Source> source;  // of a reader
  int mixed = -1;  // its number among the used mixed nodes
  int reader = -1;  // its number among the used readers
  int input = -1;  // its number among the used inputs
  std::vector<int> output_slots;  // by output: which slot of the chain it fills, -1 none
};

// Every extent is known.
bool is_fixed(const TensorType& type);

// A value that leaves the per-sample chain: an output of the graph, or an input of the device stage.
struct Slot {
  Ref from;
  TensorType type;  // extents of -1: ragged
  bool is_fixed() const { return stoker::is_fixed(type); }
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

  // Readers by number; the lead one decides positions. Without a reader there is one endless order of the pipeline's own.
  int reader_count() const { return static_cast<int>(readers_.size()); }
  int reader_node(int r) const { return readers_[r]; }
  const Source& source(int r) const { return *nodes_[readers_[r]].source; }
  int order_count() const { return static_cast<int>(orders_.size()); }
  const io::Order& order(int r) const { return orders_[r]; }
  // The i-th sample of this shard's batch in the step at `cursor`.
  io::Place place(int r, int64_t cursor, int64_t i) const {
    return orders_[r].at(cursor, i + own_offset_);
  }
  int lead() const { return lead_; }
  // Of a sample of the lead reader; "" without a reader.
  std::string name(int64_t index) const override;

  // What the chain delivers per sample, in this order; then, per graph output, the slot it takes or the device node.
  const std::vector<Slot>& slots() const { return slots_; }
  // What the device stage copies to the host: each an output of its own.
  const std::vector<Slot>& host_copies() const { return host_copies_; }
  // An output's number among these, -1 none.
  int host_copy(size_t output) const { return host_copy_of_[output]; }
  const std::vector<int>& device_nodes() const { return device_nodes_; }
  // Nodes that begin on the CPU and end on the device.
  const std::vector<int>& mixed_nodes() const { return mixed_nodes_; }
  bool has_device_stage() const { return !device_nodes_.empty() || !mixed_nodes_.empty(); }
  int64_t batch_size() const { return options_.batch_size; }
  const Rewrites& rewrites() const { return options_.rewrites; }

  std::string str() const;  // in words, for people

 private:
  void mark_used();
  void mark_early(int node);
  void open_readers();
  void find_passes();
  void find_slots();
  int add_slot(Ref from);
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
  std::vector<Slot> slots_, host_copies_;
  std::vector<int> host_copy_of_;  // by output
};

}  // namespace stoker
