// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The device stage's part of operators with a GPU half: one call of it for a batch, however ragged.
#include "run/device_stage.h"

namespace stoker {

// One item a sample, or one a frame; beside each the operator that holds its arguments.
std::vector<GpuItem> DeviceStage::items_of(const Step& step, int node,
                                           std::span<const Value* const> inputs,
                                           std::span<const Value> outputs,
                                           std::vector<const Operator*>& ops) const {
  const bool unfold = plan_.checked(node).unfold;
  std::vector<GpuItem> items;
  for (size_t i = 0, made = 0; i < step.is_made.size(); ++i) {
    if (!step.is_made[i]) continue;
    const DeviceWork& work = step.device_work[i][place_[node]];
    const int64_t frames = unfold ? work.types[0].shape[0] : 1;
    for (int64_t f = 0; f < frames; ++f) {
      GpuItem& item = items.emplace_back(GpuItem{{}, {}, work.chance});
      for (size_t k = 0; k < inputs.size(); ++k) {
        View v = inputs[k] ? inputs[k]->views[made] : View{};
        if (unfold && k == 0) v = v.frame(f);
        if (inputs[k] && v.layout.empty()) v.layout = work.inputs[k].layout;
        item.inputs.push_back(v);
      }
      for (const Value& out : outputs)
        item.outputs.push_back(unfold ? out.views[made].frame(f) : out.views[made]);
      ops.push_back(DeviceWork::of_frame(work.ops, f).get());
    }
    ++made;
  }
  return items;
}

void DeviceStage::run_operator(Values& values, int node) const {
  const CheckedNode& checked = plan_.checked(node);
  const Step& step = values.step;
  std::vector<Value> outputs;
  for (size_t k = 0; k < checked.outputs.size(); ++k) {
    std::vector<TensorType> types;
    for (size_t i = 0; i < step.is_made.size(); ++i)
      if (step.is_made[i]) types.push_back(step.device_work[i][place_[node]].types[k]);
    outputs.push_back(reserve(values.stream, types));
  }
  std::vector<const Value*> inputs;
  for (const auto& in : plan_.node(node).inputs)
    inputs.push_back(in ? &value(values, *in) : nullptr);
  std::vector<const Operator*> ops;
  const std::vector<GpuItem> items = items_of(step, node, inputs, outputs, ops);
  const GpuMemory memory{[&](size_t bytes) { return acquire(values.stream, bytes); }, staging_};
  GpuRun run(values.stream, plan_.node(node).name, items, memory);
  checked.op->run_gpu(run, ops);
  for (size_t k = 0; k < outputs.size(); ++k)
    values.made.emplace(Place{node, static_cast<int>(k)}, std::move(outputs[k]));
}

}  // namespace stoker
