// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/device_stage.h"

#include <atomic>
#include <cstring>

#include "kernels/fused_batch.h"
#include "kernels/fused_launch.h"

namespace stoker {

namespace {

constexpr int64_t kBlockNs = 100;  // a guess, for the virtual clock only

}  // namespace

struct DeviceStage::Share {
  const size_t limit;
  std::atomic<size_t> in_use{0}, high_water{0};
};

// A buffer of the device that counts towards the share.
class DeviceStage::SharedOut final : public DeviceBuffer {
 public:
  SharedOut(std::shared_ptr<DeviceBuffer> buffer, std::shared_ptr<Share> share)
      : DeviceBuffer(buffer->data(), buffer->size()),
        buffer_(std::move(buffer)),
        share_(std::move(share)) {}
  ~SharedOut() override {
    buffer_.reset();
    share_->in_use -= size();
  }
  void return_behind(ForeignStream stream) noexcept override { buffer_->return_behind(stream); }

 private:
  std::shared_ptr<DeviceBuffer> buffer_;
  const std::shared_ptr<Share> share_;
};

DeviceStage::DeviceStage(const Plan& plan, int device_id, int streams, int workers,
                         size_t memory_limit)
    : plan_(plan),
      device_(device(device_id)),
      share_(new Share{std::min(memory_limit, device_.usage().limit)}),
      staging_(SIZE_MAX, std::make_shared<PinnedBlocks>(device_)),
      place_(plan.size(), -1) {
  if (!plan.mixed_nodes().empty()) decoder_ = make_device_decoder(device_, workers);
  for (int i = 0; i < streams; ++i)
    streams_.push_back(device_.make_stream("pipeline " + std::to_string(i)));
  for (size_t k = 0; k < plan.device_nodes().size(); ++k)
    place_[plan.device_nodes()[k]] = static_cast<int>(k);
}

DeviceShare DeviceStage::share() const {
  return {share_->limit, share_->in_use, share_->high_water};
}

void DeviceStage::trim() {
  staging_.trim();
  device_.trim();
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
  bytes = std::max<size_t>(bytes, 1);
  const size_t in_use = share_->in_use;  // only this thread adds to it
  std::shared_ptr<DeviceBuffer> buffer;
  if (bytes <= share_->limit - std::min(in_use, share_->limit)) buffer = stream.try_acquire(bytes);
  if (!buffer) {
    const DeviceUsage usage = device_.usage();
    throw DeviceFull(device_.name() + ": no memory for " + in_words(bytes) +
                     " of a batch; this pipeline holds " + in_words(in_use) + " of its limit of " +
                     in_words(share_->limit) + ", outputs that you hold included; of the device " +
                     in_words(usage.in_use) + " of " + in_words(usage.limit) + " are in use here");
  }
  share_->in_use += bytes;
  share_->high_water = std::max<size_t>(share_->high_water, in_use + bytes);
  return std::make_shared<SharedOut>(std::move(buffer), share_);
}

// One launch a stage: usually one for the whole batch, however ragged.
void DeviceStage::launch(Stream& stream, const FusedBatch& batch, const std::string& name) const {
  const size_t size = batch.tables().size();
  const std::shared_ptr<Buffer> staged = staging_.try_acquire(size, Use::kOutput);
  const std::shared_ptr<Buffer> tables = acquire(stream, size);
  const std::shared_ptr<Buffer> scratch = acquire(stream, batch.scratch_bytes());
  std::memcpy(staged->data(), batch.tables().data(), size);
  stream.copy(tables->data(), staged->data(), size, Copy::kToDevice, name + " tables");
  stream.call([staged] {}, 0, "release");  // it stays until it is copied
  for (size_t i = 0; i < batch.stages().size(); ++i) {
    const FusedBatch::Stage& s = batch.stages()[i];
    stoker::launch(stream, batch.program(i, tables->data(), scratch->data()),
                   {s.blocks, s.threads, s.shared_bytes, s.blocks * kBlockNs}, name);
  }
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
  std::vector<const std::vector<DeviceWork>*> made;
  std::vector<TensorType> types;
  for (size_t i = 0; i < step.device_work.size(); ++i) {
    if (!step.is_made[i]) continue;
    made.push_back(&step.device_work[i]);
    types.push_back(step.device_work[i][place_[tail]].types[0]);
  }
  Value out = reserve(stream, types);
  FusedBatch batch;
  std::vector<Block> blocks;
  for (size_t i = 0; i < made.size(); ++i) {
    const auto gather = [&](int64_t frame) -> const std::vector<Block>& {
      blocks.clear();
      for (int n = head;; n = plan_.planned(n).fuses_into) {
        const auto& more = DeviceWork::of_frame((*made[i])[place_[n]].blocks, frame);
        blocks.insert(blocks.end(), more.begin(), more.end());
        if (n == tail) return blocks;
      }
    };
    if (!plan_.checked(head).unfold) batch.add(gather(0), in.views[i], out.views[i]);
    else
      for (int64_t f = 0; f < out.views[i].shape[0]; ++f)
        batch.add(gather(f), in.views[i].frame(f), out.views[i].frame(f));
  }
  batch.finish();
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

// Into memory that the samples were given when they were made.
void DeviceStage::download(Stream& stream, const Value& value, const Batch& to) const {
  if (value.is_dense && to.is_dense()) {
    stream.copy(to.whole->data(), value.owner->data(),
                static_cast<size_t>(value.views[0].bytes()) * value.views.size(), Copy::kToHost,
                "download");
  } else {
    for (size_t i = 0; i < value.views.size(); ++i)
      stream.copy(to.samples[i].view.data, value.views[i].data,
                  static_cast<size_t>(value.views[i].bytes()), Copy::kToHost, "download");
  }
  stream.call([samples = to.samples] {}, 0, "release");  // the memory stays until it is written
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

const DeviceStage::Value& DeviceStage::value(Values& values, const Ref& from) const {
  if (const int mixed = plan_.planned(from.node).mixed; mixed >= 0)
    return values.step.decoded[mixed];
  if (plan_.node(from.node).device == DeviceKind::kGpu)
    return values.made.at({from.node, from.output});
  const int slot = plan_.planned(from.node).output_slots[from.output];
  auto it = values.uploads.find(slot);
  if (it == values.uploads.end())
    it = values.uploads.emplace(slot, upload(values.stream, values.step.slot(slot))).first;
  return it->second;
}

// Requires: the node begins a pass, or runs by itself.
void DeviceStage::run_node(Values& values, int node) const {
  if (plan_.checked(node).type->kind != OperatorKind::kLower) return run_operator(values, node);
  int tail = node;
  while (plan_.planned(tail).fuses_into >= 0) tail = plan_.planned(tail).fuses_into;
  const Value& in = value(values, *plan_.node(node).inputs[0]);
  values.made.emplace(Place{tail, 0}, run_pass(values.stream, values.step, node, tail, in));
}

void DeviceStage::enqueue(const Step& step, Outputs& outputs) {
  if (outputs.is_lost) return;
  Stream& stream = stream_of(step);
  Values values{step, stream, {}, {}};
  std::vector<char> is_inside(plan_.size());  // of a pass that began before
  for (int n : plan_.device_nodes()) {
    if (const int next = plan_.planned(n).fuses_into; next >= 0) is_inside[next] = 1;
    if (!is_inside[n]) run_node(values, n);
  }
  auto on_device = std::make_shared<DeviceBatch>();
  std::map<Place, int> taken;
  std::map<size_t, Batch> made;  // handed over at once: what fails half-way keeps no memory
  for (size_t k = 0; k < outputs.batches.size(); ++k) {
    const Ref from = plan_.graph().outputs[k];
    if (plan_.node(from.node).device == DeviceKind::kCpu || plan_.host_copy(k) >= 0) continue;
    const Value& v = value(values, from);
    made[k] = batch_of(taken[{from.node, from.output}]++ ? copy(stream, v) : v, step);
    made[k].on_device = on_device;
  }
  on_device->device = &device_;
  on_device->ready = device_.make_event();
  stream.record(*on_device->ready);
  for (auto& [k, batch] : made) outputs.batches[k] = std::move(batch);
  if (plan_.host_copies().empty()) return;
  for (size_t k = 0; k < outputs.batches.size(); ++k)
    if (plan_.host_copy(k) >= 0)
      download(stream, value(values, plan_.graph().outputs[k]), outputs.batches[k]);
  outputs.copied = device_.make_event();
  stream.record(*outputs.copied);
}

}  // namespace stoker
