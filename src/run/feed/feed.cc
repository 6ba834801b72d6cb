// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/feed/feed.h"

#include "kernels/strided_copy.h"
#include "op/type_of.h"
#include "run/memory_shares.h"

namespace stoker {

namespace {

constexpr int64_t kAlign = 64;  // of samples, where they need not lie without gaps

int64_t aligned(int64_t bytes, int64_t align) { return (bytes + align - 1) / align * align; }

int64_t bytes_of(const FedBatch& batch, int64_t align) {
  int64_t bytes = 0;
  for (const View& v : batch.samples) bytes += aligned(v.bytes(), align);
  return std::max<int64_t>(bytes, 1);
}

// Requires: `to` has bytes_of() bytes, which `owner` keeps alive.
FedBatch copy_to(std::byte* to, std::shared_ptr<const void> owner, const FedBatch& batch,
                 int64_t align) {
  FedBatch copied{{}, std::move(owner), batch.names};
  for (const View& v : batch.samples) {
    copy_to_dense(v, to);
    copied.samples.push_back(View::dense(to, v.dtype, v.shape, v.layout));
    to += aligned(v.bytes(), align);
  }
  return copied;
}

bool flag(const Node& n, const char* argument) {
  bool is_set = false;
  if (const auto it = n.arguments.find(argument); it != n.arguments.end())
    detail::set_value(argument, {}, it->second, is_set);
  return is_set;
}

}  // namespace

std::optional<Shape> FedBatch::common_shape() const {
  for (const View& v : samples)
    if (!(v.shape == samples[0].shape)) return std::nullopt;
  return samples[0].shape;
}

FedBatch FedBatch::copy() const {
  const std::shared_ptr<std::byte[]> bytes(new std::byte[bytes_of(*this, kAlign)]);
  return copy_to(bytes.get(), bytes, *this, kAlign);
}

Feeds::Feeds(std::shared_ptr<const Plan> plan, size_t limit)
    : plan_(std::move(plan)), pool_(limit) {
  for (int k = 0; k < plan_->input_count(); ++k)
    inputs_.push_back({flag(node(k), "repeat_last"), flag(node(k), "blocking"), {}, nullptr});
  pool_.on_release([this] {
    const MutexLock lock(mutex_);
    change_.notify_all();
  });
}

int Feeds::input(const std::string& name) const {
  std::vector<std::string> names;
  for (int i = 0; i < plan_->size(); ++i) {
    if (!plan_->checked(i).type->is_input) continue;
    if (plan_->node(i).name == name) return plan_->planned(i).input_number;
    names.push_back(plan_->node(i).name);
  }
  if (names.empty())
    throw_fault<GraphError>(Fault::kKey, "the pipeline has no input that can be fed");
  throw_fault<GraphError>(Fault::kKey,
                          "no input is named '" + name + "'." + did_you_mean(name, names));
}

void Feeds::set_awaited(int input, bool awaited) {
  const MutexLock lock(mutex_);
  inputs_[input].is_awaited = awaited;
}

void Feeds::check_batch(int input, const FedBatch& batch) const {
  const auto size = static_cast<int64_t>(batch.samples.size());
  const bool must_be_full = plan_->reader_count() > 0;
  if (size < 1 || size > plan_->batch_size() || (must_be_full && size != plan_->batch_size()))
    throw GraphError(node_in_words(node(input)) + ": a batch of " + std::to_string(size) +
                     " samples was fed; " +
                     (must_be_full ? "beside a reader it must be batch_size, " : "batch_size is ") +
                     std::to_string(plan_->batch_size()));
  const TensorType& want = plan_->checked(plan_->input_node(input)).outputs[0];
  for (size_t i = 0; i < batch.samples.size(); ++i) {
    const View& v = batch.samples[i];
    const bool is_other_layout = !v.layout.empty() && !(v.layout == want.layout);
    if (v.dtype == want.dtype && v.shape.rank == want.shape.rank && !is_other_layout) continue;
    throw GraphError(node_in_words(node(input)) + ": sample " + std::to_string(i) +
                     " that was fed is " + TensorType{v.dtype, v.layout, v.shape}.str() +
                     ", expected " + want.str() +
                     (v.shape.rank == want.shape.rank - 1
                          ? ". The first axis of an array is the batch; for an array that is one "
                            "sample, set batch=False"
                          : ""));
  }
}

void Feeds::check_size(int input, int64_t step, int64_t size) const {
  for (int other = 0; other < static_cast<int>(inputs_.size()); ++other) {
    const Entry* e = entry(inputs_[other], step);
    if (other == input || !e || !e->batch) continue;
    const auto others = static_cast<int64_t>(e->batch->samples.size());
    if (others != size)
      throw GraphError(node_in_words(node(input)) + ": a batch of " + std::to_string(size) +
                       " samples was fed for a step for which " + node_in_words(node(other)) +
                       " was fed " + std::to_string(others));
  }
}

std::shared_ptr<Buffer> Feeds::room(int input, size_t bytes, int wait_ms) {
  std::shared_ptr<Buffer> buffer;
  const auto has_room = [&] { return (buffer = pool_.try_acquire(bytes, Use::kFed)) != nullptr; };
  const MutexLock lock(mutex_);
  if (has_room()) return buffer;
  // Only waiting batches make room, once they are received.
  if (!wait_ms || !has_locked(received_))
    throw BudgetError(node_in_words(node(input)) +
                      ": no memory for a copy of a batch that was fed, " + in_words(bytes) +
                      "; batches that wait to be received have " + MemoryShares::kAhead.in_words() +
                      ". " + pool_.explain());
  change_.wait_for(mutex_, std::chrono::milliseconds(wait_ms), has_room);
  return buffer;
}

// Whether the batch, once copied, may become an output as it is.
bool Feeds::may_hand_out(int input, const FedBatch& batch) const {
  if (plan_->slot_of({plan_->input_node(input), 0}) < 0 || !batch.common_shape()) return false;
  const MutexLock lock(mutex_);
  return !inputs_[input].repeats;
}

// Copies all samples into one buffer. Gives nothing if there is no room yet.
std::optional<FedBatch> Feeds::copy(int input, const FedBatch& batch, int wait_ms) {
  const bool is_whole = may_hand_out(input, batch);
  const int64_t align = is_whole ? 1 : kAlign;
  const auto buffer = room(input, static_cast<size_t>(bytes_of(batch, align)), wait_ms);
  if (!buffer) return std::nullopt;
  FedBatch copied = copy_to(buffer->data(), buffer, batch, align);
  if (is_whole) copied.whole = buffer;
  return copied;
}

bool Feeds::feed(int input, FedBatch batch, bool copy, int wait_ms) {
  check_batch(input, batch);
  if (copy) {
    std::optional<FedBatch> copied = this->copy(input, batch, wait_ms);
    if (!copied) return false;
    batch = std::move(*copied);
  }
  const TensorType& type = plan_->checked(plan_->input_node(input)).outputs[0];
  for (View& v : batch.samples) v.layout = type.layout;
  auto fed = std::make_shared<const FedBatch>(std::move(batch));
  {
    const MutexLock lock(mutex_);
    Input& in = inputs_[input];
    check_size(input, received_ + static_cast<int64_t>(in.queue.size()),
               static_cast<int64_t>(fed->samples.size()));
    in.queue.push_back({fed, nullptr});
    if (in.repeats) in.last.swap(fed);  // the batch before is released without the lock
  }
  changed();
  return true;
}

void Feeds::fail(const std::vector<int>& inputs, const std::exception_ptr& why) {
  {
    const MutexLock lock(mutex_);
    for (int input : inputs) inputs_[input].queue.push_back({nullptr, why});
  }
  changed();
}

void Feeds::end_epoch(int input) {
  {
    const MutexLock lock(mutex_);
    const int64_t step = received_ + static_cast<int64_t>(inputs_[input].queue.size());
    ends_.insert(std::upper_bound(ends_.begin(), ends_.end(), step), step);
  }
  changed();
}

void Feeds::clear() {
  std::vector<std::deque<Entry>> gone;  // destroyed after the lock: this may take long
  const MutexLock lock(mutex_);
  for (Input& in : inputs_) {
    gone.emplace_back().swap(in.queue);
    if (in.last) gone.back().push_back({std::move(in.last), nullptr});
  }
  ends_.clear();
}

const Feeds::Entry* Feeds::entry(const Input& in, int64_t step) const {
  const int64_t k = step - received_;
  return k >= 0 && k < static_cast<int64_t>(in.queue.size()) ? &in.queue[k] : nullptr;
}

bool Feeds::has_locked(int64_t step) const {
  return std::all_of(inputs_.begin(), inputs_.end(), [&](const Input& in) STOKER_REQUIRES(mutex_) {
    const Entry* e = entry(in, step);
    return e && e->batch;
  });
}

bool Feeds::has(int64_t step) const {
  const MutexLock lock(mutex_);
  return has_locked(step);
}

std::shared_ptr<const FedStep> Feeds::at(int64_t step) const {
  if (!plan_->input_count()) return nullptr;
  auto s = std::make_shared<FedStep>();
  const MutexLock lock(mutex_);
  for (const Input& in : inputs_) s->batches.push_back(entry(in, step)->batch);
  s->size = static_cast<int64_t>(s->batches[0]->samples.size());
  return s;
}

bool Feeds::is_at_marker_locked() const {
  if (!ends_.empty() && ends_.front() == received_) return true;
  return std::any_of(inputs_.begin(), inputs_.end(),
                     [](const Input& in) { return !in.queue.empty() && in.queue.front().failure; });
}

bool Feeds::is_at_marker() const {
  const MutexLock lock(mutex_);
  return is_at_marker_locked();
}

void Feeds::pop_step() {
  std::vector<Entry> gone;  // released after the lock: this may take long
  const MutexLock lock(mutex_);
  for (Input& in : inputs_) {
    if (in.queue.empty()) continue;
    gone.push_back(std::move(in.queue.front()));
    in.queue.pop_front();
  }
  ++received_;
}

bool Feeds::meet_marker() {
  std::exception_ptr failure;
  {
    const MutexLock lock(mutex_);
    if (!ends_.empty() && ends_.front() == received_) {
      ends_.pop_front();
      return true;
    }
    for (const Input& in : inputs_)
      if (!failure && !in.queue.empty()) failure = in.queue.front().failure;
  }
  if (!failure) return false;
  pop_step();
  changed();
  std::rethrow_exception(failure);
}

void Feeds::complete() {
  bool any = false;
  {
    const MutexLock lock(mutex_);
    if (is_at_marker_locked()) return;
    for (int k = 0; k < static_cast<int>(inputs_.size()); ++k) {
      Input& in = inputs_[k];
      if (!in.queue.empty() || (!in.last && in.is_awaited)) continue;
      if (!in.last)
        throw_fault<SourceError>(
            Fault::kIndex,
            node_in_words(node(k)) + ": nothing was fed for this step; call feed_input('" +
                node(k).name +
                "', ...) before run(), give it a source=, or blocking=True to wait for "
                "another thread that feeds it");
      check_size(k, received_, static_cast<int64_t>(in.last->samples.size()));
      in.queue.push_back({in.last, nullptr});
      any = true;
    }
  }
  if (any) changed();
}

bool Feeds::wait(int64_t step, int milliseconds) const {
  const MutexLock lock(mutex_);
  change_.wait_for(mutex_, std::chrono::milliseconds(milliseconds), [&]() STOKER_REQUIRES(mutex_) {
    return has_locked(step) || is_at_marker_locked();
  });
  return has_locked(step) && !is_at_marker_locked();
}

void Feeds::receive() {
  pop_step();
  changed();
}

int64_t Feeds::received() const {
  const MutexLock lock(mutex_);
  return received_;
}

void Feeds::on_change(std::function<void()> callback) {
  const MutexLock lock(callback_mutex_);
  callback_ = std::move(callback);
}

void Feeds::changed() {
  {
    const MutexLock lock(mutex_);
    change_.notify_all();
  }
  const MutexLock lock(callback_mutex_);
  if (callback_) callback_();
}

}  // namespace stoker
