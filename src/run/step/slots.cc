// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/step/slots.h"

#include <cstring>

#include "run/step/samples.h"

namespace stoker {

namespace {

std::shared_ptr<Buffer> acquire(HostPool& pool, int64_t bytes) {
  return pool.try_acquire(static_cast<size_t>(std::max<int64_t>(bytes, 1)), Use::kOutput);
}

int64_t bytes_of(const TensorType& t) { return t.shape.volume() * size_of(t.dtype); }

}  // namespace

Slots::Slots(const Plan& plan, std::shared_ptr<const FedStep> fed, int64_t size,
             const ExecutorOptions& options)
    : plan_(plan),
      fed_(std::move(fed)),
      size_(size),
      error_policy_(options.settings.error_policy()),
      limit_(options.output_limit),
      claimed_(static_cast<size_t>(size) * static_cast<size_t>(plan.stage_count())),
      memory_(plan.slot_count()),
      batches_(plan.slot_count()) {
  for (SlotMemory& s : memory_) {
    s.own.resize(static_cast<size_t>(size));
    s.views.resize(static_cast<size_t>(size));
  }
}

const FedBatch* Slots::fed_for(int node) const {
  const int input = plan_.planned(node).input_number;
  return input >= 0 ? fed_->batches[input].get() : nullptr;
}

// The type of a slot in this step: samples that were fed in one shape make a dense batch.
TensorType Slots::type_of(int slot) const {
  TensorType type = plan_.slot(slot).type;
  if (const FedBatch* b = fed_for(plan_.slot(slot).from.node))
    if (const auto shape = b->common_shape()) type.shape = *shape;
  return type;
}

std::optional<int64_t> Slots::fixed_bytes(size_t slot) const {
  const TensorType type = type_of(static_cast<int>(slot));
  if (!is_fixed(type)) return std::nullopt;
  int64_t bytes;
  if (__builtin_mul_overflow(bytes_of(type), size_, &bytes))
    throw BudgetError("a batch of " + std::to_string(size_) + " samples of " + type.str() +
                      " is larger than any memory");
  return bytes;
}

// Whether the memory of what was fed becomes the slot's: Note [What was fed].
bool Slots::may_take_fed(int slot) const {
  const FedBatch* b = fed_for(plan_.slot(slot).from.node);
  return b && b->whole && is_first(slot) && !error_policy_.leaves_samples_out() &&
         !plan_.has_device_stage();
}

bool Slots::allocate(HostPool& pool, bool takes_fed) {
  for (size_t k = 0; k < memory_.size(); ++k) {
    const auto bytes = fixed_bytes(k);
    if (!bytes) continue;
    SlotMemory& s = memory_[k];
    s.type = type_of(static_cast<int>(k));
    if (takes_fed && may_take_fed(static_cast<int>(k))) {
      s.whole = fed_for(plan_.slot(k).from.node)->whole;
      s.room = pool.try_charge(size_class(s.whole->size()), Use::kOutput);
      if (!s.room) return false;
    } else {
      s.whole = acquire(pool, *bytes);
      if (!s.whole) return false;
    }
  }
  return true;
}

size_t Slots::fixed_bytes() const {
  size_t sum = 0;
  for (size_t k = 0; k < memory_.size(); ++k)
    if (const auto bytes = fixed_bytes(k)) sum += size_class(static_cast<size_t>(*bytes));
  return sum;
}

size_t Slots::claim_of(const TensorType& type) {
  return size_class(static_cast<size_t>(bytes_of(type)));
}

void Slots::claim(int i, int stage, size_t bytes) {
  claimed(i, stage) += bytes;
  size_t sum = 0;
  for (int s = 0; s <= stage; ++s) sum += claimed(i, s);
  if (sum > limit_)
    throw TooLarge("what comes out of the sample needs at least " + in_words(sum) +
                   " of memory, and all batches may take " + in_words(limit_) + " at most, " +
                   MemoryShares::kBatches.in_words());
}

size_t Slots::need_of(int slot, const TensorType& type) const {
  return memory_[slot].whole ? 0 : claim_of(type);
}

View Slots::reserve(int slot, int i, const TensorType& type, HostPool& pool) {
  SlotMemory& s = memory_[slot];
  if (!s.whole) {
    s.own[i] = acquire(pool, bytes_of(type));
    if (!s.own[i]) throw Starved{{}, claim_of(type)};
  } else if (bytes_of(type) > bytes_of(s.type)) {
    throw Error("sample " + std::to_string(i) + " is " + type.str() + ", where each sample has " +
                "room for " + s.type.str());
  }
  std::byte* data = s.whole ? s.whole->data() + i * bytes_of(s.type) : s.own[i]->data();
  return s.views[i] = View::dense(data, type.dtype, type.shape, type.layout);
}

bool Slots::keep(int slot, int i, const View& value, const std::shared_ptr<Buffer>& owner,
                 HostPool& pool) {
  SlotMemory& s = memory_[slot];
  if (s.whole || !is_first(slot)) return false;
  if (size_class(static_cast<size_t>(value.bytes())) != size_class(owner->size())) return false;
  if (!pool.try_keep(*owner)) return false;
  s.own[i] = owner;
  s.views[i] = value;
  return true;
}

size_t Slots::need_of_whole(int slot, const TensorType& type) const {
  if (fixed_bytes(static_cast<size_t>(slot))) return 0;
  return size_class(static_cast<size_t>(bytes_of(type) * size_));
}

void Slots::begin_whole(int slot, const TensorType* type, HostPool& pool) {
  if (fixed_bytes(static_cast<size_t>(slot))) return;
  SlotMemory& s = memory_[slot];
  s.whole.reset();
  for (auto& own : s.own) own.reset();
  if (!type) return;
  s.type = *type;
  s.whole = acquire(pool, bytes_of(*type) * size_);
  if (!s.whole) throw Starved{{}, need_of_whole(slot, *type)};
}

void Slots::forget(int i, int stage) {
  claimed(i, stage) = 0;
  for (int k = 0; k < plan_.slot_count(); ++k)
    if (plan_.stage_of(plan_.slot(k).from) == stage) {
      memory_[k].own[i].reset();
      memory_[k].views[i] = {};
    }
}

const View& Slots::host_view(const Ref& value, int i) const {
  const FedBatch* b = fed_for(value.node);
  return b ? b->samples[i] : view(plan_.host_slot(value), i);
}

HostBatch Slots::host_batch(const Ref& value, std::span<const int> samples) const {
  HostBatch batch;
  for (int i : samples) batch.samples.push_back(host_view(value, i));
  if (fed_for(value.node)) {
    batch.owner = fed_;
    return batch;
  }
  const SlotMemory& memory = memory_[plan_.host_slot(value)];
  auto owners = std::make_shared<std::vector<std::shared_ptr<Buffer>>>(memory.own);
  owners->push_back(memory.whole);
  batch.owner = std::move(owners);
  return batch;
}

Batch Slots::collect_slot(SlotMemory& memory, const Slot& slot, const Samples& samples) {
  Batch b;
  b.dtype = slot.type.dtype;
  b.layout = slot.type.layout;
  bool is_partial = false;  // it has no value for some of the samples
  if (!plan_.node(slot.from.node).guards.empty())
    for (size_t i = 0; i < memory.views.size(); ++i)
      is_partial |= samples.is_made[i] && !memory.views[i].data;
  const int64_t room = memory.whole ? bytes_of(memory.type) : 0;  // of each sample
  bool is_whole = memory.whole && !is_partial;
  size_t made = 0;
  for (size_t i = 0; i < memory.views.size(); ++i) {
    View& v = memory.views[i];
    if (!samples.is_made[i] || (is_partial && !v.data)) continue;
    if (memory.whole && !is_partial) {
      std::byte* to = memory.whole->data() + static_cast<int64_t>(made) * room;
      if (to != v.data) std::memmove(to, v.data, v.bytes());
      v.data = to;
    }
    b.layout = v.layout;
    b.samples.push_back({v, memory.whole ? memory.whole : memory.own[i],
                         samples.origin(slot.from.node, static_cast<int>(i)).index,
                         static_cast<int64_t>(i)});
    // A sample without elements may lie among others.
    is_whole &= v.shape == b.samples[0].view.shape && (v.bytes() == room || v.bytes() == 0);
    ++made;
  }
  if (is_whole) b.whole = memory.whole;
  return b;
}

bool Slots::has_new_gaps(const Samples& samples) const {
  return collected_ >= 0 && collected_ != samples.made_count();
}

void Slots::collect(const Samples& samples, int stage) {
  collected_ = samples.made_count();
  for (int k = 0; k < plan_.slot_count(); ++k)
    if (plan_.stage_of(plan_.slot(k).from) <= stage)
      batches_[k] = collect_slot(memory_[k], plan_.slot(k), samples);
}

void Slots::drop_batches() {
  collected_ = -1;
  std::fill(batches_.begin(), batches_.end(), Batch{});
}

void Slots::take_over_fed(HostPool& pool) {
  for (SlotMemory& s : memory_)
    if (s.room) pool.take_over(*s.whole, std::move(s.room));
}

size_t Slots::bytes() const {
  size_t n = 0;
  for (const SlotMemory& s : memory_) {
    if (s.whole) n += s.whole->size();
    for (auto& b : s.own)
      if (b) n += b->size();
  }
  return n;
}

}  // namespace stoker
