// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// One sample's way through the chain: arguments, shapes, demand, passes. Both executors use it, the
// simple one without rewrites. One per worker; one thread at a time.
#pragma once
#include <atomic>

#include "run/chain/device_task.h"
#include "run/chain/picture.h"
#include "run/plan/plan.h"

namespace stoker {

// A sample that could not be made, and which operator said so.
struct SampleFailure {
  std::string op, instance, where, message;
  int64_t offset = -1;
  std::string source;
  Identity who;
  int64_t index = 0;  // in the lead reader's store
  int in_batch = 0;
};

class Chain {
 public:
  // Requires: plan outlives this.
  Chain(const Plan& plan, const Rewrites& rewrites, uint64_t seed, Arena& arena);
  ~Chain();

  // The sample to make, and which round of it. Forgets the one before.
  void begin(const Identity& who, int round);
  // What is to come is this reader's doing, for messages.
  void at_reader(int reader) { node_ = plan_.reader_node(reader); }
  // The bytes that a reader's sample is made of; they must stay until the next begin().
  void give_bytes(int reader, int64_t index, std::span<const uint8_t> bytes);
  // What the round takes from elsewhere: fed by the user, or made in rounds before. It must stay
  // until the next begin().
  void give(const Ref& value, const View& sample);
  // The same of what stays on the device.
  void give_type(const Ref& value, const TensorType& type);
  // Shapes of everything; runs what decides them. Throws what operators throw: node() then tells
  // which.
  void infer();
  // Of a slot that this round fills.
  TensorType slot_type(int slot) const;
  // Where a slot's value goes. Requires: of the slot's type, dense, not overlapping another.
  void set_destination(int slot, const View& v) { destinations_[slot] = v; }
  // Where pictures for the device go, of samples from now on.
  void set_shelf(PictureShelf& shelf) { shelf_ = &shelf; }
  // Demand, then all the work. Every slot's destination is filled, every picture for the device is
  // on the shelf. Requires: a shelf, where the plan has mixed nodes.
  void run();

  // The device stage's part for this sample. Requires: infer() was called, run() was not; a device
  // node. Throws what operators throw.
  DeviceTask device_task(int node);

  int node() const { return node_; }  // at work, for messages
  // Time spent in a node, its shapes included (a pass counts for its first), in ns. Any thread may
  // ask.
  int64_t node_ns(int node) const { return node_ns_[node].load(std::memory_order_relaxed); }

 private:
  struct State {
    const Operator* op = nullptr;
    std::vector<TensorType> inputs, types;  // full, with frames
    std::vector<View> views;  // by output; null until run
    std::vector<Window> wanted;  // by output
    std::vector<char> has_wanted;
    std::vector<Block> blocks;
    bool per_frame = false, unfold = false, done = false;
  };

  const Plan& plan_;
  Rewrites rewrites_;
  uint64_t seed_;
  Arena& arena_;
  Identity who_;
  int round_ = 0;
  std::vector<State> states_;
  std::vector<View> destinations_;
  std::vector<Operator*> copies_;  // in the arena, to be destroyed
  std::vector<View> views_, frame_views_;
  std::vector<Block> pass_;
  std::vector<Window> needed_;
  std::unique_ptr<std::atomic<int64_t>[]> node_ns_;  // one writer
  PictureShelf* shelf_ = nullptr;
  int node_ = -1;

  void end_copies();
  Chance chance(int node) const;
  const Operator* resolve(int node, int64_t frame);
  void infer_node(int node);
  void run_early(int node);
  void lower_node(int node, int64_t frame);
  void lower_frame(int node, int64_t frame);
  void demand_node(int node);
  bool is_of_round(int node) const {
    return plan_.planned(node).is_used && plan_.planned(node).round == round_;
  }
  bool is_wanted(int node) const;
  void want(const Ref& r, const Window& w);
  View destination(int node, int output);
  void run_node(int node);
  void run_sample(int node);
  void run_mixed(int node);
  void want_on_device();
  void run_pass(int head, int tail);
  void deliver();
  TensorType input_type(int node, size_t i) const;
};

}  // namespace stoker
