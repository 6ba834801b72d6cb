// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/executors/executor.h"

#include "run/device/device_stage.h"

namespace stoker {

// What is read may become an output as it is, and then keeps memory of `pool`. Pinned memory is too
// dear for that. Without threads for reading, nothing is read before it is taken.
Executor::Executor(ExecutorArguments a, std::function<void()> bell)
    : plan_(std::move(a.plan)),
      options_(std::move(a.options)),
      pool_(a.pool),
      feeds_(a.feeds),
      cursors_(std::move(a.cursors)) {
  const int threads = *options_.settings.io_threads, readers = plan_->reader_count();
  HostPool& read = threads && !plan_->has_device_stage() ? pool_ : read_;
  for (int r = 0; r < readers; ++r) {
    const auto index_of = [this, r](int64_t turn) {
      const int64_t batch = plan_->batch_size();
      const int64_t cursor = plan_->order(r).after(cursors_[r], turn / batch);
      return plan_->sample_at(r, cursor, turn % batch).index;
    };
    fetchers_.push_back(std::make_unique<io::Fetcher>(
        threads, options_.read_ahead_limit / static_cast<size_t>(readers), plan_->store(r), read,
        index_of));
    if (threads) fetchers_[r]->schedule(INT64_MAX);  // only the limit bounds how far it reads ahead
  }
  if (plan_->has_device_stage())
    device_ = std::make_unique<DeviceStage>(plan_, options_, pool_, std::move(bell));
}

Executor::~Executor() = default;

DeviceShare Executor::device_share() const {
  if (!device_) return {};
  const DeviceBudget& memory = device_->memory();
  return {memory.limit(), memory.in_use(), memory.high_water()};
}

void Executor::mark_held(const Outputs& outputs) {
  for (const Batch& b : outputs.batches) {
    if (b.on_device) continue;
    if (b.whole) pool_.set_use(*b.whole, Use::kHeld);
    else
      for (const Sample& s : b.samples) pool_.set_use(*s.owner, Use::kHeld);
  }
}

void Executor::trim() {
  if (device_) device_->trim();
  read_.trim();
}

}  // namespace stoker
