// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/executors/device_queue.h"

namespace stoker {

DeviceQueue::DeviceQueue(std::shared_ptr<const Plan> plan, const ExecutorOptions& options,
                         HostPool& pool, std::function<void()> bell)
    : plan_(std::move(plan)),
      pool_(pool),
      device_(*plan_, options.device_id, options.settings.prefetch_queue_depth + 1,
              options.device_limit),
      bell_(std::make_shared<Bell>(std::move(bell))) {}

std::vector<int> DeviceQueue::issue(Step& step, int stage, ForDevice& state, bool insists) {
  const auto enqueue_it = [&] { return enqueue(step, stage, state); };
  return insists ? device_.insist(enqueue_it) : enqueue_it();
}

std::vector<int> DeviceQueue::enqueue(Step& step, int stage, ForDevice& state) {
  const bool is_last = plan_->is_last(stage);
  if (!state.is_collected) {
    std::vector<int> refused = device_.decode(step, stage);
    if (!refused.empty()) return refused;
    if (step.has_new_gaps()) device_.wait(step);
    if (is_last) state.outputs = step.publish(plan_, pool_);
    else step.collect(stage);
    state.is_collected = true;
  }
  if (!is_last || !state.outputs->is_lost)
    device_.enqueue(step, stage, is_last ? &*state.outputs : nullptr);
  if (!plan_->stage(stage).is_awaited) return {};
  state.copied = device_.notify(step, [bell = bell_] { bell->ring(); });
  return {};
}

bool DeviceQueue::is_copied(ForDevice& state) const {
  if (!state.copied->query()) return false;
  state.copied->check();
  state.copied.reset();
  return true;
}

}  // namespace stoker
