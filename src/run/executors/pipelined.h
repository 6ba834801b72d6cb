// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Many threads make several iterations at once and read files ahead. The bytes are those of
// simple.cc.
//
// Note [Memory]
// Fixed slots are acquired when an iteration is opened, ragged samples when their shape is known. A
// sample that finds no room gives its ticket back (Starved). If its iteration is not the oldest,
// the iteration waits until memory is released. For the oldest, the youngest iteration is closed
// and made again later, and in the end wait() waits for the work that the device still has. So
// waiting ends: if nothing is left to close, the user holds the memory or the budget is too small,
// and wait() says so. The same holds for the device's memory (DeviceFull).
//
// Note [Alone]
// A worker holds at most its share of the scratch memory: Note [What a sample needs] of arena.h. A
// sample that needs more (BeyondShare) gives its ticket back as a large one. When its iteration is
// the oldest, no more tickets are given out, and workers that find none trim. When no other worker
// holds memory, one makes the sample with all of it. So a large sample waits only for tickets that
// run already.
#pragma once
#include <deque>

#include "base/mutex.h"
#include "run/device/device_stage.h"
#include "run/executors/iteration.h"
#include "run/executors/worker.h"
#include "run/plan/cursors.h"

namespace stoker {

class Pipelined final : public Executor {
 public:
  Pipelined(std::shared_ptr<const Plan> plan, const ExecutorOptions& options, HostPool& pool,
            std::vector<int64_t> cursors, Feeds& feeds);
  ~Pipelined() override;

  void schedule() override STOKER_EXCLUDES(mutex_);
  bool wait(int milliseconds) override STOKER_EXCLUDES(mutex_);
  Outputs take() override STOKER_EXCLUDES(mutex_);
  int64_t node_ns(int node) const override;
  void trim() override STOKER_EXCLUDES(mutex_);
  ExecutorStats stats() const override STOKER_EXCLUDES(mutex_);

 private:
  const PipelineOptions& settings() const { return options_.settings; }

  // pipelined.cc: reading, workers and their tickets
  void start_reading(int reader);
  void start_threads() STOKER_EXCLUDES(mutex_);
  void stop() STOKER_EXCLUDES(mutex_);
  bool is_ready(const Iteration& it) const STOKER_REQUIRES(mutex_);
  bool front_ready() const STOKER_REQUIRES(mutex_) {
    return !ring_.empty() && is_ready(*ring_.front());
  }
  struct Try {  // of a ticket
    bool is_alone = false;
    int64_t rooms = 0;  // rooms_ when it began
    std::optional<Starved> starved;
    bool is_large = false;  // it is to be made alone
    std::exception_ptr fatal;
    std::vector<SampleFailure> failures;
  };
  Iteration* next_ticket(size_t worker, int& i) STOKER_REQUIRES(mutex_);
  void run_worker(size_t worker) STOKER_EXCLUDES(mutex_);
  void try_ticket(Worker& w, Iteration& it, int i, Try& t) STOKER_EXCLUDES(mutex_);
  void finish_ticket(Iteration& it, int i, Try& t) STOKER_REQUIRES(mutex_);
  void fed() STOKER_EXCLUDES(mutex_);

  // pipelined_device.cc: the one thread that talks to the device
  struct Enqueued {  // enqueue() sets exactly one of these
    std::vector<int> refused;  // samples that have to be made once more
    std::unique_ptr<Event> copies_ready;  // comes after the work of the round
    bool is_last = false;  // there is no other round
  };
  void run_issuer() STOKER_EXCLUDES(mutex_);
  void rest() STOKER_REQUIRES(mutex_);
  Iteration* next_to_issue() STOKER_REQUIRES(mutex_);
  void issue_round(Iteration& it) STOKER_REQUIRES(mutex_);
  Enqueued enqueue(Iteration& it) STOKER_EXCLUDES(mutex_);
  void try_begin_next_round(Iteration& it) STOKER_REQUIRES(mutex_);
  bool make_device_room() STOKER_REQUIRES(mutex_);
  void ring_bell() STOKER_EXCLUDES(mutex_);

  // pipelined_memory.cc: opening and closing iterations, and working alone
  bool is_for_one_worker() const STOKER_REQUIRES(mutex_);
  Iteration* begin_alone(size_t worker, int& i) STOKER_REQUIRES(mutex_);
  void trim(size_t worker) STOKER_REQUIRES(mutex_);
  void open_iterations() STOKER_REQUIRES(mutex_);
  bool may_open() const STOKER_REQUIRES(mutex_);
  int64_t next_number() const STOKER_REQUIRES(mutex_);  // of the next iteration to open
  bool opens_only_oldest() const STOKER_REQUIRES(mutex_) { return is_tight_ && !ring_.empty(); }
  bool open_next(std::exception_ptr& failure) STOKER_REQUIRES(mutex_);
  bool allocate(Step& step, std::exception_ptr& failure) STOKER_REQUIRES(mutex_);
  void finish_device() STOKER_REQUIRES(mutex_);
  void make_room(Iteration& front) STOKER_REQUIRES(mutex_);
  void forget(Iteration& it, int i) STOKER_EXCLUDES(mutex_);
  void close_youngest() STOKER_REQUIRES(mutex_);
  void close_what_is_closing() STOKER_REQUIRES(mutex_);
  void memory_released() STOKER_EXCLUDES(mutex_);
  void room_was_made() STOKER_REQUIRES(mutex_);
  void bury() STOKER_REQUIRES(mutex_);
  bool is_stuck() const STOKER_REQUIRES(mutex_) {
    return is_oldest_unopened_ || (is_oldest_stuck_ && !ring_.front()->running_count);
  }
  std::string stuck_message() const STOKER_REQUIRES(mutex_);

  // Calls by the device's runtime reach the executor through this, as they may come after its end.
  struct Bell {
    Mutex mutex;  // taken before mutex_; nothing but ring_bell() is called under it
    Pipelined* executor STOKER_GUARDED_BY(mutex) = nullptr;
  };

  std::shared_ptr<const Plan> plan_;
  ExecutorOptions options_;
  HostPool& pool_;
  Feeds& feeds_;
  const int64_t first_fed_;  // the step of the feeds that is iteration 0
  Cursors cursors_;
  std::vector<std::unique_ptr<io::Fetcher>> fetchers_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::unique_ptr<DeviceStage> device_;
  std::shared_ptr<Bell> bell_;
  std::thread issuer_;

  // Calls that a stream makes on the host release memory and ring the bell, and both take this. So
  // under it nothing may wait for the device: no memory is pinned, and nothing is destroyed that
  // the device's runtime made. No buffer may be released, because the pool then calls
  // memory_released(). Nothing may be fed and no callback set, because feeds_ calls fed() under a
  // mutex of its own, and pool_ waits for memory_released(). One may ask feeds_ and pool_ for what
  // they have, fetchers_ and device_ for their counters, and use cursors_: these call nothing back.
  mutable Mutex mutex_;
  ConditionVariable work_, done_, issue_, opened_;
  std::deque<std::unique_ptr<Iteration>> ring_ STOKER_GUARDED_BY(mutex_);  // oldest first
  std::vector<std::unique_ptr<Iteration>> graveyard_ STOKER_GUARDED_BY(mutex_);
  std::vector<bool> holds_memory_ STOKER_GUARDED_BY(mutex_);  // by worker
  int64_t next_number_ STOKER_GUARDED_BY(mutex_) = 0;
  size_t largest_bytes_ STOKER_GUARDED_BY(mutex_) = 0;
  bool is_stopping_ STOKER_GUARDED_BY(mutex_) = false;  // the threads are to end
  // Nothing is opened behind the oldest until that was handed out.
  bool is_tight_ STOKER_GUARDED_BY(mutex_) = false;
  // The oldest found no room for a sample, though alone.
  bool is_oldest_stuck_ STOKER_GUARDED_BY(mutex_) = false;
  // No memory was found to open the oldest.
  bool is_oldest_unopened_ STOKER_GUARDED_BY(mutex_) = false;
  bool is_one_alone_ STOKER_GUARDED_BY(mutex_) = false;  // a worker makes a large sample
  // The user is in wait(), for the oldest iteration.
  bool user_waits_ STOKER_GUARDED_BY(mutex_) = false;
  // wait() found the oldest iteration not ready.
  bool has_waited_ STOKER_GUARDED_BY(mutex_) = false;
  Starved starved_ STOKER_GUARDED_BY(mutex_);  // the latest
  size_t batch_bytes_ STOKER_GUARDED_BY(mutex_) = 0;  // what is_oldest_unopened_ is about
  int64_t rooms_ STOKER_GUARDED_BY(mutex_) = 0;  // how often memory was released
  // How often there was reason to query Iteration::copies_ready.
  int64_t polls_ STOKER_GUARDED_BY(mutex_) = 0;
  bool is_opening_ STOKER_GUARDED_BY(mutex_) = false;  // a thread seeks memory, without the lock
  int burying_ STOKER_GUARDED_BY(mutex_) = 0;  // threads that are destroying closed iterations
  // Of what was handed out:
  int64_t steps_ STOKER_GUARDED_BY(mutex_) = 0, steps_waited_ STOKER_GUARDED_BY(mutex_) = 0;
  int64_t samples_ STOKER_GUARDED_BY(mutex_) = 0, user_wait_ns_ STOKER_GUARDED_BY(mutex_) = 0;
};

}  // namespace stoker
