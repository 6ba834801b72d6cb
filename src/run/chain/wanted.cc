// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/chain/wanted.h"

#include "kernels/fused/fused.h"

namespace stoker {

namespace {

Window frame_window(const Window& w) {
  return {View::without_first(w.begin), View::without_first(w.end)};
}

Window sequence_window(const Window& w, int64_t begin, int64_t end) {
  Window s{{begin}, {end}};
  for (int a = 0; a < w.begin.rank; ++a) s.begin.push_back(w.begin[a]), s.end.push_back(w.end[a]);
  return s;
}

}  // namespace

Wanted::Wanted(const Plan& plan, std::vector<NodeState>& states)
    : plan_(plan), states_(states), windows_(states.size()), has_(states.size()) {
  for (size_t i = 0; i < states.size(); ++i) {
    windows_[i].resize(states[i].views.size());
    has_[i].resize(states[i].views.size());
  }
}

void Wanted::clear() {
  for (auto& has : has_) std::fill(has.begin(), has.end(), 0);
}

bool Wanted::has_any(int node) const {
  return std::any_of(has_[node].begin(), has_[node].end(), [](char c) { return c; });
}

void Wanted::add(const Ref& value, const Window& window) {
  if (states_[value.node].done || plan_.checked(value.node).is_inferred(value.output)) return;
  Window& wanted = windows_[value.node][value.output];
  if (!std::exchange(has_[value.node][value.output], 1)) wanted = window;
  else wanted.include(window);
}

void Wanted::add_all(const Ref& value) {
  const NodeState& s = states_[value.node];
  if (!s.done) add(value, Window::all(s.types[value.output].shape));
}

void Wanted::find(int stage, bool narrows) {
  const std::vector<int>& nodes = plan_.stage(stage).nodes;
  for (auto i = nodes.rbegin(); i != nodes.rend(); ++i) {
    if (states_[*i].done || !has_any(*i)) continue;
    const OperatorType& type = *plan_.checked(*i).type;
    if (type.is_merge || type.is_alias) find_given(*i);
    else find_inputs(*i, narrows);
  }
}

void Wanted::find_inputs(int node, bool narrows) {
  const NodeState& s = states_[node];
  const OperatorType& type = *plan_.checked(node).type;
  std::vector<Window>& wanted = windows_[node];
  for (size_t k = 0; k < s.types.size(); ++k)
    if (!has_[node][k]) wanted[k] = Window::all(s.types[k].shape);
  needed_.clear();
  for (const TensorType& t : s.inputs) needed_.push_back(Window::all(t.shape));
  narrows = narrows && !s.is_per_frame() && !s.inputs.empty();
  if (narrows && type.lowers) {
    needed_[0] = demand(s.blocks, s.inputs[0], s.unfold ? frame_window(wanted[0]) : wanted[0]);
  } else if (narrows && !s.unfold && type.runs->demand) {
    Demand d{s.inputs, wanted, needed_};
    type.runs->demand(s.op(), d);
  }
  const auto& inputs = plan_.node(node).inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (plan_.checked(node).sequences[i])
      needed_[i] = sequence_window(needed_[i], wanted[0].begin[0], wanted[0].end[0]);
    if (inputs[i]) add(*inputs[i], needed_[i]);
  }
}

// For a merge, or an alias, which needs all of its input.
void Wanted::find_given(int node) {
  const NodeState& s = states_[node];
  const Ref from = *plan_.node(node).inputs[s.taken];
  View& target = states_[from.node].targets[from.output];
  const TensorType& t = s.inputs[0];
  if (!target.data && s.targets[0].data)
    target = View::dense(s.targets[0].data, t.dtype, t.shape, t.layout);
  if (plan_.checked(node).type->is_merge) add(from, windows_[node][0]);
  else add_all(from);
}

}  // namespace stoker
