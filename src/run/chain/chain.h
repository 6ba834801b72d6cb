// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// One sample's way through the chain: arguments, shapes, demand and passes. Both executors use it,
// the simple one without rewrites. One per worker; one thread at a time.
#pragma once
#include "run/chain/device_task.h"
#include "run/chain/node_times.h"
#include "run/chain/picture.h"
#include "run/plan/plan.h"

namespace stoker {

// A sample that could not be made, and the operator that failed.
struct SampleFailure {
  std::string op, instance, where, message;
  int64_t offset = -1;
  std::string source;
  Identity who;
  int64_t index = 0;  // in the lead reader's store
  int in_batch = 0;  // -1: the whole batch failed, in an operator that sees all of it
};

// Note [What is judged]
// A damaged sample has to be bad under every executor and rewrite, or under none. So what decoders
// judge does not follow from what they make (Note [Judged windows], codec/codec.h). It is what
// demand finds from the outputs of the graph and from what later stages read, through all nodes,
// wherever they run. Where demand is not switched off and all nodes run on the CPU, that is what is
// made as well. Elsewhere demand is found twice.
class Chain {
 public:
  // Requires: plan outlives this.
  Chain(const Plan& plan, uint64_t seed, Arena& arena, NodeTimes& times);
  ~Chain();

  // Samples are made with these rewrites from now on. Requires: the plan has each of them as well.
  void use(const Rewrites& rewrites);
  // Begins a stage of a sample. Forgets the sample before. `origins`: by source of the plan; they
  // stay valid until the next begin(). Requires: use() was called.
  void begin(std::span<const Origin> origins, int stage);
  // Forgets the sample, so that its arena may be trimmed.
  void forget();
  // Makes this node the one that node() names, for messages about what follows.
  void at(int node) { node_ = node; }
  // Gives what was read of a reader's sample. It must stay valid until the next begin().
  void give_bytes(int reader, int64_t index, std::span<const io::Part> parts);
  // Gives a value that the stage takes from elsewhere: fed by the user, or made in an earlier
  // stage. It must stay valid until the next begin().
  void give(const Ref& value, const View& sample);
  // The same for a value that stays on the device.
  void give_type(const Ref& value, const TensorType& type);
  // The same for a value that was not made for this sample.
  void give_none(const Ref& value) { states_[value.node].done = true; }
  // Finds all shapes, and runs what decides them. Throws what operators throw; node() then tells
  // which operator it was.
  void infer();
  // Whether this stage runs the node for this sample, so that its outputs will be there. Requires:
  // infer() was called.
  bool is_active(int node) const { return states_[node].is_active; }
  // The type of a slot that this stage fills.
  TensorType slot_type(int slot) const;
  // Says where a slot's value goes. Requires: `v` is of the slot's type, dense, and overlaps no
  // other.
  void set_destination(int slot, const View& v) { destinations_[slot] = v; }
  // Says where pictures for the device go from now on.
  void set_shelf(PictureShelf& shelf) { shelf_ = &shelf; }
  // Finds the demand and does all the work. Then every slot's destination is filled, and every
  // picture for the device is on the shelf. Requires: a shelf, if the plan has mixed nodes.
  void run();

  // The device stage's part for this sample. Requires: a device node; infer() was called, run() was
  // not. Throws what operators throw.
  DeviceTask device_task(int node);

  int node() const { return node_; }  // the node at work, for messages
 private:
  // Windows by output.
  struct Windows {
    std::vector<Window> of;
    std::vector<char> has;
  };
  struct State {
    // With this sample's arguments: one for all frames or, where an argument has a value for each
    // frame, one for each.
    std::vector<const Operator*> ops;
    std::vector<TensorType> inputs, types;  // types: of whole values, with frames
    std::vector<View> views;  // by output; null until run
    std::vector<View> targets;  // by output: where it goes; null for scratch memory
    Windows wanted;  // what is made
    Windows judged;  // what must be sound; unused where that is `wanted`
    std::vector<Block> blocks;
    Kept kept;
    std::span<const io::Part> parts;  // of a reader: what was read, of the sample at `index`
    int64_t index = 0;
    bool unfold = false, done = false, is_active = true;
    size_t taken = 0;  // of a merge: the input that it gives

    const Operator& op(int64_t frame = 0) const { return *DeviceTask::of_frame(ops, frame); }
    bool is_per_frame() const { return ops.size() > 1; }
  };

  const Plan& plan_;
  Rewrites rewrites_;
  uint64_t seed_;
  Arena& arena_;
  std::span<const Origin> origins_;
  int stage_ = 0;
  std::vector<State> states_;
  std::vector<View> destinations_;
  std::vector<Operator*> copies_;  // in the arena; they have to be destroyed
  std::vector<View> views_, frame_views_, made_;
  std::vector<Block> pass_;
  std::vector<Window> needed_;
  Windows State::* judged_ = nullptr;  // see Note [What is judged]
  NodeTimes& times_;
  PictureShelf* shelf_ = nullptr;
  int node_ = -1;

  Chance chance(int node) const;
  const Origin& origin(int node) const { return origins_[plan_.source_of(node)]; }
  int64_t frames_of(int node) const;
  void resolve(int node);
  void add_copy(int node, int64_t frame);
  bool has_frames(int node, size_t link) const;
  static void agree_in_layout(const Layout& all, TensorType& side);
  void read_sample(int node);
  void infer_node(int node);
  void check_output_count(int node) const;
  bool holds(const Guard& guard) const;
  void run_early(int node);
  void lower_node(int node, int64_t frame);
  void lower_frame(int node, int64_t frame);
  void find_judged();
  void demand_nodes(Windows State::* which, bool narrows);
  void demand_node(int node, Windows State::* which, bool narrows);
  void demand_taken(int node, Windows State::* which);
  void demand_bytes(int node, Windows State::* which);
  bool is_wanted(int node, Windows State::* which) const;
  void want(const Ref& r, const Window& w, Windows State::* which);
  void want_all(const Ref& r, Windows State::* which);
  std::span<const Window> judged(int node) const;
  View destination(int node, int output);
  void run_node(int node);
  void run_sample(int node);
  void run_alias(int node);
  void run_mixed(int node);
  std::vector<HostValue> host_values(int node) const;
  void want_on_device();
  void run_pass(int head, int tail);
  void deliver();
  TensorType input_type(int node, size_t i) const;
  bool is_merge(int node) const { return plan_.checked(node).type->is_merge; }
  Ref taken(int node) const { return *plan_.node(node).inputs[states_[node].taken]; }
};

}  // namespace stoker
