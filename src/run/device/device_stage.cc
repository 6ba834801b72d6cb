// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/device/device_stage.h"

#include <algorithm>
#include <set>

#include "device/pinned_allocator.h"
#include "kernels/fused_device/batch.h"
#include "kernels/fused_device/launch.h"

namespace stoker {

namespace {

constexpr int64_t kBlockNs = 100;  // a guess, which only the virtual clock uses

void hold(Held& held, const Batch& batch) {
  for (const Sample& s : batch.samples) held.push_back(s.owner);
}

}  // namespace

DeviceStage::DeviceStage(const Plan& plan, int device_id, int streams, size_t memory_limit)
    : plan_(plan),
      device_(device(device_id)),
      memory_(std::make_shared<DeviceBudget>(device_, memory_limit)),
      staging_(SIZE_MAX, std::make_shared<PinnedAllocator>(device_)) {
  for (int i = 0; i < streams; ++i)
    streams_.push_back(device_.make_stream("pipeline " + std::to_string(i)));
  if (!plan.mixed_nodes().empty()) decoder_ = make_device_decoder(memory_);
}

DeviceShare DeviceStage::share() const {
  return {memory_->limit(), memory_->in_use(), memory_->high_water()};
}

void DeviceStage::trim() {
  if (decoder_) decoder_->trim();
  staging_.trim();
  device_.trim();
}

void DeviceStage::finish() const {
  for (const auto& stream : streams_) stream->synchronize();
}

bool DeviceStage::make_room() {
  const size_t before = memory_->in_use();
  if (decoder_) decoder_->trim();
  return memory_->in_use() < before;
}

// Makes one allocation for these samples. Samples of one shape lie without gaps; others are each
// aligned for vector access.
DeviceValues DeviceStage::reserve(Stream& stream, const Step& step, std::span<const int> samples,
                                  const std::function<TensorType(int sample)>& type_of) const {
  constexpr int64_t kAlign = 256;
  std::vector<TensorType> types;
  for (int i : samples) types.push_back(type_of(i));
  DeviceValues v;
  v.views.resize(static_cast<size_t>(step.size()));
  v.count = samples.size();
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
  for (size_t k = 0; k < samples.size(); ++k)
    v.views[samples[k]] =
        View::dense(v.owner->data() + at[k], types[k].dtype, types[k].shape, types[k].layout);
  return v;
}

std::shared_ptr<Buffer> DeviceStage::acquire(Stream& stream, size_t bytes) const {
  bytes = std::max<size_t>(bytes, 1);
  if (auto buffer = memory_->try_acquire(stream, bytes)) return buffer;
  const DeviceUsage usage = device_.usage();
  throw DeviceFull(device_.name() + ": no memory for " + in_words(bytes) +
                   " of a batch; this pipeline holds " + in_words(memory_->in_use()) +
                   " of its limit of " + in_words(memory_->limit()) +
                   ", outputs that you hold included; of the device " + in_words(usage.in_use) +
                   " of " + in_words(usage.limit) + " are in use here");
}

void DeviceStage::at_node(int node, const std::function<void()>& enqueue) const {
  const auto named = [&](const std::exception& e) {
    return plan_.node(node).op + " '" + plan_.node(node).name + "': " + e.what();
  };
  try {
    enqueue();
  } catch (const BudgetError& e) {
    throw DeviceFull(named(e));
  } catch (const DeviceError& e) {
    throw DeviceError(named(e));
  }
}

// Launches each stage of the batch once, however ragged the batch is. Most batches have one stage.
void DeviceStage::launch(EnqueuedStage& work, const FusedBatch& batch,
                         const std::string& name) const {
  Stream& stream = work.stream;
  const size_t size = batch.tables().size();
  const std::shared_ptr<Buffer> staged = staging_.try_acquire(size, Use::kOutput);
  const std::shared_ptr<Buffer> tables = acquire(stream, size);
  const std::shared_ptr<Buffer> scratch = acquire(stream, batch.scratch_bytes());
  std::copy_n(batch.tables().data(), size, staged->data());  // which may be none
  work.held.push_back(staged);
  stream.copy(tables->data(), staged->data(), size, Copy::kToDevice, name + " tables");
  for (size_t i = 0; i < batch.stages().size(); ++i) {
    const FusedBatch::Stage& s = batch.stages()[i];
    stoker::launch(stream, batch.program(i, tables->data(), scratch->data()),
                   {s.blocks, s.threads, s.shared_bytes, s.blocks * kBlockNs}, name);
  }
}

DeviceValues DeviceStage::upload(EnqueuedStage& work, const Batch& batch) const {
  std::vector<View> from(static_cast<size_t>(work.step.size()));
  std::vector<int> samples;
  for (const Sample& s : batch.samples) {
    from[s.in_batch] = s.view;
    samples.push_back(static_cast<int>(s.in_batch));
  }
  DeviceValues v = reserve(work.stream, work.step, samples, [&](int i) {
    return TensorType{from[i].dtype, from[i].layout, from[i].shape};
  });
  hold(work.held, batch);
  if (samples.empty()) return v;
  if (batch.is_dense()) {
    const View& first = batch.samples[0].view;
    const size_t bytes = static_cast<size_t>(first.bytes()) * batch.samples.size();
    work.stream.copy(v.owner->data(), first.data, bytes, Copy::kToDevice, "upload");
    return v;
  }
  for (int i : samples)
    work.stream.copy(v.views[i].data, from[i].data, static_cast<size_t>(from[i].bytes()),
                     Copy::kToDevice, "upload");
  return v;
}

DeviceValues DeviceStage::run_pass(EnqueuedStage& work, int head, int tail,
                                   std::span<const View> in) const {
  const Step& step = work.step;
  const auto of_sample = [&](int i, int node) -> const DeviceTask& {
    return step.device_task[i][plan_.planned(node).device_number];
  };
  const std::vector<int> samples = step.samples_with({tail, 0});
  DeviceValues out =
      reserve(work.stream, step, samples, [&](int i) { return of_sample(i, tail).types[0]; });
  if (samples.empty()) return out;
  FusedBatch batch;
  std::vector<Block> blocks;
  for (int i : samples) {
    const auto gather = [&](int64_t frame) -> const std::vector<Block>& {
      blocks.clear();
      for (int n = head;; n = plan_.planned(n).fuses_into) {
        const auto& more = DeviceTask::of_frame(of_sample(i, n).blocks, frame);
        blocks.insert(blocks.end(), more.begin(), more.end());
        if (n == tail) return blocks;
      }
    };
    if (!plan_.checked(head).unfold) batch.add(gather(0), in[i], out.views[i]);
    else
      for (int64_t f = 0; f < out.views[i].shape[0]; ++f)
        batch.add(gather(f), in[i].frame(f), out.views[i].frame(f));
  }
  batch.finish();
  launch(work, batch, plan_.node(tail).name);
  return out;
}

// Copies the samples that are made: for an output that is named twice, because outputs never share
// bytes, or for one that lost samples.
DeviceValues DeviceStage::copy(Stream& stream, const Step& step, const DeviceValues& value) const {
  DeviceValues c = reserve(stream, step, step.made_samples(), [&](int i) {
    const View& v = value.views[i];
    return TensorType{v.dtype, v.layout, v.shape};
  });
  if (c.count == value.count) {
    stream.copy(c.owner->data(), value.owner->data(), value.owner->size(), Copy::kOnDevice, "copy");
  } else {
    for (int i : step.made_samples())
      stream.copy(c.views[i].data, value.views[i].data, static_cast<size_t>(c.views[i].bytes()),
                  Copy::kOnDevice, "copy");
  }
  return c;
}

// Copies into the host memory that was reserved when the samples were made.
void DeviceStage::download(EnqueuedStage& work, const DeviceValues& value, const Batch& to) const {
  hold(work.held, to);
  if (to.samples.empty()) return;
  if (value.is_dense && to.is_dense() && value.count == to.samples.size()) {
    const size_t bytes = static_cast<size_t>(to.samples[0].view.bytes()) * to.samples.size();
    work.stream.copy(to.whole->data(), value.owner->data(), bytes, Copy::kToHost, "download");
    return;
  }
  for (const Sample& s : to.samples)
    work.stream.copy(s.view.data, value.views[s.in_batch].data, static_cast<size_t>(s.view.bytes()),
                     Copy::kToHost, "download");
}

Batch DeviceStage::batch_of(const DeviceValues& value, const Step& step, int node) const {
  Batch b;
  for (int i : step.made_samples())
    b.samples.push_back(
        {value.views[i], value.owner, step.origin(node, i).index, static_cast<int64_t>(i)});
  b.dtype = b.samples[0].view.dtype;
  b.layout = b.samples[0].view.layout;
  if (value.is_dense) b.whole = value.owner;
  return b;
}

const DeviceValues& DeviceStage::values_of(EnqueuedStage& work, const Ref& from) const {
  if (const auto it = work.values.find(from); it != work.values.end()) return it->second;
  if (const auto it = work.step.on_device.find(from); it != work.step.on_device.end())
    return it->second;
  DeviceValues up = upload(work, work.step.slot(plan_.slot_of(from)));
  return work.values.emplace(from, std::move(up)).first->second;
}

// Whether all that the node does is to bring to the device a value that no other node there reads.
bool DeviceStage::is_upload(const Step& step, int node) const {
  if (plan_.checked(node).unfold || !plan_.node(node).guards.empty() ||
      !plan_.goes_up_once(*plan_.node(node).inputs[0]))
    return false;
  const std::vector<int> made = step.made_samples();
  return std::all_of(made.begin(), made.end(), [&](int i) {
    const DeviceTask& sample_work = step.device_task[i][plan_.planned(node).device_number];
    return sample_work.blocks[0].size() == 1 &&
           is_identity(sample_work.blocks[0][0], sample_work.inputs[0]);
  });
}

// By sample: the value of the side that a merge takes.
std::vector<View> DeviceStage::taken_views(EnqueuedStage& work, int node) const {
  std::vector<View> views(static_cast<size_t>(work.step.size()));
  for (int i : work.step.samples_with({node, 0})) {
    const size_t taken = work.step.device_task[i][plan_.planned(node).device_number].taken;
    views[i] = values_of(work, *plan_.node(node).inputs[taken]).views[i];
  }
  return views;
}

// The bytes of the node's input under other types. They stay where they are, unless there would be
// gaps between samples that are alike, or none between others.
DeviceValues DeviceStage::alias(EnqueuedStage& work, int node) const {
  const DeviceValues& from = values_of(work, *plan_.node(node).inputs[0]);
  const std::vector<int> samples = work.step.samples_with({node, 0});
  const auto type = [&](int i) -> const TensorType& {
    return work.step.device_task[i][plan_.planned(node).device_number].types[0];
  };
  const bool are_alike = std::all_of(samples.begin(), samples.end(),
                                     [&](int i) { return type(i) == type(samples[0]); });
  if (from.count != samples.size() || from.is_dense != are_alike) {
    DeviceValues copied = reserve(work.stream, work.step, samples, type);
    for (int i : samples)
      work.stream.copy(copied.views[i].data, from.views[i].data,
                       static_cast<size_t>(copied.views[i].bytes()), Copy::kOnDevice, "copy");
    return copied;
  }
  DeviceValues v{from.owner, std::vector<View>(from.views.size()), samples.size(), are_alike};
  for (int i : samples)
    v.views[i] = View::dense(from.views[i].data, type(i).dtype, type(i).shape, type(i).layout);
  return v;
}

// Requires: the node begins a pass or is in none.
void DeviceStage::run_node(EnqueuedStage& work, int node) const {
  if (plan_.checked(node).type->is_merge) {
    work.values.emplace(Ref{node, 0}, run_pass(work, node, node, taken_views(work, node)));
    return;
  }
  if (plan_.checked(node).type->is_alias) {
    work.values.emplace(Ref{node, 0}, alias(work, node));
    return;
  }
  if (!plan_.checked(node).lowers()) return run_operator(work, node);
  int tail = node;
  while (plan_.planned(tail).fuses_into >= 0) tail = plan_.planned(tail).fuses_into;
  const Ref from = *plan_.node(node).inputs[0];
  work.values.emplace(Ref{tail, 0}, node == tail && is_upload(work.step, node)
                                        ? upload(work, work.step.slot(plan_.slot_of(from)))
                                        : run_pass(work, node, tail, values_of(work, from).views));
}

// The outputs that stay on the device, by number.
std::map<size_t, Batch> DeviceStage::outputs_of(EnqueuedStage& work) const {
  auto on_device = std::make_shared<DeviceBatch>();
  on_device->device = &device_;
  on_device->step = step_in_words(plan_, work.step.cursors);
  std::set<const Buffer*> taken;  // aliases of each other are of one buffer
  std::map<size_t, Batch> batches;
  for (size_t k = 0; k < plan_.graph().outputs.size(); ++k) {
    if (plan_.slot_of_output(k) >= 0) continue;
    const Ref from = plan_.graph().outputs[k];
    at_node(from.node, [&] {
      const DeviceValues& v = values_of(work, from);
      const bool has_gaps = v.is_dense && v.count != work.step.made_samples().size();
      const bool is_copied = !taken.insert(v.owner.get()).second || has_gaps;
      batches[k] = batch_of(is_copied ? copy(work.stream, work.step, v) : v, work.step, from.node);
    });
    batches[k].on_device = on_device;
  }
  if (batches.empty()) return batches;
  on_device->ready = device_.make_event();
  work.stream.record(*on_device->ready);
  return batches;
}

// Keeps in the step the values that are needed later.
void DeviceStage::settle(Step& step, std::map<Ref, DeviceValues>& values, int stage) const {
  std::map<Ref, DeviceValues>& kept = step.on_device;
  kept.merge(values);
  std::erase_if(kept, [&](const auto& v) { return !plan_.is_needed_after(stage, v.first); });
}

// The values go to the step and to the outputs only when everything is enqueued, so a failure
// half-way keeps no memory.
void DeviceStage::enqueue(Step& step, int stage, Outputs* outputs) {
  Stream& stream = stream_of(step);
  std::map<Ref, DeviceValues> values;
  enqueue_with(stream, [&](Held& held) {
    EnqueuedStage work{step, stream, held, values};
    enqueue_stage(work, stage, outputs);
  });
  settle(step, values, stage);
}

void DeviceStage::enqueue_stage(EnqueuedStage& work, int stage, Outputs* outputs) const {
  std::vector<char> is_inside(plan_.size());  // by node: it continues a pass
  for (int n : plan_.device_nodes()) {
    if (const int next = plan_.planned(n).fuses_into; next >= 0) is_inside[next] = 1;
    if (plan_.planned(n).device_stage == stage && !is_inside[n])
      at_node(n, [&] { run_node(work, n); });
  }
  std::map<size_t, Batch> batches;
  if (outputs) batches = outputs_of(work);
  for (int k = 0; k < plan_.slot_count(); ++k)
    if (const Slot& s = plan_.slot(k);
        plan_.is_host_copy(k) && plan_.planned(s.from.node).device_stage == stage)
      at_node(s.from.node, [&] { download(work, values_of(work, s.from), work.step.slot(k)); });
  if (outputs) {
    if (plan_.has_copied_outputs()) {
      // The event of the copies also waits for the other outputs, so that whoever waits for the
      // copies hears of failures in those as well.
      if (!batches.empty()) work.stream.wait(*batches.begin()->second.on_device->ready);
      outputs->copied = device_.make_event();
      work.stream.record(*outputs->copied);
    }
    for (auto& [k, batch] : batches) {
      batch.provenance = outputs->batches[k].provenance;
      outputs->batches[k] = std::move(batch);
    }
  }
}

std::unique_ptr<Event> DeviceStage::notify(const Step& step, std::function<void()> call) const {
  std::unique_ptr<Event> event = device_.make_event();
  stream_of(step).record(*event);
  stream_of(step).call(std::move(call), 0, "landed");
  return event;
}

}  // namespace stoker
