// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Many threads make several iterations at once and read files ahead. The bytes are those of
// simple.cc. This class has the threads and the mutex; its parts decide what they may do:
// IterationQueue who may start what, Admission who waits for memory. DeviceStage talks to the
// device, and UserThread calls functions of the user's.
#pragma once
#include <thread>

#include "run/executors/admission.h"
#include "run/executors/executor.h"
#include "run/executors/user_thread.h"

namespace stoker {

class Pipelined final : public Executor {
 public:
  explicit Pipelined(ExecutorArguments a);
  ~Pipelined() override;

  void schedule() override STOKER_EXCLUDES(mutex_);
  bool wait(int milliseconds) override STOKER_EXCLUDES(mutex_);
  Outputs take_step() override STOKER_EXCLUDES(mutex_);
  int64_t node_ns(int node) const override;
  ExecutorStats stats() const override STOKER_EXCLUDES(mutex_);

 private:
  // A thread's ticket, and what became of it.
  struct Try {
    Ticket ticket;
    bool is_alone = false;
    std::optional<Starved> starved;
    bool is_large = false;  // it is to be made alone
    std::exception_ptr fatal;
    std::vector<SampleFailure> failures;
    std::shared_ptr<UserCall> call;  // to be begun
  };
  // Any thread may read the counters.
  struct Worker {
    Worker(Pipelined& p)
        : maker(*p.plan_, p.plan_->rewrites(), p.options_, p.fetchers_, p.pool_,
                p.device_ ? p.device_->decoder() : nullptr) {}
    SampleMaker maker;
    std::atomic<int64_t> idle_ns{0};
    std::atomic<size_t> scratch{0};
    std::thread thread;
  };
  const PipelineOptions& settings() const { return options_.settings; }
  void start_threads() STOKER_EXCLUDES(mutex_);
  void stop() STOKER_EXCLUDES(mutex_);
  bool front_ready() const STOKER_REQUIRES(mutex_) {
    return !queue_.is_empty() && queue_.front().is_over();
  }

  void open_iterations() STOKER_REQUIRES(mutex_);
  int depth() const STOKER_REQUIRES(mutex_) {
    return std::max(settings().prefetch_queue_depth, is_asked_ ? 1 : 0);
  }
  bool may_open() const STOKER_REQUIRES(mutex_);
  bool open_next(std::exception_ptr& failure) STOKER_REQUIRES(mutex_);
  void finish_device() STOKER_REQUIRES(mutex_);
  void destroy_cancelled() STOKER_REQUIRES(mutex_);

  void run_worker(size_t worker) STOKER_EXCLUDES(mutex_);
  void try_ticket(Worker& w, Try& t) STOKER_EXCLUDES(mutex_);
  void finish_ticket(Try& t) STOKER_REQUIRES(mutex_);
  void trim(size_t worker) STOKER_REQUIRES(mutex_);

  void run_issuer() STOKER_EXCLUDES(mutex_);
  void issue(const Ticket& ticket) STOKER_REQUIRES(mutex_);
  void poll(Iteration& it) STOKER_REQUIRES(mutex_);
  void rest() STOKER_REQUIRES(mutex_);

  // After a ticket was given back or is finished.
  void end_try(Iteration& it, const std::exception_ptr& fatal) STOKER_REQUIRES(mutex_);
  void advance(Iteration& it) STOKER_REQUIRES(mutex_);

  // Any thread may call these.
  void fed() STOKER_EXCLUDES(mutex_);
  void memory_released() STOKER_EXCLUDES(mutex_);
  void device_went_on() STOKER_EXCLUDES(mutex_);
  void call_is_over() STOKER_EXCLUDES(mutex_);

  const int64_t first_fed_;  // the step of the feeds that is iteration 0
  std::vector<std::unique_ptr<Worker>> workers_;
  std::unique_ptr<UserThread> user_thread_;
  std::thread issuer_;

  // Calls that a stream makes on the host release memory and ring a bell, and both take this. So
  // under it nothing may wait for the device: no memory is pinned, and nothing is destroyed that
  // the device's runtime made. No buffer may be released, because the pool then calls
  // memory_released(). Nothing may be fed and no callback set, because feeds_ calls fed() under a
  // mutex of its own, and pool_ waits for memory_released(). One may ask feeds_ and pool_ for what
  // they have, fetchers_ and device_ for their counters, and begin calls of the user's: none of
  // these calls back.
  mutable Mutex mutex_;
  ConditionVariable work_, done_, opened_;  // for threads that work, the user's, and who opens
  IterationQueue queue_ STOKER_GUARDED_BY(mutex_);
  Admission admission_ STOKER_GUARDED_BY(mutex_);
  size_t largest_bytes_ STOKER_GUARDED_BY(mutex_) = 0;
  bool is_stopping_ STOKER_GUARDED_BY(mutex_) = false;  // the threads are to end
  // The user is in wait(), for the oldest iteration.
  bool user_waits_ STOKER_GUARDED_BY(mutex_) = false;
  // The user has asked for a step that is not handed out yet.
  bool is_asked_ STOKER_GUARDED_BY(mutex_) = false;
  // wait() found the oldest iteration not ready.
  bool has_waited_ STOKER_GUARDED_BY(mutex_) = false;
  ExecutorStats handed_out_ STOKER_GUARDED_BY(mutex_);  // what steps that were handed out add up to
};

}  // namespace stoker
