// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/step/step.h"

#include <cstring>

#include "base/hash.h"

namespace stoker {

namespace {

std::shared_ptr<Buffer> acquire(HostPool& pool, int64_t bytes) {
  return pool.try_acquire(static_cast<size_t>(std::max<int64_t>(bytes, 1)), Use::kOutput);
}

constexpr int kReplacements = 16;  // the most for one sample

int64_t bytes_of(const TensorType& t) { return t.shape.volume() * size_of(t.dtype); }

// A replacement depends only on the order's key and the position, so it is the same for any number
// of shards, workers or batches.
int64_t index_of(const io::OrderSpec& spec, const io::SampleRef& place, int attempt) {
  if (attempt == 0) return place.index;
  const uint64_t h = mix(spec.key, static_cast<uint64_t>(place.epoch),
                         static_cast<uint64_t>(place.position), static_cast<uint64_t>(attempt));
  return static_cast<int64_t>(h % static_cast<uint64_t>(spec.size));
}

}  // namespace

Step::Step(const Plan& p, int64_t number, std::vector<int64_t> cursors,
           std::shared_ptr<const FedStep> given, const ExecutorOptions& options)
    : plan(p),
      number(number),
      cursors(std::move(cursors)),
      fed(std::move(given)),
      is_made(fed ? fed->size : plan.batch_size()),
      attempts(is_made.size()),
      max_attempts(options.settings.on_error == OnError::kReplace && plan.reader_count()
                       ? 1 + kReplacements
                       : 1),
      origins(is_made.size()),
      pictures(is_made.size()),
      is_refused(is_made.size()),
      on_error_(options.settings.on_error),
      limit_(options.output_limit),
      tasks_(is_made.size(), std::vector<DeviceTask>(plan.device_nodes().size())),
      claimed_(is_made.size() * static_cast<size_t>(plan.stage_count())),
      memory_(plan.slot_count()),
      slots_(plan.slot_count()) {
  for (auto& sample : pictures) sample.resize(plan.mixed_nodes().size());
  for (SlotMemory& s : memory_) {
    s.own.resize(is_made.size());
    s.views.resize(is_made.size());
  }
}

// What was fed for a node, or null.
const FedBatch* Step::fed_for(int node) const {
  const int input = plan.planned(node).input_number;
  return input >= 0 ? fed->batches[input].get() : nullptr;
}

// The type of a slot in this step: samples that were fed in one shape make a dense batch.
TensorType Step::type_of(int slot) const {
  TensorType type = plan.slot(slot).type;
  if (const FedBatch* b = fed_for(plan.slot(slot).from.node))
    if (const auto shape = b->common_shape()) type.shape = *shape;
  return type;
}

// The bytes of a slot of fixed type, or none.
std::optional<int64_t> Step::fixed_bytes(size_t slot) const {
  const TensorType type = type_of(static_cast<int>(slot));
  if (!is_fixed(type)) return std::nullopt;
  int64_t bytes;
  if (__builtin_mul_overflow(bytes_of(type), size(), &bytes))
    throw BudgetError("a batch of " + std::to_string(size()) + " samples of " + type.str() +
                      " is larger than any memory");
  return bytes;
}

// Whether the memory of what was fed becomes the slot's: Note [What was fed].
bool Step::may_take_fed(int slot) const {
  const FedBatch* b = fed_for(plan.slot(slot).from.node);
  return b && b->whole && is_first(slot) && !leaves_samples_out(on_error_) &&
         !plan.has_device_stage();
}

bool Step::allocate(HostPool& pool, bool takes_fed) {
  for (size_t k = 0; k < memory_.size(); ++k) {
    const auto bytes = fixed_bytes(k);
    if (!bytes) continue;
    SlotMemory& s = memory_[k];
    s.type = type_of(static_cast<int>(k));
    if (takes_fed && may_take_fed(static_cast<int>(k))) {
      s.whole = fed_for(plan.slot(k).from.node)->whole;
      s.room = pool.try_charge(size_class(s.whole->size()), Use::kOutput);
      if (!s.room) return false;
    } else {
      s.whole = acquire(pool, *bytes);
      if (!s.whole) return false;
    }
  }
  return true;
}

size_t Step::fixed_bytes() const {
  size_t sum = 0;
  for (size_t k = 0; k < memory_.size(); ++k)
    if (const auto bytes = fixed_bytes(k)) sum += size_class(static_cast<size_t>(*bytes));
  return sum;
}

size_t Step::claim_of(const TensorType& type) {
  return size_class(static_cast<size_t>(bytes_of(type)));
}

void Step::claim(int i, int stage, size_t bytes) {
  claimed(i, stage) += bytes;
  size_t sum = 0;
  for (int s = 0; s <= stage; ++s) sum += claimed(i, s);
  if (sum > limit_)
    throw TooLarge("what comes out of the sample needs at least " + in_words(sum) +
                   " of memory, and all batches may take " + in_words(limit_) +
                   " at most, half of memory_limit");
}

size_t Step::need_of(int slot, const TensorType& type) const {
  return memory_[slot].whole ? 0 : claim_of(type);
}

View Step::reserve(int slot, int i, const TensorType& type, HostPool& pool) {
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

bool Step::keep(int slot, int i, const View& value, const std::shared_ptr<Buffer>& owner,
                HostPool& pool) {
  SlotMemory& s = memory_[slot];
  if (s.whole || !is_first(slot)) return false;
  if (size_class(static_cast<size_t>(value.bytes())) != size_class(owner->size())) return false;
  if (!pool.try_keep(*owner)) return false;
  s.own[i] = owner;
  s.views[i] = value;
  return true;
}

size_t Step::need_of_whole(int slot, const TensorType& type) const {
  if (fixed_bytes(static_cast<size_t>(slot))) return 0;
  return size_class(static_cast<size_t>(bytes_of(type) * size()));
}

void Step::begin_whole(int slot, const TensorType* type, HostPool& pool) {
  if (fixed_bytes(static_cast<size_t>(slot))) return;
  SlotMemory& s = memory_[slot];
  s.whole.reset();
  for (auto& own : s.own) own.reset();
  if (!type) return;
  s.type = *type;
  s.whole = acquire(pool, bytes_of(*type) * size());
  if (!s.whole) throw Starved{{}, need_of_whole(slot, *type)};
}

void Step::forget(int i, int stage) {
  claimed(i, stage) = 0;
  for (int k = 0; k < plan.slot_count(); ++k)
    if (plan.stage_of(plan.slot(k).from) == stage) {
      memory_[k].own[i].reset();
      memory_[k].views[i] = {};
    }
  for (int n : plan.mixed_nodes())
    if (plan.planned(n).stage == stage) picture(n, i) = {};
}

const View& Step::host_view(const Ref& value, int i) const {
  const FedBatch* b = fed_for(value.node);
  return b ? b->samples[i] : view(plan.host_slot(value), i);
}

HostBatch Step::host_batch(const Ref& value, std::span<const int> samples) const {
  HostBatch batch;
  for (int i : samples) batch.samples.push_back(host_view(value, i));
  if (fed_for(value.node)) {
    batch.owner = fed;
    return batch;
  }
  const SlotMemory& memory = memory_[plan.host_slot(value)];
  auto owners = std::make_shared<std::vector<std::shared_ptr<Buffer>>>(memory.own);
  owners->push_back(memory.whole);
  batch.owner = std::move(owners);
  return batch;
}

std::vector<int> Step::made_samples() const {
  std::vector<int> list;
  for (int i = 0; i < size(); ++i)
    if (is_made[i]) list.push_back(i);
  return list;
}

bool Step::has(const Ref& value, int i) const {
  const PlanNode& p = plan.planned(value.node);
  // A picture that is only the other side of a merge is not made either.
  if (p.mixed_number >= 0) return picture(value.node, i).type.shape.rank > 0;
  if (plan.node(value.node).guards.empty()) return true;
  if (p.device_number >= 0) return task(value.node, i).is_there();
  return view(plan.host_slot(value), i).data;
}

std::vector<int> Step::samples_with(const Ref& value) const {
  std::vector<int> list = made_samples();
  std::erase_if(list, [&](int i) { return !has(value, i); });
  return list;
}

const TensorType& Step::type_on_device(const Ref& value, int i) const {
  if (plan.planned(value.node).mixed_number >= 0) return picture(value.node, i).type;
  return task(value.node, i).types[value.output];
}

TensorType Step::type_of(const Ref& value, int i) const {
  return plan.ends_on_device(value) ? type_on_device(value, i) : host_view(value, i).whole();
}

bool Step::is_to_rewind() const {
  for (int i = 0; i < size(); ++i)
    if (!is_made[i] && attempts[i] < max_attempts) return true;
  return false;
}

void Step::rewind() {
  on_device.clear();
  std::fill(slots_.begin(), slots_.end(), Batch{});
  std::fill(is_made.begin(), is_made.end(), 0);
  collected_ = -1;
  for (int i = 0; i < size(); ++i)
    for (int stage = 0; stage < plan.stage_count(); ++stage) forget(i, stage);
}

bool Step::is_lost() const {
  const int64_t made = made_count();
  return made == 0 || (!leaves_samples_out(on_error_) && made < size());
}

int Step::stage_after(int stage) const {
  const int next = stage + 1;
  const bool sees_batch =
      next < plan.stage_count() &&
      (plan.stage(next).kind == StageKind::kBatch || plan.stage(next).kind == StageKind::kPython);
  return made_count() == 0 || (sees_batch && is_lost()) ? plan.stage_count() : next;
}

void Step::lose() {
  std::fill(is_made.begin(), is_made.end(), 0);
  std::fill(attempts.begin(), attempts.end(), max_attempts);
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

void Step::find_origins(int i) {
  const io::SampleRef lead = plan.sample_at(plan.lead(), cursors[plan.lead()], i);
  std::vector<Origin>& list = origins[i];
  list.assign(plan.source_count(), {{lead.epoch, lead.position, 0}, nullptr, lead.index});
  for (int r = 0; r < plan.reader_count(); ++r) {
    list[r].provenance = &plan.store(r);
    list[r].index = index_of(plan.order(r).spec(), plan.sample_at(r, cursors[r], i), attempts[i]);
  }
  for (int k = 0; k < plan.input_count(); ++k) {
    Origin& origin = list[plan.reader_count() + k];
    if (const Provenance* names = fed->batches[k]->names.get()) {
      origin.provenance = names;
      origin.index = i;
    } else if (plan.reader_count()) {
      origin = list[plan.lead()];
    }
  }
}

// Of the batch that a node gives. It keeps its plan, or the names that were fed.
std::shared_ptr<const Provenance> Step::provenance(const std::shared_ptr<const Plan>& owner,
                                                   int node) const {
  const int input = plan.source_of(node) - plan.reader_count();
  if (input >= 0 && input < plan.input_count() && fed->batches[input]->names)
    return fed->batches[input]->names;
  return {owner, origin(node, made_samples().front()).provenance};
}

Batch Step::collect_slot(SlotMemory& memory, const Slot& slot) {
  Batch b;
  b.dtype = slot.type.dtype;
  b.layout = slot.type.layout;
  const bool has_guards = !plan.node(slot.from.node).guards.empty();
  const int64_t room = memory.whole ? bytes_of(memory.type) : 0;  // of each sample
  bool is_whole = memory.whole && !has_guards;
  size_t made = 0;
  for (size_t i = 0; i < is_made.size(); ++i) {
    View& v = memory.views[i];
    if (!is_made[i] || (has_guards && !v.data)) continue;
    // Close the gap that a skipped sample left.
    if (memory.whole && !has_guards) {
      std::byte* to = memory.whole->data() + static_cast<int64_t>(made) * room;
      if (to != v.data) std::memmove(to, v.data, v.bytes());
      v.data = to;
    }
    b.layout = v.layout;
    b.samples.push_back({v, memory.whole ? memory.whole : memory.own[i],
                         origin(slot.from.node, static_cast<int>(i)).index,
                         static_cast<int64_t>(i)});
    // A sample without elements may lie among others.
    is_whole &= v.shape == b.samples[0].view.shape && (v.bytes() == room || v.bytes() == 0);
    ++made;
  }
  if (is_whole) b.whole = memory.whole;
  return b;
}

bool Step::has_new_gaps() const { return collected_ >= 0 && collected_ != made_count(); }

void Step::collect(int stage) {
  collected_ = made_count();
  for (int k = 0; k < plan.slot_count(); ++k)
    if (plan.stage_of(plan.slot(k).from) <= stage)
      slots_[k] = collect_slot(memory_[k], plan.slot(k));
}

Outputs Step::publish(const std::shared_ptr<const Plan>& owner, HostPool& pool) {
  Outputs out;
  out.size = size();
  out.next = plan.cursors_after(cursors, 1);
  out.ends_epoch = plan.order(plan.lead()).ends_epoch(cursors[plan.lead()]);
  // A sample's own failures, of replacements, stay in their order.
  std::multimap<int64_t, SampleFailure> by_sample;
  for (SampleFailure& f : failures) by_sample.emplace(f.in_batch, std::move(f));
  for (auto& [sample, f] : by_sample) out.failures.push_back(std::move(f));
  out.missing = size() - made_count();
  out.is_lost = is_lost();
  if (out.is_lost) return out;

  for (SlotMemory& s : memory_)
    if (s.room) pool.take_over(*s.whole, std::move(s.room));
  collect(plan.stage_count());
  for (int k = 0; k < plan.slot_count(); ++k)
    slots_[k].provenance = provenance(owner, plan.slot(k).from.node);
  for (size_t n = 0; n < plan.graph().outputs.size(); ++n) {
    const int k = plan.slot_of_output(n);
    if (k < 0)
      out.batches.emplace_back().provenance = provenance(owner, plan.graph().outputs[n].node);
    else out.batches.push_back(slots_[k]);
  }
  return out;
}

std::string step_in_words(const Plan& plan, const std::vector<int64_t>& cursors) {
  const io::SampleRef first = plan.sample_at(plan.lead(), cursors[plan.lead()], 0);
  return "epoch " + std::to_string(first.epoch) + ", step from position " +
         std::to_string(first.position) + " on";
}

NoRoom::NoRoom(std::string before, size_t limit, bool suffices, std::string after)
    : BudgetError(before + std::to_string(limit) + (suffices ? ". " : ", and perhaps more. ") +
                  after),
      before_(std::move(before)),
      after_(std::move(after)) {}

NoRoom::NoRoom(const std::string& what, size_t bytes, const HostPool& pool)
    : NoRoom("no memory for " + what + ", which takes at least " + in_words(bytes) +
                 ". Batches have half of memory_limit, " + in_words(pool.usage().limit) + "; " +
                 (pool.usage().of(Use::kHeld) ? "hold fewer of them, or set " : "set ") +
                 "memory_limit to at least ",
             2 * (pool.usage().in_use + size_class(bytes)), false, pool.explain()) {}

NoRoom NoRoom::with_limit(size_t limit) const { return {before_, limit, true, after_}; }

void mark_held(const Outputs& outputs, HostPool& pool) {
  for (const Batch& b : outputs.batches) {
    if (b.on_device) continue;
    if (b.whole) pool.set_use(*b.whole, Use::kHeld);
    else
      for (const Sample& s : b.samples) pool.set_use(*s.owner, Use::kHeld);
  }
}

}  // namespace stoker
