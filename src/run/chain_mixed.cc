// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The chain's part of operators that run on both sides: what they look at is decided here, as for those of the CPU.
#include "run/chain.h"

namespace stoker {

// What the device stage looks at of values that this chain makes: all that it keeps, and through its passes.
void Chain::want_on_device() {
  auto all_of = [&](int node) { want(Ref{node, 0}, Window::all(states_[node].types[0].shape)); };
  for (int n : plan_.device_nodes())
    if (plan_.planned(n).fuses_into < 0) all_of(n);
  for (const Ref& r : plan_.graph().outputs)
    if (plan_.node(r.node).device == DeviceKind::kMixed) all_of(r.node);
}

// Requires: the inputs are in views_.
void Chain::run_mixed(int node) {
  State& s = states_[node];
  const auto request = s.op->request({views_, s.wanted[0], chance(node)});
  if (request && shelf_->prepare(node, s.types[0], s.wanted[0], *request)) return;
  s.views[0] = shelf_->reserve(node, s.types[0], s.wanted[0]);
  Run r{views_, s.views, chance(node), arena_};
  s.op->run_cpu(r);
}

}  // namespace stoker
