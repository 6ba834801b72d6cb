// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// How a plan is run. Two forms that must agree: simple (one thread, one operator at a time, no
// rewrites: the judge) and pipelined. One caller at a time.
#pragma once
#include "batch/batch.h"
#include "io/fetch.h"
#include "memory/pool.h"
#include "run/affinity.h"
#include "run/chain/chain.h"

namespace stoker {

enum class OnError : uint8_t { kRaise, kSkip, kReplace };

struct ExecutorOptions {
  int num_threads = 1;
  int depth = 2;  // iterations open at once
  int io_threads = 2;
  uint64_t seed = 0;
  OnError on_error = OnError::kRaise;
  size_t output_limit = SIZE_MAX, scratch_limit = SIZE_MAX, read_ahead_limit = 64 << 20;  // bytes
  bool pipelined = true;
  int device_id = 0;  // of the device stage
  size_t device_memory_limit = SIZE_MAX;  // bytes
  std::vector<Cpus> worker_cpus;  // where workers run: Affinity::cpus
};

// One step, as the user gets it.
struct Outputs {
  std::vector<Batch> batches;  // by graph output
  // Where some of them are being copied to the host: read them behind it.
  std::shared_ptr<Event> copied;
  std::vector<SampleFailure> failures;  // all of them, also the skipped and the replaced
  std::vector<int64_t> next;  // cursors of the orders after this step
  int64_t size = 0;  // samples that the step was to have
  bool ends_epoch = false;
  bool is_end = false;  // no step at all: a source of what is fed ended its epoch
  bool is_lost = false;  // on_error=raise and something failed, or nothing is left: to be raised
};

// Bytes of a device; zeros without one.
struct DeviceShare {
  size_t limit = 0, in_use = 0, high_water = 0;
};

struct ExecutorStats {
  int64_t steps = 0, steps_waited = 0;  // hand-outs, and those that were not ready when asked for
  int64_t user_wait_ns = 0, worker_idle_ns = 0, read_wait_ns = 0;
  int64_t samples = 0;  // made, also ahead; each once
  int64_t bytes_read = 0;
  size_t scratch = 0;  // bytes that the workers hold
  size_t read_ahead = 0, read_ahead_high_water = 0;  // bytes that wait, and the most there were
  DeviceShare device;
};

class Feeds;

class Executor {
 public:
  virtual ~Executor() = default;
  // Gets ahead as far as depth and budget allow. Waits for no sample, but it may for another thread
  // that opens a step, and while memory is pinned.
  virtual void schedule() = 0;
  // True when the next step is ready, false after so many milliseconds or at a marker of the feeds.
  // Throws what ends a run (budget, device, bug).
  virtual bool wait(int milliseconds) = 0;
  // Requires: wait() returned true.
  virtual Outputs take() = 0;
  virtual int64_t node_ns(int node) const = 0;  // summed over workers
  virtual ExecutorStats stats() const = 0;
  // Gives memory of the device stage back that nothing uses now.
  virtual void trim() = 0;
};

// `cursors`: where each order starts. Steps are made of `feeds`, from the one to be received on.
// Requires: pool and feeds outlive the executor (outputs may outlive all).
std::unique_ptr<Executor> make_pipelined(std::shared_ptr<const Plan> plan,
                                         const ExecutorOptions& options, HostPool& pool,
                                         std::vector<int64_t> cursors, Feeds& feeds);
std::unique_ptr<Executor> make_simple(std::shared_ptr<const Plan> plan,
                                      const ExecutorOptions& options, HostPool& pool,
                                      std::vector<int64_t> cursors, Feeds& feeds);

}  // namespace stoker
