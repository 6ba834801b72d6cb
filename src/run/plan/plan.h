// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What will be done, decided once: which nodes run when, which form one pass, and which reads what.
#pragma once
#include "batch/batch.h"
#include "graph/graph.h"
#include "io/order/order.h"

namespace stoker {

// Rewrites never change the outputs. Each can be switched off.
struct Rewrites {
  bool demand = true;  // make only the windows that are read
  bool fuse = true;  // run lowered operators in a row as one pass
  bool operator==(const Rewrites&) const = default;
};

// Note [Stages]
// A step is made in stages. A stage begins when the one before it has ended for all samples of the
// step. Most graphs have one stage, a chain, and with a device a second one.
//
// - kChain runs the operators of each sample, one ticket a sample. For those on a device it finds
//   the types and arguments.
// - kDevice enqueues, on the device, all that was decided in the stages before it.
// - kBatch runs one operator that sees all samples made so far. For an operator on a device it only
//   finds the types; the kDevice stage behind it runs it, with the same samples.
// - kPython calls one function of the user's with all samples made so far, on the pipeline's own
//   thread, in the order of the iterations.
//
// A node comes as early as its inputs allow. It has to wait for another stage if it reads what a
// kBatch or kPython stage makes, or if it reads on the CPU what a device makes, which is then
// copied to the host (Plan::find_levels). A stage takes values of earlier stages from their slots
// (Stage::carried). After a whole batch was seen, a sample that fails is not replaced:
// Plan::is_behind_batch.
enum class StageKind : uint8_t { kChain, kDevice, kBatch, kPython };

struct Carried {
  Ref from;
  int slot;  // where it lies on the host; -1: only its type is needed there
};

struct Stage {
  StageKind kind;
  // A node on the device, or a mixed one, is in two stages: the one that finds its types, and the
  // kDevice stage that runs it.
  std::vector<int> nodes;
  std::vector<Carried> carried;
  // A later stage has to wait for what this kDevice stage copies to the host.
  bool is_awaited = false;
};

struct PlanOutput {
  int slot = -1;  // the slot that its stage fills with it, or -1
  int host_copy = -1;  // the first slot with its copy on the host, or -1
  int reads_on_device = 0;  // how often a device node reads it there
  int last_device_stage = -1;  // that needs it on the device; INT_MAX: it is an output there
  bool is_copy_read = false;  // a node on the CPU reads its copy
};

struct PlanNode {
  int level = 0;  // decides the order of stages
  int stage = -1;  // finds its types and, on the CPU, makes its values; -1: it is not used
  int device_stage = -1;  // of a node that ends on the device: the kDevice stage that runs it
  bool is_used = false;  // an output of the graph depends on it
  bool is_early = false;  // its value is needed on the CPU before shapes are known
  // A GPU node's value is needed on the device. Such a node may be early as well.
  bool is_needed_on_device = false;
  // The one consumer that continues this node's pass; -1: its result goes to memory.
  int fuses_into = -1;
  std::shared_ptr<const SampleStore> store;  // of a reader, else null; equal readers share one
  std::vector<char> asked;  // of a reader, by output: whether something reads it
  // Its number among the used nodes that are mixed, on the device or fed by the user, or -1.
  int mixed_number = -1, device_number = -1, input_number = -1;
  int source = 0;  // see Plan::source_of
  int joint = -1;  // its number among those that make a sample of several
  std::vector<PlanOutput> outputs;
};

bool is_fixed(const TensorType& type);

// A value in host memory: it becomes an output of the graph, goes to the device or comes from it,
// or a later stage reads it. An output that is named again has another slot with the same value,
// because outputs never share bytes.
struct Slot {
  Ref from;
  TensorType type;  // an extent of -1 varies from sample to sample
  bool is_fixed() const { return stoker::is_fixed(type); }
};

struct PlanOptions {
  int64_t batch_size = 1;
  int shard_id = 0, num_shards = 1;  // for a pipeline without a reader
  Rewrites rewrites;
};

class Plan {
 public:
  // Throws GraphError.
  Plan(const Graph& graph, const PlanOptions& options) : Plan(check(graph), options) {}

  // What is done. Its outputs are the variants of those that were given.
  const Graph& graph() const { return graph_; }
  // By output that was given: Note [Sides that differ] (graph/graph.h).
  struct PlanVariant {
    size_t output;  // its number in graph()
    std::vector<Side> sides;
  };
  std::span<const std::vector<PlanVariant>> variants() const { return variants_; }
  // The node whose source names the samples of an output of graph(). Variants have one in common.
  int named_by(size_t output) const { return named_by_[output]; }
  int size() const { return static_cast<int>(nodes_.size()); }
  const Node& node(int i) const { return graph_.nodes[i]; }
  const CheckedNode& checked(int i) const { return checked_[i]; }
  const PlanNode& planned(int i) const { return nodes_[i]; }
  // With its constant arguments. The plan has to outlive it.
  std::shared_ptr<const Operator> own_operator(int i) const {
    return {std::shared_ptr<void>(), checked_[i].op.get()};
  }
  Chance chance(int i, uint64_t seed, const Identity& who) const {
    const CheckedNode& c = checked_[i];
    return Chance(c.seed(seed), c.key, who.epoch, who.position, who.child);
  }

  // Inputs are the nodes that the user feeds.
  int input_count() const { return static_cast<int>(inputs_.size()); }
  int input_node(int k) const { return inputs_[k]; }

  // The lead reader decides the positions. Without a reader there is one endless order.
  int reader_count() const { return static_cast<int>(readers_.size()); }
  int reader_node(int r) const { return readers_[r]; }
  const SampleStore& store(int r) const { return *nodes_[readers_[r]].store; }
  std::vector<std::string> warnings() const;  // of the stores, with the names of their readers
  int order_count() const { return static_cast<int>(orders_.size()); }
  const io::Order& order(int r) const { return orders_[r]; }
  // The i-th sample of this shard's batch in the step at `cursor`.
  io::SampleRef sample_at(int r, int64_t cursor, int64_t i) const {
    return orders_[r].at(cursor, i + own_offset_);
  }
  int lead() const { return lead_; }
  std::vector<int64_t> cursors_after(std::vector<int64_t> cursors, int64_t steps) const {
    for (size_t r = 0; r < cursors.size(); ++r) cursors[r] = orders_[r].after(cursors[r], steps);
    return cursors;
  }

  // Sources are the readers, then the inputs, then one for what comes from neither, then the nodes
  // that make a sample of several (Joins, op/operator_type.h). A node's source is the first to
  // which its inputs lead, or else the lead reader.
  struct Joint {
    int first = 0;  // the source that decides its chance
    std::vector<int> of_inputs;  // the source of each input
  };
  std::span<const Joint> joints() const { return joints_; }
  int source_of_nothing() const { return reader_count() + input_count(); }
  int source_of_joint(int j) const { return source_of_nothing() + 1 + j; }
  int source_count() const { return source_of_joint(static_cast<int>(joints_.size())); }
  int source_of(int node) const { return nodes_[node].source; }

  int stage_count() const { return static_cast<int>(stages_.size()); }
  const Stage& stage(int s) const { return stages_[s]; }
  bool calls_user_code() const {
    return std::ranges::count(stages_, StageKind::kPython, &Stage::kind) > 0;
  }
  int last_chain() const { return last_chain_; }
  bool is_last(int stage) const { return stage + 1 == stage_count(); }
  // Whether a stage before this one saw a whole batch.
  bool is_behind_batch(int stage) const { return stage > first_batch_; }
  int stage_of(const Ref& value) const { return nodes_[value.node].stage; }

  // Slots are in host memory and hold one value a sample. First come those that stages on the CPU
  // fill, then those that kDevice stages copy to the host.
  int slot_count() const { return static_cast<int>(slots_.size()); }
  const Slot& slot(int k) const { return slots_[k]; }
  bool is_host_copy(int slot) const { return slot >= delivered_; }
  // The slot that a graph output takes; -1: the output stays on the device.
  int slot_of_output(size_t output) const { return slot_of_output_[output]; }
  // Requires: a stage on the CPU fills a slot with this value.
  int slot_of(const Ref& value) const { return output(value).slot; }
  // The slot from which a node on the CPU reads the value, or -1.
  int host_slot(const Ref& value) const {
    return output(value).is_copy_read ? host_copy(value) : slot_of(value);
  }
  bool has_copied_outputs() const { return has_copied_outputs_; }
  // Whether the value is needed on the device in a later stage, or as an output.
  bool is_needed_after(int stage, const Ref& value) const {
    return output(value).last_device_stage > stage;
  }
  bool ends_on_device(const Ref& value) const {
    return ends_on_device(value.node) && !is_inferred(value);
  }
  // Whether the value is made on the CPU and exactly one device node reads it.
  bool goes_up_once(const Ref& value) const {
    return !ends_on_device(value) && output(value).reads_on_device == 1;
  }
  int host_copy(const Ref& value) const { return output(value).host_copy; }
  const std::vector<int>& device_nodes() const { return device_nodes_; }
  // Nodes that begin on the CPU and end on the device.
  const std::vector<int>& mixed_nodes() const { return mixed_nodes_; }
  bool has_device_stage() const { return !device_nodes_.empty() || !mixed_nodes_.empty(); }
  int64_t batch_size() const { return options_.batch_size; }
  const Rewrites& rewrites() const { return options_.rewrites; }

  std::string str() const;  // for people to read

 private:
  Plan(CheckedGraph checked, const PlanOptions& options);
  bool ends_on_device(int node) const { return graph_.nodes[node].device != DeviceKind::kCpu; }
  bool is_inferred(const Ref& value) const {
    return checked_[value.node].is_inferred(value.output);
  }
  // A node reads a value: as an input, an argument or a condition.
  struct Read {
    int node;
    Ref from;
    bool is_value;  // it is needed on the CPU
    bool is_first;  // as the first input
    bool is_copy;  // it is made on the device and read on the host: see Note [Stages]
  };
  // Whether an earlier stage makes it. What the user feeds is at hand in every stage.
  bool is_carried(const Read& r) const {
    return stage_of(r.from) != nodes_[r.node].stage && nodes_[r.from.node].input_number < 0;
  }
  bool is_on_device(const Read& r) const {
    return nodes_[r.node].is_needed_on_device && !r.is_value;
  }
  void number_variants(const CheckedGraph& checked);
  void find_reads();
  void find_levels();
  void mark_used();
  void find_stages();
  void number_used();
  void open_readers();
  void find_sources();
  void find_passes();
  void find_slots();
  void find_host_copies();
  void find_uses();
  void find_asked();
  PlanOutput& output(const Ref& value) { return nodes_[value.node].outputs[value.output]; }
  const PlanOutput& output(const Ref& value) const {
    return nodes_[value.node].outputs[value.output];
  }
  int new_slot(const Ref& value);
  void add_slot(const Ref& value, int& slot);
  int slot_for_output(const Ref& value, int& slot);
  bool is_narrowed(int node) const;
  const char* stage_words(int node) const;
  std::string variants_in_words() const;

  Graph graph_;
  PlanOptions options_;
  std::vector<CheckedNode> checked_;
  std::vector<std::vector<PlanVariant>> variants_;
  std::vector<int> named_by_;
  std::vector<PlanNode> nodes_;
  std::vector<Read> reads_;  // in the order of the nodes; of those that are used
  std::vector<int> readers_, inputs_, device_nodes_, mixed_nodes_;
  std::vector<Joint> joints_;
  std::vector<io::Order> orders_;
  int64_t own_offset_ = 0;  // where this shard's samples begin in the pipeline's own order
  int lead_ = 0;
  std::vector<Slot> slots_;
  int delivered_ = 0;  // slots that the chains fill
  std::vector<int> slot_of_output_;
  bool has_copied_outputs_ = false;
  std::vector<Stage> stages_;
  int last_chain_ = 0;
  int first_batch_ = INT_MAX;  // the first kBatch or kPython stage
};

}  // namespace stoker
