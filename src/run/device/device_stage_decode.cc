// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Decodes what workers prepared, and copies the pixels that the CPU decoded.
#include "device/held.h"
#include "run/device/device_stage.h"

namespace stoker {

DeviceEdge DeviceStage::decode_node(EnqueuedStage& work, int node,
                                    std::vector<int>& refused) const {
  const Step& step = work.step;
  const std::vector<int> samples = step.samples_with({node, 0});
  DeviceEdge v = reserve(work, samples, [&](int i) {
    const Picture& p = step.on_device.picture(node, i);
    return TensorType{p.type.dtype, p.type.layout, p.window.shape()};
  });
  std::vector<DecodeJob> jobs;
  std::vector<int> job_samples;
  for (int i : samples) {
    const Picture& p = step.on_device.picture(node, i);
    work.held.push_back(p.owner);
    View& to = v.views[i];
    to = View::window(to.data, p.type.dtype, p.window, p.type.shape, p.type.layout);
    if (p.prepared) {
      jobs.push_back({p.prepared.get(), to});
      job_samples.push_back(i);
    } else {
      work.stream.copy(to.data, p.pixels.data, static_cast<size_t>(to.bytes()), Copy::kToDevice,
                       "upload");
    }
  }
  if (!jobs.empty())
    for (size_t k : decoder_->decode(work.stream, jobs)) refused.push_back(job_samples[k]);
  return v;
}

std::vector<int> DeviceStage::decode(Step& step, int stage) {
  std::vector<int> nodes;
  for (int n : plan_.mixed_nodes())
    if (plan_.planned(n).device_stage == stage) nodes.push_back(n);
  if (nodes.empty() || step.samples.made().empty()) return {};
  std::vector<int> refused;
  std::map<Ref, DeviceEdge> decoded;
  Stream& stream = stream_of(step);
  enqueue_with(stream, [&](Held& held) {
    EnqueuedStage work{step, stream, held, decoded};
    for (int n : nodes)
      at_node(n, [&] { decoded.emplace(Ref{n, 0}, decode_node(work, n, refused)); });
  });
  std::sort(refused.begin(), refused.end());
  refused.erase(std::unique(refused.begin(), refused.end()), refused.end());
  for (int i : refused) {
    step.forget(i, plan_.planned(nodes[0]).stage);
    step.samples.is_made[i] = 0;
    step.on_device.is_refused[i] = 1;
  }
  if (!refused.empty()) return refused;
  step.on_device.values.merge(decoded);
  step.on_device.drop_pixels();
  return refused;
}

}  // namespace stoker
