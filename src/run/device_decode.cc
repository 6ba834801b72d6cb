// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The device stage's part of pictures: pixels go up, what workers prepared is decoded there.
#include "run/device_stage.h"

namespace stoker {

DeviceValues DeviceStage::decode_node(Stream& stream, Step& step, int place,
                                      std::vector<int>& refused) const {
  std::vector<TensorType> types;
  std::vector<int> samples;
  for (int i = 0; i < step.size(); ++i) {
    if (!step.is_made[i]) continue;
    const Picture& p = step.pictures[i][place];
    types.push_back({p.type.dtype, p.type.layout, p.window.shape()});
    samples.push_back(i);
  }
  Value v = reserve(stream, types);
  std::vector<DecodeJob> jobs;
  std::vector<int> job_samples;
  std::vector<std::shared_ptr<Buffer>> held;
  for (size_t k = 0; k < samples.size(); ++k) {
    const Picture& p = step.pictures[samples[k]][place];
    View& to = v.views[k];
    to = View::window(to.data, p.type.dtype, p.window, p.type.shape, p.type.layout);
    if (p.prepared) {
      jobs.push_back({p.prepared.get(), to});
      job_samples.push_back(samples[k]);
      continue;
    }
    stream.copy(to.data, p.pixels.data, static_cast<size_t>(to.bytes()), Copy::kToDevice, "upload");
    held.push_back(p.owner);
  }
  stream.call([held] {}, 0, "release");  // the pixels stay until they are copied
  if (!jobs.empty())
    for (size_t k : decoder_->decode(stream, jobs)) refused.push_back(job_samples[k]);
  return v;
}

std::vector<int> DeviceStage::decode(Step& step) {
  const bool any = std::any_of(step.is_made.begin(), step.is_made.end(), [](char c) { return c; });
  if (!decoder_ || !any) return {};
  step.decoded.clear();
  std::vector<int> refused;
  for (size_t k = 0; k < plan_.mixed_nodes().size(); ++k)
    step.decoded.push_back(decode_node(stream_of(step), step, static_cast<int>(k), refused));
  std::sort(refused.begin(), refused.end());
  refused.erase(std::unique(refused.begin(), refused.end()), refused.end());
  for (int i : refused) {
    step.forget(i);
    step.is_made[i] = 0;
    step.is_refused[i] = 1;
  }
  if (!refused.empty()) return refused;
  for (auto& sample : step.pictures)
    for (Picture& p : sample) {
      p.owner.reset();
      p.prepared.reset();
    }
  return refused;
}

}  // namespace stoker
