// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/step.h"

#include <cstring>

namespace stoker {

namespace {

std::shared_ptr<Buffer> acquire(HostPool& pool, int64_t bytes) {
  return pool.try_acquire(static_cast<size_t>(std::max<int64_t>(bytes, 1)), Use::kOutput);
}

const Slot& slot_of(const Plan& plan, int k) {
  const int own = static_cast<int>(plan.slots().size());
  return k < own ? plan.slots()[k] : plan.host_copies()[k - own];
}

int64_t bytes_of(const TensorType& t) { return t.shape.volume() * size_of(t.dtype); }

}  // namespace

Step::Step(const Plan& plan, int64_t number, std::vector<int64_t> cursors,
           std::shared_ptr<const FedStep> given)
    : number(number),
      cursors(std::move(cursors)),
      fed(std::move(given)),
      is_made(fed ? fed->size : plan.batch_size()),
      index(is_made.size()),
      device_work(is_made.size()),
      pictures(is_made.size()),
      is_refused(is_made.size()),
      memory_(plan.slots().size() + plan.host_copies().size()) {
  for (SlotMemory& s : memory_) {
    s.own.resize(is_made.size());
    s.views.resize(is_made.size());
  }
}

// A slot's, with what is known of this step: samples fed in one shape make a dense batch.
TensorType Step::type_of(const Plan& plan, int slot) const {
  const Slot& s = slot_of(plan, slot);
  const int input = plan.planned(s.from.node).input;
  TensorType type = s.type;
  if (input < 0) return type;
  if (const auto shape = fed->batches[input]->common_shape()) type.shape = *shape;
  return type;
}

bool Step::allocate(const Plan& plan, HostPool& pool) {
  for (size_t k = 0; k < memory_.size(); ++k) {
    const TensorType type = type_of(plan, static_cast<int>(k));
    if (!is_fixed(type)) continue;
    int64_t bytes;
    if (__builtin_mul_overflow(bytes_of(type), size(), &bytes))
      throw BudgetError("a batch of " + std::to_string(size()) + " samples of " + type.str() +
                        " is larger than any memory");
    memory_[k].whole = acquire(pool, bytes);
    if (!memory_[k].whole) return false;
  }
  return true;
}

View Step::reserve(int slot, int i, const TensorType& type, HostPool& pool) {
  SlotMemory& s = memory_[slot];
  std::byte* data = nullptr;
  if (s.whole) {
    data = s.whole->data() + i * bytes_of(type);
  } else {
    s.own[i] = acquire(pool, bytes_of(type));
    if (!s.own[i]) throw Starved{};
    data = s.own[i]->data();
  }
  return s.views[i] = View::dense(data, type.dtype, type.shape, type.layout);
}

void Step::forget(int i) {
  for (SlotMemory& s : memory_) s.own[i].reset();
  pictures[i].clear();
}

size_t Step::bytes() const {
  size_t n = 0;
  for (const SlotMemory& s : memory_) {
    if (s.whole) n += s.whole->size();
    for (auto& b : s.own)
      if (b) n += b->size();
  }
  for (auto& sample : pictures)
    for (const Picture& p : sample)
      if (p.pixels.data) n += static_cast<size_t>(p.pixels.bytes());
  return n;
}

Batch Step::collect(SlotMemory& memory, const TensorType& type) {
  Batch b;
  b.dtype = type.dtype;
  b.layout = type.layout;
  size_t made = 0;
  for (size_t i = 0; i < is_made.size(); ++i) {
    if (!is_made[i]) continue;
    View v = memory.views[i];
    if (memory.whole && made != i) {  // a sample before this one was skipped: close the gap
      std::byte* to = memory.whole->data() + static_cast<int64_t>(made) * v.bytes();
      std::memmove(to, v.data, v.bytes());
      v.data = to;
    }
    b.layout = v.layout;
    b.samples.push_back(
        {v, memory.whole ? memory.whole : memory.own[i], index[i], static_cast<int64_t>(i)});
    ++made;
  }
  b.whole = memory.whole;
  return b;
}

// An output named twice: its bytes are never shared.
Batch Step::copy(const Batch& batch, HostPool& pool) const {
  Batch b = batch;
  if (b.whole) {
    b.whole = acquire(pool, static_cast<int64_t>(batch.whole->size()));
    if (!b.whole)
      throw BudgetError("no memory for an output that is named twice. " + pool.explain());
  }
  for (size_t i = 0, at = 0; i < b.samples.size(); ++i) {
    Sample& s = b.samples[i];
    const int64_t bytes = s.view.bytes();
    if (b.whole) {
      s.owner = b.whole;
    } else {
      s.owner = acquire(pool, bytes);
      if (!s.owner)
        throw BudgetError("no memory for an output that is named twice. " + pool.explain());
    }
    std::byte* to = s.owner->data() + (b.whole ? at : 0);
    std::memcpy(to, s.view.data, bytes);
    s.view.data = to;
    at += bytes;
  }
  return b;
}

Outputs Step::publish(const std::shared_ptr<const Plan>& plan, HostPool& pool, OnError on_error) {
  Outputs out;
  out.size = size();
  for (size_t r = 0; r < cursors.size(); ++r)
    out.next.push_back(plan->order(static_cast<int>(r)).next(cursors[r]));
  out.ends_epoch = plan->order(plan->lead()).ends_epoch(cursors[plan->lead()]);
  std::sort(failures.begin(), failures.end(),
            [](auto& a, auto& b) { return a.in_batch < b.in_batch; });
  out.failures = std::move(failures);
  const auto made = std::count(is_made.begin(), is_made.end(), 1);
  const bool all = made == static_cast<int64_t>(is_made.size());
  out.is_lost = (on_error != OnError::kSkip && !all) || made == 0;
  if (out.is_lost) return out;

  for (size_t k = 0; k < memory_.size(); ++k) {
    slots_.push_back(collect(memory_[k], slot_of(*plan, static_cast<int>(k)).type));
    slots_.back().provenance = plan;
  }
  std::vector<char> taken(slots_.size());
  for (size_t n = 0; n < plan->graph().outputs.size(); ++n) {
    const Ref& r = plan->graph().outputs[n];
    if (plan->node(r.node).device != DeviceKind::kCpu) {
      const int copy = plan->host_copy(n);
      out.batches.push_back(copy < 0 ? Batch{} : slots_[plan->slots().size() + copy]);
      continue;
    }
    const int k = plan->planned(r.node).output_slots[r.output];
    out.batches.push_back(std::exchange(taken[k], 1) ? copy(slots_[k], pool) : slots_[k]);
  }
  return out;
}

void hold(const Outputs& outputs, HostPool& pool) {
  for (const Batch& b : outputs.batches) {
    if (b.on_device) continue;
    if (b.whole) pool.set_use(*b.whole, Use::kHeld);
    else
      for (const Sample& s : b.samples) pool.set_use(*s.owner, Use::kHeld);
  }
}

}  // namespace stoker
