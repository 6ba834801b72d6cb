// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The judge of the pipelined executor: one thread, one sample after the other, one operator at a
// time, and every value goes to memory.
#include <chrono>
#include <deque>
#include <optional>

#include "run/device/device_stage.h"
#include "run/executors/user_thread.h"
#include "run/step/sample_maker.h"

namespace stoker {

namespace {

using Clock = std::chrono::steady_clock;

class Simple final : public Executor {
 public:
  Simple(std::shared_ptr<const Plan> plan, const ExecutorOptions& options, HostPool& pool,
         std::vector<int64_t> cursors, Feeds& feeds)
      : plan_(std::move(plan)),
        options_(options),
        pool_(pool),
        cursors_(std::move(cursors)),
        feeds_(feeds),
        bytes_(*plan_, read_window(options_, *plan_)),
        device_(plan_->has_device_stage()
                    ? std::make_unique<DeviceStage>(*plan_, options_.device_id, 1,
                                                    options_.device_limit)
                    : nullptr),
        maker_(*plan_, Rewrites{false, false}, options_, bytes_, pool_,
               device_ ? device_->decoder() : nullptr) {}

  void schedule() override {}
  // Works for as long as it may wait, so that the caller can be interrupted between two samples.
  bool wait(int milliseconds) override {
    const auto end = Clock::now() + std::chrono::milliseconds(milliseconds);
    if (!step_ && plan_->input_count() && !feeds_.wait(feeds_.received(), milliseconds))
      return false;
    try {
      if (!step_) begin_step();
      while (!is_ready_) {
        is_ready_ = !go_on();
        if (Clock::now() >= end) break;
      }
    } catch (...) {
      failure_ = std::current_exception();
      is_ready_ = true;
    }
    return is_ready_;
  }

  Outputs take() override {
    if (failure_) std::rethrow_exception(failure_);
    if (device_ && step_->has_new_gaps()) device_->wait(*step_);
    Outputs out = step_->publish(plan_, pool_);
    if (device_ && !out.is_lost)
      device_->insist([&] { device_->enqueue(*step_, plan_->stage_count() - 1, &out); });
    samples_ += static_cast<int64_t>(step_->made_samples().size());
    mark_held(out, pool_);
    cursors_ = out.next;
    step_.reset();
    is_ready_ = false;
    ++steps_;
    return out;
  }

  int64_t node_ns(int node) const override { return maker_.times().of(node); }
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
  void begin_step() {
    step_.emplace(*plan_, steps_, cursors_, feeds_.at(feeds_.received()), options_);
    if (!step_->allocate(pool_, false)) throw NoRoom("a batch", step_->fixed_bytes(), pool_);
    begin_stage(0);
  }

  void begin_stage(int stage) {
    stage_ = stage;
    const bool is_chain = plan_->stage(stage).kind == StageKind::kChain;
    for (int i = 0; i < (is_chain ? step_->size() : 1); ++i)
      if (stage == 0 || !is_chain || step_->is_made[i]) tickets_.push_back(i);
  }

  // Does the next piece of the step, such as one sample. Returns false if nothing is left to do.
  bool go_on() {
    if (tickets_.empty()) {
      const int next = step_->is_to_rewind() ? 0 : step_->stage_after(stage_);
      if (step_->is_to_rewind()) step_->rewind();
      if (next == plan_->stage_count()) return false;
      begin_stage(next);
    }
    const int i = tickets_.front();
    tickets_.pop_front();
    switch (plan_->stage(stage_).kind) {
      case StageKind::kChain:
        return work([&] { step_->is_made[i] = maker_.make(*step_, i, stage_, step_->failures); });
      case StageKind::kBatch:
        return work([&] { maker_.make_batch(*step_, stage_, nullptr, step_->failures); });
      case StageKind::kPython: return call();
      case StageKind::kDevice: return enqueue();
    }
    return false;
  }

  bool work(const std::function<void()>& make) {
    try {
      try {
        make();
      } catch (const BeyondShare&) {
        maker_.alone(make);
      }
    } catch (const Starved& s) {
      if (s.why.empty()) throw NoRoom("a stage of the batch", s.bytes, pool_);
      throw BudgetError(s.why);
    }
    return true;
  }

  bool call() {
    const std::shared_ptr<UserCall> call = maker_.call_of(*step_, stage_);
    call->step = feeds_.received();
    make_call(*call);
    return work([&] { maker_.make_batch(*step_, stage_, call.get(), step_->failures); });
  }

  // The device decodes pictures. The CPU decodes those that the device refuses, as it makes their
  // samples once more. What the last stage enqueues is part of take().
  bool enqueue() {
    const std::vector<int> refused =
        device_->insist([&] { return device_->decode(*step_, stage_); });
    if (!refused.empty()) {
      --stage_;
      tickets_.assign(refused.begin(), refused.end());
    } else if (!plan_->is_last(stage_)) {
      if (step_->has_new_gaps()) device_->wait(*step_);
      step_->collect(stage_);
      device_->insist([&] { device_->enqueue(*step_, stage_); });
      if (plan_->stage(stage_).is_awaited) device_->wait(*step_);
    }
    return true;
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
  // The step that is being made, the stage that it is in, and the pieces that this stage lacks.
  std::optional<Step> step_;
  int stage_ = 0;
  std::deque<int> tickets_;
  std::exception_ptr failure_;  // why the step cannot be made
  bool is_ready_ = false;  // the step or its failure is to be taken
};

}  // namespace

std::unique_ptr<Executor> make_simple(std::shared_ptr<const Plan> plan,
                                      const ExecutorOptions& options, HostPool& pool,
                                      std::vector<int64_t> cursors, Feeds& feeds) {
  ExecutorOptions one = options;
  one.settings.num_threads = 1;
  return std::make_unique<Simple>(std::move(plan), one, pool, std::move(cursors), feeds);
}

}  // namespace stoker
