// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The chain's part for operators that run on a device: what they do and read is decided here, as
// for operators on the CPU.
#include "run/chain/chain.h"

namespace stoker {

// Marks all that the device stage keeps as wanted. Demand then finds what its passes read of the
// values that this chain makes.
void Chain::want_on_device() {
  auto all_of = [&](int node) {
    for (size_t k = 0; k < states_[node].types.size(); ++k)
      want_all(Ref{node, static_cast<int>(k)}, &State::wanted);
  };
  for (int n : plan_.device_nodes())
    if (is_of_round(n) && plan_.planned(n).fuses_into < 0) all_of(n);
  for (int n : plan_.mixed_nodes())
    if (const Ref r{n, 0};
        is_of_round(n) && (plan_.has_host_copy(r) || plan_.is_needed_after(round_, r)))
      all_of(n);
}

DeviceTask Chain::device_task(int node) {
  State& s = states_[node];
  node_ = node;
  DeviceTask work{s.inputs, s.types, {}, {}, chance(node), origin(node)};
  const bool lowers = plan_.checked(node).type->kind == OperatorKind::kLower;
  const bool is_constant = plan_.node(node).links.empty();
  for (size_t k = 0; k < s.ops.size(); ++k) {
    const auto f = static_cast<int64_t>(k);
    if (lowers) {
      if (s.is_per_frame()) lower_frame(node, f);
      work.blocks.push_back(s.blocks);
    } else if (is_constant) {
      work.ops.emplace_back(std::shared_ptr<const Operator>(), &s.op());  // the plan owns it
    } else {
      work.ops.emplace_back(s.op(f).clone());
    }
  }
  return work;
}

// Requires: the inputs are in views_.
void Chain::run_mixed(int node) {
  State& s = states_[node];
  const Window& wanted = s.wanted.of[0];
  const auto request = s.op().request({s.kept, wanted, judged(node)[0]});
  if (request && shelf_->prepare(node, s.types[0], wanted, *request)) return;
  s.views[0] = shelf_->reserve(node, s.types[0], wanted);
  Run r{views_, s.views, chance(node), arena_, s.kept, 0, judged(node), origin(node)};
  s.op().run_cpu(r);
}

}  // namespace stoker
