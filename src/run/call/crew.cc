// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/call/crew.h"

#include <algorithm>

#include "base/thread.h"

namespace stoker {

Crew::Crew(int threads) {
  try {
    for (int i = 0; i < threads; ++i)
      threads_.push_back(start_thread("stoker-call", "threads", [this] { help(); }));
  } catch (...) {
    end();
    throw;
  }
}

Crew::~Crew() { end(); }

void Crew::end() {
  {
    const MutexLock lock(mutex_);
    is_to_end_ = true;
  }
  wanted_.notify_all();
  for (std::thread& t : threads_) t.join();
}

void Crew::help() {
  const MutexLock lock(mutex_);
  for (;;) {
    wanted_.wait(mutex_, [this]() STOKER_REQUIRES(mutex_) { return is_to_end_ || !jobs_.empty(); });
    if (is_to_end_) return;
    Job& job = *jobs_.front();
    if (--job.wanted == 0) jobs_.pop_front();
    ++job.running;
    {
      const MutexUnlock unlock(mutex_);
      job.work();
    }
    if (--job.running == 0) ended_.notify_all();
  }
}

void Crew::run(int helpers, const std::function<void()>& work) {
  const int wanted = std::min(helpers, threads());
  Job job{work, wanted};
  if (wanted > 0) {
    {
      const MutexLock lock(mutex_);
      jobs_.push_back(&job);
    }
    if (wanted == 1) wanted_.notify_one();
    else wanted_.notify_all();
  }
  work();
  if (threads() == 0) return;
  const MutexLock lock(mutex_);
  std::erase(jobs_, &job);
  ended_.wait(mutex_, [&job] { return job.running == 0; });
}

}  // namespace stoker
