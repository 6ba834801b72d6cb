// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace stoker {

// Threads that help those who have much to do. They sleep between, and end with this. Thread-safe.
// Behind a fork it must not be used, as its threads exist only in the parent.
class Crew {
 public:
  // Throws BudgetError where the system starts no more threads.
  explicit Crew(int threads);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  int threads() const { return static_cast<int>(threads_.size()); }
  // Calls `work` once in this thread, and once in each of up to `helpers` threads that find time
  // before this thread's call ends. Returns when all of them have ended. Requires: `work` shares
  // out what there is to do, and does not throw.
  void run(int helpers, const std::function<void()>& work);

 private:
  struct Job {
    const std::function<void()>& work;
    int wanted;  // helpers that may still join
    int running = 0;
  };
  void help();
  void end();

  Mutex mutex_;  // no work is done under it
  ConditionVariable wanted_, ended_;
  std::deque<Job*> jobs_ STOKER_GUARDED_BY(mutex_);
  bool is_to_end_ STOKER_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace stoker
