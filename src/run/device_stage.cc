// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/device_stage.h"

#include <map>

#include "kernels/fused_batch.h"
#include "kernels/fused_launch.h"

namespace stoker {

namespace {

constexpr int64_t kBlockNs = 100;  // a guess, for the virtual clock only

}  // namespace

DeviceStage::DeviceStage(const Plan& plan, int device_id, int streams, int workers)
    : plan_(plan), device_(device(device_id)), place_(plan.size(), -1) {
  if (!plan.mixed_nodes().empty()) decoder_ = make_device_decoder(device_, workers);
  for (int i = 0; i < streams; ++i)
    streams_.push_back(device_.make_stream("pipeline " + std::to_string(i)));
  for (size_t k = 0; k < plan.device_nodes().size(); ++k)
    place_[plan.device_nodes()[k]] = static_cast<int>(k);
}

// One allocation for all samples: back to back when they are of one shape, else each aligned for vector access.
DeviceStage::Value DeviceStage::reserve(Stream& stream,
                                        const std::vector<TensorType>& types) const {
  constexpr int64_t kAlign = 256;
  Value v;
  v.is_dense =
      std::all_of(types.begin(), types.end(), [&](const TensorType& t) { return t == types[0]; });
  std::vector<int64_t> at;
  int64_t size = 0;
  for (const TensorType& t : types) {
    at.push_back(size);
    size += t.shape.volume() * size_of(t.dtype);
    if (!v.is_dense) size = (size + kAlign - 1) / kAlign * kAlign;
  }
  v.owner = acquire(stream, static_cast<size_t>(size));
  for (size_t i = 0; i < types.size(); ++i)
    v.views.push_back(
        View::dense(v.owner->data() + at[i], types[i].dtype, types[i].shape, types[i].layout));
  return v;
}

std::shared_ptr<Buffer> DeviceStage::acquire(Stream& stream, size_t bytes) const {
  auto buffer = stream.try_acquire(std::max<size_t>(bytes, 1));
  if (buffer) return buffer;
  const DeviceUsage usage = device_.usage();
  throw BudgetError(device_.name() + ": no memory for " + in_words(bytes) + " of a batch; " +
                    in_words(usage.in_use) + " of " + in_words(usage.limit) + " are in use");
}

// One launch a stage: usually one for the whole batch, however ragged.
void DeviceStage::launch(Stream& stream, const std::shared_ptr<FusedBatch>& batch,
                         const std::string& name) const {
  const std::shared_ptr<Buffer> tables = acquire(stream, batch->tables().size());
  const std::shared_ptr<Buffer> scratch = acquire(stream, batch->scratch_bytes());
  stream.copy(tables->data(), batch->tables().data(), batch->tables().size(), Copy::kToDevice,
              name + " tables");
  for (size_t i = 0; i < batch->stages().size(); ++i) {
    const FusedBatch::Stage& s = batch->stages()[i];
    stoker::launch(stream, batch->program(i, tables->data(), scratch->data()),
                   {s.blocks, s.threads, s.shared_bytes, s.blocks * kBlockNs}, name);
  }
  stream.call([batch] {}, 0, "release");  // the tables' host side stays until they are copied
}

DeviceStage::Value DeviceStage::upload(Stream& stream, const Batch& batch) const {
  std::vector<TensorType> types;
  for (const Sample& s : batch.samples)
    types.push_back({s.view.dtype, s.view.layout, s.view.shape});
  Value v = reserve(stream, types);
  if (batch.is_dense()) {
    const size_t bytes = static_cast<size_t>(batch.samples[0].view.bytes()) * batch.samples.size();
    stream.copy(v.owner->data(), batch.samples[0].view.data, bytes, Copy::kToDevice, "upload");
  } else {
    for (size_t i = 0; i < types.size(); ++i)
      stream.copy(v.views[i].data, batch.samples[i].view.data,
                  static_cast<size_t>(batch.samples[i].view.bytes()), Copy::kToDevice, "upload");
  }
  // The host's bytes stay until the copies are done.
  stream.call([samples = batch.samples] {}, 0, "release");
  return v;
}

DeviceStage::Value DeviceStage::run_pass(Stream& stream, const Step& step, int head, int tail,
                                         const Value& in) const {
  std::vector<std::vector<Block>> blocks;
  std::vector<TensorType> types;
  for (size_t i = 0; i < step.lowered.size(); ++i) {
    if (!step.is_made[i]) continue;
    std::vector<Block>& pass = blocks.emplace_back();
    for (int n = head;; n = plan_.planned(n).fuses_into) {
      const std::vector<Block>& more = step.lowered[i][place_[n]].blocks;
      pass.insert(pass.end(), more.begin(), more.end());
      if (n == tail) break;
    }
    types.push_back(step.lowered[i][place_[tail]].type);
  }
  Value out = reserve(stream, types);
  auto batch = std::make_shared<FusedBatch>();
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (!plan_.checked(head).unfold) batch->add(blocks[i], in.views[i], out.views[i]);
    else
      for (int64_t f = 0; f < out.views[i].shape[0]; ++f)
        batch->add(blocks[i], in.views[i].frame(f), out.views[i].frame(f));
  }
  batch->finish();
  launch(stream, batch, plan_.node(tail).name);
  return out;
}

// An output named twice: its bytes are never shared.
DeviceStage::Value DeviceStage::copy(Stream& stream, const Value& value) const {
  std::vector<TensorType> types;
  for (const View& v : value.views) types.push_back({v.dtype, v.layout, v.shape});
  Value c = reserve(stream, types);
  stream.copy(c.owner->data(), value.owner->data(), value.owner->size(), Copy::kOnDevice, "copy");
  return c;
}

Batch DeviceStage::batch_of(const Value& value, const Step& step) const {
  Batch b;
  size_t k = 0;
  for (size_t i = 0; i < step.is_made.size(); ++i)
    if (step.is_made[i])
      b.samples.push_back({value.views[k++], value.owner, step.index[i], static_cast<int64_t>(i)});
  b.dtype = value.views[0].dtype;
  b.layout = value.views[0].layout;
  if (value.is_dense) b.whole = value.owner;
  return b;
}

void DeviceStage::enqueue(const Step& step, Outputs& outputs) {
  if (outputs.is_lost) return;
  Stream& stream = stream_of(step);
  std::map<int, Value> uploads, values;  // by slot, by node
  auto input = [&](const Ref& from) -> const Value& {
    if (const int mixed = plan_.planned(from.node).mixed; mixed >= 0) return step.decoded[mixed];
    if (plan_.node(from.node).device == DeviceKind::kGpu) return values.at(from.node);
    const int slot = plan_.planned(from.node).output_slots[from.output];
    auto it = uploads.find(slot);
    return it != uploads.end()
               ? it->second
               : uploads.emplace(slot, upload(stream, step.slot(slot))).first->second;
  };
  std::vector<char> is_inside(plan_.size());  // of a pass that began before
  for (int head : plan_.device_nodes()) {
    if (is_inside[head]) continue;
    int tail = head;
    while (plan_.planned(tail).fuses_into >= 0)
      is_inside[tail = plan_.planned(tail).fuses_into] = 1;
    values.emplace(tail, run_pass(stream, step, head, tail, input(*plan_.node(head).inputs[0])));
  }
  auto on_device = std::make_shared<DeviceBatch>();
  std::vector<char> taken(plan_.size());
  for (size_t k = 0; k < outputs.batches.size(); ++k) {
    const Ref from = plan_.graph().outputs[k];
    if (plan_.node(from.node).device == DeviceKind::kCpu) continue;
    const Value& value = input(from);
    outputs.batches[k] =
        batch_of(std::exchange(taken[from.node], 1) ? copy(stream, value) : value, step);
    outputs.batches[k].on_device = on_device;
  }
  on_device->device = &device_;
  on_device->ready = device_.make_event();
  stream.record(*on_device->ready);
}

}  // namespace stoker
