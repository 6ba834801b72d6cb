// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What is fed to the input nodes of a pipeline, by step. A batch is kept until its step was
// received, so that an executor that begins anew finds it again. Thread-safe.
//
// Note [Steps of a feed]
// Each input has a queue of its own, whose first entry belongs to the step that the user receives
// next. A step can be made when every input has a batch for it. A failure stands in the place of a
// batch; the end of an epoch stands between two steps, so executors know nothing of it. Both are
// markers: they are met in order, when steps are handed out.
#pragma once
#include <deque>
#include <exception>
#include <optional>

#include "base/mutex.h"
#include "memory/pool.h"
#include "run/plan/plan.h"

namespace stoker {

struct FedBatch {
  std::vector<View> samples;
  std::shared_ptr<const void> owner;  // keeps the bytes alive
  std::shared_ptr<const Provenance> names;  // where its samples came from; null: unknown
  // Set if the samples, all of one shape, fill this buffer, and only their step needs it: an output
  // may take it over.
  std::shared_ptr<Buffer> whole = nullptr;

  std::optional<Shape> common_shape() const;  // the shape of all samples, if it is one
  // A copy in dense memory of its own, outside of any budget.
  FedBatch copy() const;
};

// The batches of one step, by input of the plan, all of equally many samples.
struct FedStep {
  int64_t size = 0;
  std::vector<std::shared_ptr<const FedBatch>> batches;
};

class Feeds {
 public:
  // `limit`: the most bytes of copies that wait to be received.
  Feeds(std::shared_ptr<const Plan> plan, size_t limit);

  // The number of the input node with this name; -1 when no output needs it. Throws GraphError when
  // there is no such node.
  int input(const std::string& name) const;
  // Says whether somebody will feed this input, so that waiting for it makes sense.
  void set_awaited(int input, bool awaited);

  // Gives the input the batch for its next step. Without `copy`, the batch must be dense, and
  // nobody may write to it. Returns false if there was no room for a copy for so many milliseconds.
  // Throws GraphError when the batch does not fit the input, BudgetError when no waiting helps.
  bool feed(int input, FedBatch batch, bool copy, int wait_ms);
  // Puts a failure in the place of the next batch of all these inputs, whose step it takes up.
  void fail(const std::vector<int>& inputs, const std::exception_ptr& why);
  // Ends an epoch before the input's next batch.
  void end_epoch(int input);
  // Drops everything that was not received.
  void clear();

  // Steps count from when the feeds began.
  bool has(int64_t step) const;
  std::shared_ptr<const FedStep> at(int64_t step) const;
  bool is_at_marker() const;
  // Takes the marker before the next step, if any. Returns true for the end of an epoch; throws a
  // failure, whose step then counts as received.
  bool meet_marker();
  // If the next step lacks a batch, feeds the last one again to an input that repeats. Throws
  // SourceError if nobody is going to feed it.
  void complete();
  // Waits until the step can be made. Returns false at a marker, and after so many milliseconds.
  bool wait(int64_t step, int milliseconds) const;
  void receive();  // drops the next step: the user has it
  int64_t received() const;

  // `callback` is called after every change, on the thread that made it; null means none. On return
  // the former one is not running. Requires: it feeds nothing and does not replace itself.
  void on_change(std::function<void()> callback);
  Usage usage() const { return pool_.usage(); }

 private:
  struct Entry {
    std::shared_ptr<const FedBatch> batch;
    std::exception_ptr failure;
  };
  struct Input {
    bool repeats, is_awaited;
    std::deque<Entry> queue;  // begins with the next step
    std::shared_ptr<const FedBatch> last;
  };

  const Entry* entry(const Input& in, int64_t step) const STOKER_REQUIRES(mutex_);
  bool has_locked(int64_t step) const STOKER_REQUIRES(mutex_);
  bool is_at_marker_locked() const STOKER_REQUIRES(mutex_);
  void check_batch(int input, const FedBatch& batch) const;
  void check_size(int input, int64_t step, int64_t size) const STOKER_REQUIRES(mutex_);
  bool may_hand_out(int input, const FedBatch& batch) const STOKER_EXCLUDES(mutex_);
  std::optional<FedBatch> copy(int input, const FedBatch& batch, int wait_ms)
      STOKER_EXCLUDES(mutex_);
  std::shared_ptr<Buffer> room(int input, size_t bytes, int wait_ms) STOKER_EXCLUDES(mutex_);
  void pop_step() STOKER_EXCLUDES(mutex_);
  void changed() STOKER_EXCLUDES(mutex_) STOKER_EXCLUDES(callback_mutex_);
  const Node& node(int input) const { return plan_->node(plan_->input_node(input)); }

  std::shared_ptr<const Plan> plan_;
  // No batch is released under it, because that may wait for Python's lock; callback_ is not
  // called.
  mutable Mutex mutex_;
  mutable ConditionVariable change_;
  std::vector<Input> inputs_ STOKER_GUARDED_BY(mutex_);
  std::deque<int64_t> ends_ STOKER_GUARDED_BY(mutex_);  // the steps before which an epoch ends
  int64_t received_ STOKER_GUARDED_BY(mutex_) = 0;
  Mutex callback_mutex_;  // locked before any other
  std::function<void()> callback_ STOKER_GUARDED_BY(callback_mutex_);
  HostPool pool_;  // holds the copies
};

}  // namespace stoker
