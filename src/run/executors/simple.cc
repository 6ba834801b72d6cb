// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The judge of the pipelined executor: one thread, one sample after the other, one operator at a
// time, and every value goes to memory.
#include "run/device/device_stage.h"
#include "run/step/sample_maker.h"

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
                    ? std::make_unique<DeviceStage>(*plan_, options_.device_id, 1,
                                                    options_.device_memory_limit)
                    : nullptr),
        maker_(*plan_, Rewrites{false, false}, options_, bytes_, pool_,
               device_ ? device_->decoder() : nullptr) {}

  void schedule() override {}
  bool wait(int milliseconds) override {
    return !plan_->input_count() || feeds_.wait(feeds_.received(), milliseconds);
  }

  Outputs take() override {
    Step step(*plan_, steps_++, cursors_, feeds_.at(feeds_.received()), options_.on_error);
    if (!step.allocate(pool_)) throw BudgetError("no memory for a batch. " + pool_.explain());
    int round = 0;
    make(step, round);
    while (round + 1 < plan_->round_count() && !step.made_samples().empty()) {
      step.collect(round);
      device_->insist([&] { device_->enqueue(step, round); });
      device_->wait(step);
      make(step, ++round);
    }
    Outputs out = step.publish(plan_, pool_);
    if (device_ && !out.is_lost) device_->insist([&] { device_->enqueue(step, round, &out); });
    samples_ += static_cast<int64_t>(step.made_samples().size());
    mark_held(out, pool_);
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
  // Makes all samples of a round. Goes back to the first round if a sample is to be replaced.
  void make(Step& step, int& round) {
    for (int i = 0; i < step.size(); ++i)
      if (round == 0 || step.is_made[i]) make(step, i, round);
    if (step.is_to_rewind()) {
      step.rewind();
      return make(step, round = 0);
    }
    if (!device_) return;
    // The device decodes pictures, and the CPU those that the device refuses.
    const auto decode = [&] { return device_->decode(step, round); };
    for (std::vector<int> refused; !(refused = device_->insist(decode)).empty();)
      for (int i : refused) make(step, i, round);
  }

  void make(Step& step, int i, int round) {
    try {
      step.is_made[i] = maker_.make(step, i, round, step.failures);
    } catch (const Starved& s) {
      throw BudgetError("no memory for a sample. " + (s.why.empty() ? pool_.explain() : s.why));
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
