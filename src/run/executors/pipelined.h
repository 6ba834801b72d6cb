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
//
// Calls that a stream makes on the host release memory and take mutex_. So nothing that may wait
// for the device happens while mutex_ is held: no memory is pinned, and nothing is destroyed that
// the device's runtime made.
#pragma once
#include <condition_variable>
#include <deque>
#include <mutex>

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

  void schedule() override;
  bool wait(int milliseconds) override;
  Outputs take() override;
  int64_t node_ns(int node) const override;
  void trim() override;
  ExecutorStats stats() const override;

 private:
  using Lock = std::unique_lock<std::mutex>;

  const PipelineOptions& settings() const { return options_.settings; }

  // pipelined.cc: reading, workers and their tickets
  void start_reading(int reader);
  bool is_ready(const Iteration& it) const;
  bool front_ready() const { return !ring_.empty() && is_ready(*ring_.front()); }
  struct Try {  // of a ticket
    bool is_alone = false;
    int64_t rooms = 0;  // rooms_ when it began
    std::optional<Starved> starved;
    bool is_large = false;  // it is to be made alone
    std::exception_ptr fatal;
    std::vector<SampleFailure> failures;
  };
  Iteration* next_ticket(const Worker& w, int& i);
  void run_worker(Worker& w);
  void try_ticket(Worker& w, Iteration& it, int i, Try& t);
  void finish_ticket(Iteration& it, int i, Try& t);
  void fed();

  // pipelined_device.cc: the one thread that talks to the device
  struct Enqueued {  // enqueue() sets exactly one of these
    std::vector<int> refused;  // samples that have to be made once more
    std::unique_ptr<Event> copies_ready;  // comes after the work of the round
    bool is_last = false;  // there is no other round
  };
  void run_issuer();
  void rest(Lock& lock);
  Iteration* next_to_issue();
  void issue_round(Iteration& it, Lock& lock);
  Enqueued enqueue(Iteration& it);
  void try_begin_next_round(Iteration& it, Lock& lock);
  bool make_device_room();
  void ring_bell();

  // pipelined_memory.cc: opening and closing iterations, and working alone
  bool is_for_one_worker() const;
  Iteration* begin_alone(const Worker& w, int& i);
  void trim(Worker& w, Lock& lock);
  void open_iterations(Lock& lock);
  bool may_open() const;
  int64_t next_number() const;  // of the next iteration to open
  bool opens_only_oldest() const { return is_tight_ && !ring_.empty(); }
  bool open_next(Lock& lock, std::exception_ptr& failure);
  bool allocate(Step& step, Lock& lock, std::exception_ptr& failure);
  void finish_device(Lock& lock);
  void make_room(Iteration& front);
  void forget(Iteration& it, int i);
  void close_youngest();
  void close_what_is_closing();
  void memory_released();
  void room_was_made();
  void bury(Lock& lock);
  bool is_stuck() const {
    return is_oldest_unopened_ || (is_oldest_stuck_ && !ring_.front()->running_count);
  }
  std::string stuck_message() const;

  // Calls by the device's runtime reach the executor through this, as they may come after its end.
  struct Bell {
    std::mutex mutex;
    Pipelined* executor;
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
  mutable std::mutex mutex_;
  std::condition_variable work_, done_, issue_, opened_;
  std::deque<std::unique_ptr<Iteration>> ring_;  // oldest first
  std::vector<std::unique_ptr<Iteration>> graveyard_;
  int64_t next_number_ = 0;
  size_t largest_bytes_ = 0;
  bool is_stopping_ = false;  // the threads are to end
  bool is_tight_ = false;  // nothing is opened behind the oldest until that was handed out
  bool is_oldest_stuck_ = false;  // the oldest found no room for a sample, though alone
  bool is_oldest_unopened_ = false;  // no memory was found to open the oldest
  bool is_one_alone_ = false;  // a worker makes a large sample
  bool user_waits_ = false;  // the user is in wait(), for the oldest iteration
  bool has_waited_ = false;  // wait() found the oldest iteration not ready
  Starved starved_;  // the latest
  size_t batch_bytes_ = 0;  // what is_oldest_unopened_ is about
  int64_t rooms_ = 0;  // how often memory was released
  int64_t polls_ = 0;  // how often there was reason to query Iteration::copies_ready
  bool is_opening_ = false;  // a thread seeks memory for the next iteration, without the lock
  int burying_ = 0;  // threads that are destroying closed iterations
  int64_t steps_ = 0, steps_waited_ = 0, samples_ = 0, user_wait_ns_ = 0;  // of what was handed out
};

}  // namespace stoker
