// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The judge of the pipelined executor: one thread, one sample after the other, one operator at a
// time, and every value goes to memory.
#include <chrono>
#include <deque>
#include <optional>

#include "run/device/device_stage.h"
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
        bytes_(*plan_),
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
    Outputs out = step_->publish(plan_, pool_);
    if (device_ && !out.is_lost) device_->insist([&] { device_->enqueue(*step_, round_, &out); });
    samples_ += static_cast<int64_t>(step_->made_samples().size());
    mark_held(out, pool_);
    cursors_ = out.next;
    step_.reset();
    is_ready_ = false;
    ++steps_;
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
  void begin_step() {
    step_.emplace(*plan_, steps_, cursors_, feeds_.at(feeds_.received()), options_);
    if (!step_->allocate(pool_, false))
      throw BudgetError(no_memory_for("a batch", step_->fixed_bytes(), pool_));
    begin_round(0);
  }

  void begin_round(int round) {
    round_ = round;
    for (int i = 0; i < step_->size(); ++i)
      if (round == 0 || step_->is_made[i]) to_make_.push_back(i);
  }

  // Does the next piece of the step, such as one sample. Returns false if nothing is left to do.
  bool go_on() {
    if (!to_make_.empty()) {
      make(to_make_.front());
      to_make_.pop_front();
    } else if (step_->is_to_rewind()) {
      step_->rewind();
      begin_round(0);
    } else if (device_ && is_refused_by_device()) {
      return true;
    } else if (round_ + 1 < plan_->round_count() && !step_->made_samples().empty()) {
      step_->collect(round_);
      device_->insist([&] { device_->enqueue(*step_, round_); });
      device_->wait(*step_);
      begin_round(round_ + 1);
    } else {
      return false;
    }
    return true;
  }

  // The device decodes pictures. The CPU decodes those that the device refuses, as it makes their
  // samples once more.
  bool is_refused_by_device() {
    const std::vector<int> refused =
        device_->insist([&] { return device_->decode(*step_, round_); });
    to_make_.assign(refused.begin(), refused.end());
    return !refused.empty();
  }

  void make(int i) {
    try {
      try {
        step_->is_made[i] = maker_.make(*step_, i, round_, step_->failures);
      } catch (const BeyondShare&) {
        step_->is_made[i] = maker_.make_alone(*step_, i, round_, step_->failures);
      }
    } catch (const Starved& s) {
      throw BudgetError(s.why.empty() ? no_memory_for("a sample", s.bytes, pool_) : s.why);
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
  // The step that is being made, the round that it is in, and the samples that this round lacks.
  std::optional<Step> step_;
  int round_ = 0;
  std::deque<int> to_make_;
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
