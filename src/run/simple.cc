// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
// The judge: one thread, one sample after the other, one operator at a time, everything materialised.
#include "run/device_stage.h"
#include "run/maker.h"

namespace stoker {

namespace {

class Simple final : public Executor {
 public:
  Simple(std::shared_ptr<const Plan> plan, const ExecutorOptions& options, HostPool& pool,
         std::vector<int64_t> cursors, Feeds& feeds)
      : plan_(std::move(plan)),
        options_(options),
        pool_(pool),
        cursors_(std::move(cursors)),
        feeds_(feeds),
        bytes_(*plan_),
        device_(plan_->has_device_stage()
                    ? std::make_unique<DeviceStage>(*plan_, options_.device_id, 1, 1,
                                                    options_.device_memory_limit)
                    : nullptr),
        maker_(*plan_, Rewrites{false, false}, options_, bytes_, pool_,
               {device_ ? device_->decoder() : nullptr, 0}) {}

  void schedule() override {}
  bool wait(int milliseconds) override {
    return !plan_->input_count() || feeds_.wait(feeds_.received(), milliseconds);
  }

  Outputs take() override {
    Step step(*plan_, steps_++, cursors_, feeds_.at(feeds_.received()));
    if (!step.allocate(*plan_, pool_))
      throw BudgetError("no memory for a batch. " + pool_.explain());
    for (int i = 0; i < step.size(); ++i) make(step, i);
    decode(step);
    Outputs out = step.publish(plan_, pool_, options_.on_error);
    if (device_) device_->enqueue(step, out);
    hold(out, pool_);
    cursors_ = out.next;
    return out;
  }

  int64_t node_ns(int node) const override { return maker_.chain().node_ns(node); }
  ExecutorStats stats() const override {
    return {.steps = steps_,
            .samples = samples_,
            .scratch = maker_.arena().held(),
            .device = device_ ? device_->share() : DeviceShare{}};
  }
  void trim() override {
    if (device_) device_->trim();
  }

 private:
  void make(Step& step, int i) {
    try {
      step.is_made[i] = maker_.make(step, i, step.failures);
    } catch (const Starved&) {
      throw BudgetError("no memory for a sample. " + pool_.explain());
    }
    samples_ += step.is_made[i];
  }

  // On the device; what that refuses, on the CPU.
  void decode(Step& step) {
    if (!device_) return;
    for (std::vector<int> refused; !(refused = device_->decode(step)).empty();)
      for (int i : refused) {
        --samples_;
        make(step, i);
      }
  }

  std::shared_ptr<const Plan> plan_;
  ExecutorOptions options_;
  HostPool& pool_;
  std::vector<int64_t> cursors_;
  Feeds& feeds_;
  DirectBytes bytes_;
  std::unique_ptr<DeviceStage> device_;
  SampleMaker maker_;
  int64_t steps_ = 0, samples_ = 0;
};

}  // namespace

std::unique_ptr<Executor> make_simple(std::shared_ptr<const Plan> plan,
                                      const ExecutorOptions& options, HostPool& pool,
                                      std::vector<int64_t> cursors, Feeds& feeds) {
  ExecutorOptions one = options;
  one.num_threads = 1;
  return std::make_unique<Simple>(std::move(plan), one, pool, std::move(cursors), feeds);
}

}  // namespace stoker
