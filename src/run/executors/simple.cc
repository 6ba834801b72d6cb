// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The judge of the pipelined executor: one thread, one sample after the other, one operator at a
// time, and every value goes to memory.
#include <chrono>
#include <optional>

#include "run/executors/executor.h"
#include "run/executors/iteration.h"
#include "run/executors/user_thread.h"
#include "run/step/no_room.h"

namespace stoker {

namespace {

using Clock = std::chrono::steady_clock;

class Simple final : public Executor {
 public:
  explicit Simple(ExecutorArguments a)
      : Executor(std::move(a), [] {}),
        maker_(*plan_, Rewrites{false, false}, options_, fetchers_, pool_,
               device_ ? device_->decoder() : nullptr) {}

  void schedule() override {}
  // Works for as long as it may wait, so that the caller can be interrupted between samples.
  bool wait(int milliseconds) override {
    const auto end = Clock::now() + std::chrono::milliseconds(milliseconds);
    if (!it_ && plan_->input_count() && !feeds_.wait(feeds_.received(), milliseconds)) return false;
    try {
      if (!it_) begin_step();
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

  Outputs take_step() override {
    if (failure_) std::rethrow_exception(failure_);
    Outputs out = it_->take_outputs(plan_, pool_);
    samples_ += it_->step.samples.made_count();
    mark_held(out);
    it_.reset();
    is_ready_ = false;
    ++steps_;
    return out;
  }

  int64_t node_ns(int node) const override { return maker_.times().of(node); }
  ExecutorStats stats() const override {
    return {.steps = steps_,
            .samples = samples_,
            .scratch = maker_.arena().held(),
            .device = device_share()};
  }

 private:
  void begin_step() {
    it_.emplace(*plan_, steps_, plan_->cursors_after(cursors_, steps_),
                feeds_.at(feeds_.received()), options_);
    if (!it_->step.slots.allocate(pool_, false))
      throw NoRoom("a batch", it_->step.slots.fixed_bytes(), pool_);
  }

  // Does the next piece of the step, such as one sample. Returns false if nothing is left.
  bool go_on() {
    if (it_->is_stage_over()) {
      const int next =
          it_->step.samples.is_to_rewind() ? 0 : it_->step.samples.stage_after(it_->stage);
      if (it_->step.samples.is_to_rewind()) it_->step.rewind();
      if (next == plan_->stage_count()) return false;
      it_->begin(next);
    }
    const int ticket = it_->give_out(TicketState::kPending);
    it_->finish(ticket);
    if (it_->kind() == StageKind::kDevice) enqueue();
    else work(ticket);
    return true;
  }

  void work(int ticket) {
    if (it_->kind() == StageKind::kPython) {
      it_->call = call_of(it_->step, it_->stage);
      it_->call->step = feeds_.received();
      make_call(*it_->call);
    }
    const auto make = [&] { it_->make(ticket, maker_, it_->step.samples.failures); };
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
  }

  // Samples are made once more if the device refuses their pictures; then the CPU decodes them.
  void enqueue() {
    const std::vector<int> refused = device_->issue(it_->step, it_->stage, it_->issued, true);
    if (!refused.empty()) {
      it_->begin_again(it_->stage - 1, refused);
    } else if (it_->issued.copied) {
      device_->wait(it_->step);
      it_->issued.copied.reset();
    }
  }

  SampleMaker maker_;
  int64_t steps_ = 0, samples_ = 0;
  std::optional<Iteration> it_;  // the step that is being made
  std::exception_ptr failure_;  // why the step cannot be made
  bool is_ready_ = false;  // the step or its failure is to be taken
};

}  // namespace

std::unique_ptr<Executor> make_simple(ExecutorArguments a) {
  a.options.settings.num_threads = 1;
  a.options.settings.io_threads = 0;
  a.options.settings.prefetch_queue_depth = 0;
  return std::make_unique<Simple>(std::move(a));
}

}  // namespace stoker
