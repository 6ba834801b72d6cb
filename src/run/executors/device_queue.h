// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The device's part of the pipelined executor: enqueues kDevice stages, and tells when what they
// copy to the host is there. The thread that talks to the device calls it, without
// Pipelined::mutex_.
#pragma once
#include "run/device/device_stage.h"
#include "run/executors/bell.h"
#include "run/executors/iteration.h"

namespace stoker {

class DeviceQueue {
 public:
  // `bell` is called in a thread of the device's runtime whenever copies that are awaited may be
  // there, until silence().
  DeviceQueue(std::shared_ptr<const Plan> plan, const ExecutorOptions& options, HostPool& pool,
              std::function<void()> bell);
  // The bell is not called again.
  void silence() { bell_->silence(); }

  // Enqueues a kDevice stage. Returns samples that the device's decoder refuses: the CPU has to
  // decode these in the chain before, and then all of the stage is to be issued again. Throws
  // DeviceFull, and then it may be called again. `insists`: the decoder gives up its spare memory.
  std::vector<int> issue(Step& step, int stage, ForDevice& state, bool insists);
  // Whether the copies that the iteration awaits are on the host. Throws what failed before them.
  bool is_copied(ForDevice& state) const;

  DeviceStage& device() { return device_; }
  const DeviceStage& device() const { return device_; }

 private:
  std::vector<int> enqueue(Step& step, int stage, ForDevice& state);

  const std::shared_ptr<const Plan> plan_;
  HostPool& pool_;
  DeviceStage device_;
  const std::shared_ptr<Bell> bell_;
};

}  // namespace stoker
