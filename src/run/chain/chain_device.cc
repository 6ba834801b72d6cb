// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The chain's part for operators on a device: what they do and read is decided here.
#include "kernels/strided_copy.h"
#include "run/chain/chain.h"

namespace stoker {

// Marks all that the device stage keeps as wanted, so that demand finds what its passes read.
void Chain::want_on_device() {
  auto all_of = [&](int node) {
    for (size_t k = 0; k < states_[node].types.size(); ++k)
      wanted_.add_all({node, static_cast<int>(k)});
  };
  for (int n : plan_.stage(stage_).nodes) {
    if (!is_active(n)) continue;
    const PlanNode& p = plan_.planned(n);
    const bool is_kept = p.mixed_number >= 0 && (plan_.host_copy({n, 0}) >= 0 ||
                                                 plan_.is_needed_after(p.device_stage, {n, 0}));
    if (is_kept || (p.device_number >= 0 && p.fuses_into < 0)) all_of(n);
  }
}

// Copies of the inputs that a GPU half reads on the host, after this sample is over.
std::vector<HostValue> Chain::host_values(int node) const {
  const auto& inputs = plan_.node(node).inputs;
  std::vector<HostValue> values(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i] || !plan_.checked(node).type->input(i).is_value) continue;
    const View& v = view(*inputs[i]);
    const std::shared_ptr<std::byte[]> bytes(new std::byte[static_cast<size_t>(v.bytes())]);
    copy_to_dense(v, bytes.get());
    values[i] = {View::dense(bytes.get(), v.dtype, v.shape, states_[node].inputs[i].layout), bytes};
  }
  return values;
}

DeviceTask Chain::device_task(int node) {
  NodeState& s = states_[node];
  node_ = node;
  DeviceTask work{s.inputs, s.types, {}, {}, {}, chance(node), origin(node), s.taken};
  const OperatorType& type = *plan_.checked(node).type;
  if (type.runs_on_gpu) work.values = host_values(node);
  if (!type.lowers) work.ops = s.ops;
  else
    for (int64_t f = 0; f < std::ssize(s.ops); ++f) {
      if (s.is_per_frame()) lower_frame(node, f);
      work.blocks.push_back(s.blocks);
    }
  return work;
}

// Requires: the inputs are in views_.
void Chain::run_mixed(int node) {
  NodeState& s = states_[node];
  const Window& wanted = wanted_.of(node)[0];
  const auto request = type(node).decodes->request(s.op(), {s.kept, wanted, judged(node)[0]});
  s.views[0] = take_picture_(node, s.types[0], wanted, request);
  if (!s.views[0].data) return;
  Run r{views_, s.views, chance(node), arena_, s.kept, 0, judged(node), origin(node)};
  type(node).runs->run(s.op(), r);
}

}  // namespace stoker
