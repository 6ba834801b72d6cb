// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Operators with a GPU half, which is called once for a batch, however ragged.
#include "run/device/device_stage.h"

namespace stoker {

// `inputs`: null for one that is missing, or that lies on the host in the sample's task. Makes an
// item for each sample or frame, and adds the operator with its arguments to `ops`.
std::vector<BatchItem> DeviceStage::items_of(const Step& step, int node,
                                             std::span<const DeviceEdge* const> inputs,
                                             std::span<const DeviceEdge> outputs,
                                             std::vector<const Operator*>& ops) const {
  const bool unfold = plan_.checked(node).unfold;
  std::vector<BatchItem> items;
  for (int i : step.samples_with({node, 0})) {
    const DeviceTask& task = step.on_device.task(node, i);
    const int64_t frames = unfold ? task.types[0].shape[0] : 1;
    for (int64_t f = 0; f < frames; ++f) {
      BatchItem& item = items.emplace_back(BatchItem{{}, {}, task.chance, task.origin});
      for (size_t k = 0; k < inputs.size(); ++k) {
        View v = inputs[k] ? inputs[k]->views[i] : task.values[k].view;
        if (plan_.checked(node).sequences[k]) v = v.frame(f);
        if (inputs[k] && v.layout.empty()) v.layout = task.inputs[k].layout;
        item.inputs.push_back(v);
      }
      for (const DeviceEdge& out : outputs)
        item.outputs.push_back(unfold ? out.views[i].frame(f) : out.views[i]);
      ops.push_back(DeviceTask::of_frame(task.ops, f).get());
    }
  }
  return items;
}

void DeviceStage::run_operator(EnqueuedStage& work, int node) const {
  const CheckedNode& checked = plan_.checked(node);
  const Step& step = work.step;
  std::vector<DeviceEdge> outputs;
  for (int k = 0; k < static_cast<int>(checked.outputs.size()); ++k)
    outputs.push_back(reserve(work, step.samples_with({node, k}),
                              [&](int i) { return step.on_device.type_of({node, k}, i); }));
  std::vector<const DeviceEdge*> inputs;
  for (size_t k = 0; k < plan_.node(node).inputs.size(); ++k) {
    const auto& in = plan_.node(node).inputs[k];
    inputs.push_back(in && !checked.type->input(k).is_value ? &values_of(work, *in) : nullptr);
  }
  std::vector<const Operator*> ops;
  const std::vector<BatchItem> items = items_of(step, node, inputs, outputs, ops);
  const GpuMemory memory{[&](size_t bytes) { return acquire(work.stream, bytes); }, staging_,
                         work.held};
  GpuRun run(work.stream, plan_.node(node).name, items, memory);
  if (!items.empty()) checked.type->runs_on_gpu->run(run, ops);
  for (int k = 0; k < static_cast<int>(outputs.size()); ++k)
    work.values.emplace(Ref{node, k}, std::move(outputs[k]));
}

}  // namespace stoker
