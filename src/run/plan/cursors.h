// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Where each order of a plan stands before a step.
#pragma once
#include <deque>

#include "base/mutex.h"
#include "run/plan/plan.h"

namespace stoker {

// Computes the cursors of later steps when they are asked for, and forgets earlier steps when told
// to. Thread-safe.
class Cursors {
 public:
  // Requires: the plan outlives this. `first`: the cursors before step 0, by order.
  Cursors(const Plan& plan, std::vector<int64_t> first) : plan_(plan) {
    steps_.push_back(std::move(first));
  }
  std::vector<int64_t> at(int64_t step) {
    const MutexLock lock(mutex_);
    return entry(step);
  }
  int64_t at(int64_t step, int reader) {
    const MutexLock lock(mutex_);
    return entry(step)[reader];
  }
  void forget_before(int64_t step) {
    const MutexLock lock(mutex_);
    for (; begin_ < step && steps_.size() > 1; ++begin_) steps_.pop_front();
  }

 private:
  const std::vector<int64_t>& entry(int64_t step) STOKER_REQUIRES(mutex_) {
    while (begin_ + static_cast<int64_t>(steps_.size()) <= step) {
      std::vector<int64_t> next = steps_.back();
      for (size_t r = 0; r < next.size(); ++r)
        next[r] = plan_.order(static_cast<int>(r)).next(next[r]);
      steps_.push_back(std::move(next));
    }
    return steps_[step - begin_];
  }

  const Plan& plan_;
  Mutex mutex_;  // nothing but Order::next() is called under it
  std::deque<std::vector<int64_t>> steps_ STOKER_GUARDED_BY(mutex_);
  int64_t begin_ STOKER_GUARDED_BY(mutex_) = 0;
};

}  // namespace stoker
