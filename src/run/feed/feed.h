// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What is fed to the input nodes of a pipeline, by step. A batch is kept until its step was
// received, so an executor that begins anew finds it again. Thread-safe; feeding and running go on
// at once.
//
// Note [Steps of a feed]
// Each input has a queue of its own; its first entry belongs to the step that the user receives
// next. A step can be made when every input has a batch for it. An entry may be a failure in place
// of a batch: it takes the step. The end of an epoch stands between two steps and takes none, so
// executors know nothing of it. Markers are met by who hands out, in order.
#pragma once
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>

#include "memory/pool.h"
#include "run/plan/plan.h"

namespace stoker {

struct FedBatch {
  std::vector<View> samples;
  std::shared_ptr<const void> owner;  // keeps the bytes

  std::optional<Shape> common_shape() const;  // of all samples
  // The same in dense memory of its own, outside of any budget.
  FedBatch copy() const;
};

// One step's batches, by input of the plan, all of the same number of samples.
struct FedStep {
  int64_t size = 0;
  std::vector<std::shared_ptr<const FedBatch>> batches;
};

class Feeds {
 public:
  // `limit`: bytes of copies that wait.
  Feeds(std::shared_ptr<const Plan> plan, size_t limit);

  // The number of the input node of this name; -1 when no output needs it. Throws GraphError when
  // there is none.
  int input(const std::string& name) const;
  // Somebody will feed this input: waiting for it is no mistake.
  void set_awaited(int input, bool awaited);

  // The input's batch for its next step: a copy, or as it is (Requires then: dense samples that
  // nobody writes to). False when there was no room for a copy for so many milliseconds while
  // earlier steps wait to be received. Throws GraphError when the batch does not fit the input,
  // BudgetError when no waiting helps.
  bool feed(int input, FedBatch batch, bool copy, int wait_ms);
  // In place of the next batch of each of these inputs, of all at once: whoever hands out takes the
  // whole step.
  void fail(const std::vector<int>& inputs, const std::exception_ptr& why);
  // Before the input's next batch.
  void end_epoch(int input);
  // Forgets everything that was not received.
  void clear();

  // Whether a step can be made, and what it is made of. Steps count from when the feeds began.
  bool has(int64_t step) const;
  std::shared_ptr<const FedStep> at(int64_t step) const;
  // What the hand-out meets before any batch: a failure, or the end of an epoch.
  bool is_at_marker() const;
  // Takes the marker: true for the end of an epoch, throws the failure (then its step counts as
  // received).
  bool meet_marker();
  // Inputs that repeat their last batch get it for the step to be received, if they have none.
  void repeat_last();
  // Throws SourceError when the step to be received lacks a batch that nobody is going to feed.
  void require() const;
  // Waits until the step can be made or a marker is met; false after so many milliseconds.
  bool wait(int64_t step, int milliseconds) const;
  void receive();  // the step that is next
  int64_t received() const;

  // `callback` is called after every change, in the thread that made it; null means none, and on
  // return the one before is not running. Requires: it feeds nothing and is not replaced by itself.
  void on_change(std::function<void()> callback);
  Usage usage() const { return pool_.usage(); }

 private:
  struct Entry {
    std::shared_ptr<const FedBatch> batch;
    std::exception_ptr failure;
  };
  struct Input {
    int node;
    bool repeats, is_awaited;
    std::deque<Entry> queue;  // from the step to be received on
    std::shared_ptr<const FedBatch> last;
  };

  const Entry* entry(const Input& in, int64_t step) const;
  bool has_locked(int64_t step) const;
  bool is_at_marker_locked() const;
  void check(int input, const FedBatch& batch) const;
  void check_size(const Input& in, int64_t step, int64_t size) const;
  std::optional<FedBatch> copy(const FedBatch& batch, int wait_ms);
  std::shared_ptr<Buffer> room(size_t bytes, int wait_ms);
  void pop_step();
  void changed();
  std::string input_in_words(const Input& in) const;

  std::shared_ptr<const Plan> plan_;
  mutable std::mutex mutex_;
  mutable std::condition_variable change_;
  std::vector<Input> inputs_;  // guarded by mutex_, as all from here
  std::deque<int64_t> ends_;  // the steps before which an epoch ends
  int64_t received_ = 0, releases_ = 0;
  std::mutex callback_mutex_;  // taken before any other
  std::function<void()> callback_;
  HostPool pool_;  // of the copies
};

}  // namespace stoker
