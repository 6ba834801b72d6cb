// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Which windows of its nodes' outputs a stage has to give for one sample. What is wanted of a node
// decides what it reads, so this goes backwards.
#pragma once
#include "run/chain/device_task.h"
#include "run/plan/plan.h"

namespace stoker {

// What is known of a node for the sample at work.
struct NodeState {
  // With this sample's arguments: one for all frames, or one for each.
  std::vector<std::shared_ptr<const Operator>> ops;
  std::vector<TensorType> inputs, types;  // types: of whole values, with frames
  std::vector<View> views;  // by output; null until run
  std::vector<View> targets;  // by output: where it goes; null for scratch memory
  std::vector<Block> blocks;
  Kept kept;
  std::span<const io::Part> parts;  // of a reader: what was read, of the sample at `index`
  int64_t index = 0;
  bool unfold = false, done = false, is_active = true;
  size_t taken = 0;  // of a merge: the input that it gives

  const Operator& op(int64_t frame = 0) const { return *DeviceTask::of_frame(ops, frame); }
  bool is_per_frame() const { return ops.size() > 1; }
};

class Wanted {
 public:
  Wanted(const Plan& plan, std::vector<NodeState>& states);  // requires: both outlive this
  void clear();  // nothing is wanted any more

  // Ignores what needs no run.
  void add(const Ref& value, const Window& window);
  void add_all(const Ref& value);
  // Adds what the nodes of a stage read for what is wanted of them. `narrows`: no more than they
  // need. The input of a merge or an alias goes where its output goes.
  void find(int stage, bool narrows);

  bool has(const Ref& value) const { return has_[value.node][value.output]; }
  bool has_any(int node) const;
  // By output. Requires: has().
  const std::vector<Window>& of(int node) const { return windows_[node]; }

 private:
  void find_inputs(int node, bool narrows);
  void find_given(int node);

  const Plan& plan_;
  std::vector<NodeState>& states_;
  std::vector<std::vector<Window>> windows_;  // by node, by output
  std::vector<std::vector<char>> has_;
  std::vector<Window> needed_;
};

}  // namespace stoker
