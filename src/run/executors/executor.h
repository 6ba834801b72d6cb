// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// How a plan is run. Two forms must agree: the pipelined one, and the simple one, which judges it
// with one thread, one operator at a time and no rewrites.
#pragma once
#include "run/executor_options.h"
#include "run/step/fetched_bytes.h"
#include "run/step/outputs.h"

namespace stoker {

// Bytes; zeros without a device.
struct DeviceShare {
  size_t limit = 0, in_use = 0, high_water = 0;
};

struct ExecutorStats {
  int64_t steps = 0, steps_waited = 0;  // steps handed out, and those that the user waited for
  int64_t user_wait_ns = 0, worker_idle_ns = 0, read_wait_ns = 0;
  int64_t samples = 0;  // samples made, also ahead; each counts once
  int64_t bytes_read = 0;
  size_t scratch = 0;  // bytes that the workers hold
  size_t read_ahead = 0, read_ahead_high_water = 0;  // bytes that wait, now and at most
  DeviceShare device;
};

class DeviceStage;
class Feeds;

// `cursors`: where each order starts. Steps take what was fed, beginning with the next one to be
// received. Requires: pool and feeds outlive the executor. Outputs may outlive all of these.
struct ExecutorArguments {
  std::shared_ptr<const Plan> plan;
  ExecutorOptions options;
  HostPool& pool;
  std::vector<int64_t> cursors;
  Feeds& feeds;
};

class Executor {
 public:
  virtual ~Executor();
  // Works ahead as far as depth and budget allow. Waits for no sample, but may wait while another
  // thread opens a step or memory is pinned.
  virtual void schedule() = 0;
  // Returns true when the next step is ready, false after about so many milliseconds or at a marker
  // of the feeds. Throws what ends a run: budget, device, bug.
  virtual bool wait(int milliseconds) = 0;
  // Requires: wait() returned true.
  virtual Outputs take_step() = 0;
  virtual int64_t node_ns(int node) const = 0;  // summed over workers
  virtual ExecutorStats stats() const = 0;
  // Gives back memory that nothing uses now: of the device stage, and of what was read.
  void trim();

 protected:
  // `bell`: see DeviceStage.
  Executor(ExecutorArguments a, std::function<void()> bell);
  DeviceShare device_share() const;
  // Tells the pool that the user now holds these bytes.
  void mark_held(const Outputs& outputs);

  const std::shared_ptr<const Plan> plan_;
  const ExecutorOptions options_;
  HostPool& pool_;
  HostPool read_;  // what is read, where it is not to lie in `pool_`
  Feeds& feeds_;
  const std::vector<int64_t> cursors_;  // before step 0
  Fetchers fetchers_;
  std::unique_ptr<DeviceStage> device_;  // null without one
};

std::unique_ptr<Executor> make_pipelined(ExecutorArguments a);
std::unique_ptr<Executor> make_simple(ExecutorArguments a);

}  // namespace stoker
