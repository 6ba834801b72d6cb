// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// One sample's way through the operators on the CPU: arguments, shapes, demand and passes. Each
// worker has one. The simple executor uses it without rewrites.
#pragma once
#include "base/graph_fault.h"
#include "run/chain/node_times.h"
#include "run/chain/wanted.h"

namespace stoker {

// A sample that could not be made, and the operator that failed.
struct SampleFailure {
  std::string op, instance, where, message;
  int64_t offset = -1;
  std::string source;
  Identity who;
  int64_t index = 0;  // in the lead reader's store
  Fault fault = Fault::kValue;
  int in_batch = 0;  // -1: the whole batch failed, in an operator that sees all of it
};

// What a reader found in an annotation of its picture, if anything.
using Annotated = std::optional<AnnotatedPicture>;

struct SampleRemark {
  SampleFailure found;
  const char* advice;  // Remark::advice
};

// Note [What is judged]
// A damaged sample has to be bad under every executor and rewrite, or under none. So what decoders
// judge does not follow from what they make (Note [Judged windows], codec/codec.h). It is what
// demand finds from the outputs of the graph and from what later stages read, through all nodes,
// wherever they run. If demand is on and all nodes run on the CPU, that is also what is made.
// Otherwise demand is found twice.
class Chain {
 public:
  // Requires: all of these outlive this.
  Chain(const Plan& plan, uint64_t seed, Arena& arena, NodeTimes& times);

  // Decoders look for indexes here from now on. Requires: it outlives this, or is null.
  void use(EntropyIndexes* jpeg_indexes) { jpeg_indexes_ = jpeg_indexes; }
  // Samples are made with these rewrites from now on. Requires: the plan has them as well.
  void use(const Rewrites& rewrites);
  // Chance follows from this seed from now on.
  void use_seed(uint64_t seed) { seed_ = seed; }
  // Begins a stage of a sample, and forgets the sample before. `origins`: by source of the plan.
  // `annotated`: by reader; the first stage fills it. `take_picture` takes pictures for the device.
  // All must stay valid until the next begin(). Requires: use() was called.
  void begin(std::span<const Origin> origins, std::span<Annotated> annotated, int stage,
             TakePicture take_picture);
  // Sets node(), for messages about what follows.
  void at(int node) { node_ = node; }
  // What was read of a reader's sample. It must stay valid until the next begin().
  void give_bytes(int reader, int64_t index, std::span<const io::Part> parts);
  // A value that the user fed or an earlier stage made. It must stay valid until the next begin().
  void give_value(const Ref& value, const View& sample);
  // A value that stays on the device.
  void give_type(const Ref& value, const TensorType& type);
  // A value that was not made for this sample.
  void give_none(const Ref& value) { states_[value.node].done = true; }
  // Finds all shapes, and runs what decides them. Throws what operators throw; node() then tells
  // which one it was.
  void infer();
  // Whether this stage runs the node for this sample. Requires: infer() was called.
  bool is_active(int node) const { return states_[node].is_active; }
  // A value that infer() has made already; else without data.
  const View& made(const Ref& value) const { return states_[value.node].views[value.output]; }
  // The type of a slot that this stage fills.
  const TensorType& slot_type(int slot) const { return type_of(plan_.slot(slot).from); }
  // Says where a slot's value goes. Requires: `v` has the slot's type, is dense, and overlaps no
  // other.
  void set_destination(int slot, const View& v) { destinations_[slot] = v; }
  // Finds the demand and runs the nodes. Then every slot's destination is filled, and every picture
  // for the device is taken.
  void run_stage();

  // The device stage's part for this sample, between infer() and run_stage(). Throws what operators
  // throw. Requires: a device node.
  DeviceTask device_task(int node);

  int node() const { return node_; }  // the node at work, for messages
  // What this stage's nodes have found so far of this sample, with the node of each.
  const std::vector<std::pair<int, Remark>>& remarks() const { return remarks_; }

 private:
  const Plan& plan_;
  Rewrites rewrites_;
  uint64_t seed_;
  Arena& arena_;
  std::span<const Origin> origins_;
  std::span<Annotated> annotated_;
  std::vector<std::pair<int, Remark>> remarks_;
  int stage_ = 0;
  std::vector<NodeState> states_;
  Wanted wanted_;  // what is made
  Wanted also_judged_;  // what must be sound, where that is not `wanted_`
  Wanted* judged_ = nullptr;  // one of these: see Note [What is judged]
  std::vector<View> destinations_;
  std::vector<View> views_, frame_views_, made_;
  std::vector<Block> pass_;
  NodeTimes& times_;
  EntropyIndexes* jpeg_indexes_ = nullptr;
  TakePicture take_picture_;
  int node_ = -1;

  const OperatorType& type(int node) const { return *plan_.checked(node).type; }
  View& view(const Ref& r) { return states_[r.node].views[r.output]; }
  const View& view(const Ref& r) const { return states_[r.node].views[r.output]; }
  const TensorType& type_of(const Ref& r) const { return states_[r.node].types[r.output]; }
  const Origin& origin(int node) const { return origins_[plan_.source_of(node)]; }
  Annotated annotated(int node) const;
  void keep(int node, std::vector<Remark>& remarks);
  Chance chance(int node) const { return plan_.chance(node, seed_, origin(node).who); }
  int64_t frames_of(int node) const;
  void resolve(int node);
  void set_arguments(Operator& op, int node, int64_t frame) const;
  bool has_frames(int node, size_t link) const;
  void read_sample(int node);
  bool holds(const Guard& guard) const;
  void infer_node(int node);
  TensorType input_type(int node, size_t i) const;
  void see_inputs(int node, size_t first = 0);
  void lower_node(int node, int64_t frame);
  void lower_frame(int node, int64_t frame);
  void infer_frame(int node, int64_t frame);
  void run_early(int node);
  void take_types(int node, const char* call);
  void find_judged();
  std::span<const Window> judged(int node) const;
  View destination(int node, int output);
  void run_node(int node);
  void run_sample(int node);
  void run_alias(int node);
  void run_mixed(int node);
  void run_line(int head, int tail);
  std::vector<HostValue> host_values(int node) const;
  void want_on_device();
  void deliver();
};

}  // namespace stoker
