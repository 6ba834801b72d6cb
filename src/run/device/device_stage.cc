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

// Keeps the batch, and gives the numbers of its samples.
std::vector<int> hold(Held& held, const Batch& batch) {
  std::vector<int> samples;
  for (const Sample& s : batch.samples) {
    held.push_back(s.owner);
    samples.push_back(static_cast<int>(s.in_batch));
  }
  return samples;
}

// Copies these samples. `at_once`: they lie alike on both sides, with no other bytes between them.
void copy_samples(Stream& stream, std::span<const int> samples, const std::vector<View>& from,
                  const std::vector<View>& to, bool at_once, Copy kind, const char* name) {
  const auto bytes = [&](int i) { return static_cast<size_t>(from[i].bytes()); };
  const auto copy = [&](int i, size_t size) {
    stream.copy(to[i].data, from[i].data, size, kind, name);
  };
  if (samples.empty()) return;
  if (!at_once) {
    for (int i : samples) copy(i, bytes(i));
    return;
  }
  const int first = samples.front(), last = samples.back();
  const auto before_last = from[last].as<std::byte>() - from[first].as<std::byte>();
  copy(first, static_cast<size_t>(before_last) + bytes(last));
}

}  // namespace

DeviceStage::DeviceStage(std::shared_ptr<const Plan> plan, const ExecutorOptions& options,
                         HostPool& pool, std::function<void()> bell)
    : owner_(std::move(plan)),
      plan_(*owner_),
      pool_(pool),
      device_(device(options.device_id)),
      memory_(std::make_shared<DeviceBudget>(device_, options.device_limit)),
      staging_(SIZE_MAX, std::make_shared<PinnedAllocator>(device_)),
      bell_(std::make_shared<Bell>(std::move(bell))) {
  for (int i = 0; i <= options.settings.prefetch_queue_depth; ++i)  // as many steps may overlap
    streams_.push_back(device_.make_stream("pipeline " + std::to_string(i)));
  if (!plan_.mixed_nodes().empty()) decoder_ = make_device_decoder(memory_);
}

void DeviceStage::trim() {
  if (decoder_) decoder_->trim();
  staging_.trim();
  device_.trim();
}

void DeviceStage::finish() const {
  for (const auto& stream : streams_) stream->synchronize();
}

std::vector<int> DeviceStage::issue(Step& step, int stage, Issued& state, bool insists) {
  try {
    return try_issue(step, stage, state);
  } catch (const DeviceFull&) {
    if (!insists || !make_room()) throw;
  }
  return try_issue(step, stage, state);
}

std::vector<int> DeviceStage::try_issue(Step& step, int stage, Issued& state) {
  const bool is_last = plan_.is_last(stage);
  if (!state.is_collected) {
    std::vector<int> refused = decode(step, stage);
    if (!refused.empty()) return refused;
    if (step.slots.has_new_gaps(step.samples)) wait(step);
    if (is_last) state.outputs = step.publish(owner_, pool_);
    else step.slots.collect(step.samples, stage);
    state.is_collected = true;
  }
  if (!is_last || !state.outputs->is_lost)
    enqueue(step, stage, is_last ? &*state.outputs : nullptr);
  if (!plan_.stage(stage).is_awaited) return {};
  state.copied = device_.make_event();
  stream_of(step).record(*state.copied);
  stream_of(step).call([bell = bell_] { bell->ring(); }, 0, "landed");
  return {};
}

bool DeviceStage::is_copied(Issued& state) {
  if (!state.copied->query()) return false;
  state.copied->check();
  state.copied.reset();
  return true;
}

// Returns whether the decoder had spare memory to give back.
bool DeviceStage::make_room() {
  const size_t before = memory_->in_use();
  if (decoder_) decoder_->trim();
  return memory_->in_use() < before;
}

// Samples of one shape lie without gaps; others are aligned for vector access.
DeviceEdge DeviceStage::reserve(EnqueuedStage& work, std::span<const int> samples,
                                const std::function<TensorType(int sample)>& type_of) const {
  constexpr int64_t kAlign = 256;
  std::vector<TensorType> types;
  for (int i : samples) types.push_back(type_of(i));
  DeviceEdge v;
  v.views.resize(static_cast<size_t>(work.step.samples.size()));
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
  v.owner = acquire(work.stream, static_cast<size_t>(size));
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

// Launches each stage once, however ragged the batch is. Most batches have one stage.
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

DeviceEdge DeviceStage::upload(EnqueuedStage& work, const Ref& value) const {
  const int slot = plan_.slot_of(value);
  const Batch& batch = work.step.slots.batch(slot);
  const std::vector<View>& from = work.step.slots.views(slot);
  const std::vector<int> samples = hold(work.held, batch);
  DeviceEdge v = reserve(work, samples, [&](int i) { return from[i].whole(); });
  copy_samples(work.stream, samples, from, v.views, batch.is_dense(), Copy::kToDevice, "upload");
  return v;
}

DeviceEdge DeviceStage::run_line(EnqueuedStage& work, int head, int tail,
                                 std::span<const View> in) const {
  const Step& step = work.step;
  const std::vector<int> samples = step.samples_with({tail, 0});
  DeviceEdge out =
      reserve(work, samples, [&](int i) { return step.on_device.task(tail, i).types[0]; });
  if (samples.empty()) return out;
  FusedBatch batch;
  std::vector<Block> blocks;
  for (int i : samples) {
    const auto gather = [&](int64_t frame) -> const std::vector<Block>& {
      blocks.clear();
      for (int n = head;; n = plan_.planned(n).fuses_into) {
        const auto& more = DeviceTask::of_frame(step.on_device.task(n, i).blocks, frame);
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

// Copies these samples of a value, as they are or under other types.
DeviceEdge DeviceStage::copy(EnqueuedStage& work, const DeviceEdge& value,
                             std::span<const int> samples,
                             const std::function<TensorType(int sample)>& type_of) const {
  DeviceEdge c = reserve(work, samples, type_of);
  copy_samples(work.stream, samples, value.views, c.views,
               c.count == value.count && c.is_dense == value.is_dense, Copy::kOnDevice, "copy");
  return c;
}

void DeviceStage::download(EnqueuedStage& work, int slot) const {
  const Batch& to = work.step.slots.batch(slot);
  const DeviceEdge& value = values_of(work, plan_.slot(slot).from);
  copy_samples(work.stream, hold(work.held, to), value.views, work.step.slots.views(slot),
               value.is_dense && to.is_dense() && value.count == to.samples.size(), Copy::kToHost,
               "download");
}

Batch DeviceStage::batch_of(const DeviceEdge& value, const Step& step, int node) const {
  Batch b;
  for (int i : step.samples.made()) {
    if (!value.views[i].data) continue;  // another variant has it
    b.samples.push_back(
        {value.views[i], value.owner, step.samples.origin(node, i).index, static_cast<int64_t>(i)});
  }
  if (b.samples.empty()) return b;
  b.dtype = b.samples[0].view.dtype;
  b.layout = b.samples[0].view.layout;
  if (value.is_dense) b.whole = value.owner;
  return b;
}

const DeviceEdge& DeviceStage::values_of(EnqueuedStage& work, const Ref& from) const {
  if (const auto it = work.values.find(from); it != work.values.end()) return it->second;
  if (const auto it = work.step.on_device.values.find(from); it != work.step.on_device.values.end())
    return it->second;
  return work.values.emplace(from, upload(work, from)).first->second;
}

// Whether the node only brings a value to the device that no other node there reads.
bool DeviceStage::is_upload(const Step& step, int node) const {
  if (plan_.checked(node).unfold || !plan_.node(node).guards.empty() ||
      !plan_.goes_up_once(*plan_.node(node).inputs[0]))
    return false;
  const std::vector<int> made = step.samples.made();
  return std::all_of(made.begin(), made.end(), [&](int i) {
    const DeviceTask& task = step.on_device.task(node, i);
    return task.blocks[0].size() == 1 && is_identity(task.blocks[0][0], task.inputs[0]);
  });
}

// By sample: the value of the side that a merge takes.
std::vector<View> DeviceStage::taken_views(EnqueuedStage& work, int node) const {
  std::vector<View> views(static_cast<size_t>(work.step.samples.size()));
  for (int i : work.step.samples_with({node, 0})) {
    const Ref from = *plan_.node(node).inputs[work.step.on_device.task(node, i).taken];
    views[i] = values_of(work, from).views[i];
  }
  return views;
}

// The bytes of the node's input under other types. They stay in place unless there would be gaps
// between samples that are alike, or none between others.
DeviceEdge DeviceStage::alias(EnqueuedStage& work, int node) const {
  const DeviceEdge& from = values_of(work, *plan_.node(node).inputs[0]);
  const std::vector<int> samples = work.step.samples_with({node, 0});
  const auto type = [&](int i) -> const TensorType& {
    return work.step.on_device.task(node, i).types[0];
  };
  const bool are_alike = std::all_of(samples.begin(), samples.end(),
                                     [&](int i) { return type(i) == type(samples[0]); });
  if (from.count != samples.size() || from.is_dense != are_alike)
    return copy(work, from, samples, type);
  DeviceEdge v{from.owner, std::vector<View>(from.views.size()), samples.size(), are_alike};
  for (int i : samples)
    v.views[i] = View::dense(from.views[i].data, type(i).dtype, type(i).shape, type(i).layout);
  return v;
}

// Requires: the node begins a pass or is in none.
void DeviceStage::run_node(EnqueuedStage& work, int node) const {
  const OperatorType& type = *plan_.checked(node).type;
  if (!type.is_merge && !type.is_alias && !plan_.checked(node).lowers())
    return run_operator(work, node);
  int tail = node;
  while (plan_.planned(tail).fuses_into >= 0) tail = plan_.planned(tail).fuses_into;
  const Ref from = *plan_.node(node).inputs[0];
  const auto value = [&] {
    if (type.is_merge) return run_line(work, node, tail, taken_views(work, node));
    if (type.is_alias) return alias(work, node);
    if (node == tail && is_upload(work.step, node)) return upload(work, from);
    return run_line(work, node, tail, values_of(work, from).views);
  };
  work.values.emplace(Ref{tail, 0}, value());
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
      const DeviceEdge& v = values_of(work, from);
      const std::vector<int> made = work.step.samples_with(from);
      const bool has_gaps = v.is_dense && v.count != made.size();
      // Outputs never share bytes.
      const bool is_copied = !taken.insert(v.owner.get()).second || has_gaps;
      const auto type = [&](int i) { return v.views[i].whole(); };
      batches[k] =
          batch_of(is_copied ? copy(work, v, made, type) : v, work.step, plan_.named_by(k));
    });
    batches[k].on_device = on_device;
  }
  if (batches.empty()) return batches;
  on_device->ready = device_.make_event();
  work.stream.record(*on_device->ready);
  return batches;
}

// Everything of a stage except decoding. `outputs` is null before the last stage. The step and the
// outputs get their values when everything is enqueued, so a failure half-way keeps no memory.
void DeviceStage::enqueue(Step& step, int stage, Outputs* outputs) {
  Stream& stream = stream_of(step);
  std::map<Ref, DeviceEdge> values;
  enqueue_with(stream, [&](Held& held) {
    EnqueuedStage work{step, stream, held, values};
    enqueue_stage(work, stage, outputs);
  });
  step.on_device.values.merge(values);
  std::erase_if(step.on_device.values,
                [&](const auto& v) { return !plan_.is_needed_after(stage, v.first); });
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
      at_node(s.from.node, [&] { download(work, k); });
  if (outputs) {
    if (plan_.has_copied_outputs()) {
      // Whoever waits for the copies has to hear of failures in the other outputs as well.
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

}  // namespace stoker
