// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A small graph that is run at once, for one sample or a batch, in the thread that asks.
//
// Note [Calls]
// A call is a graph with its plan, kept for whoever calls it again. Its inputs are the nodes that
// the user feeds in a pipeline. A run makes one step as the simple executor does, with the plan's
// rewrites, and with nothing around it: no queue, no thread, no copy of what is given. Whoever runs
// it takes a worker from those that are idle, or makes one, so any number of threads may run one
// call at a time; no lock is held while they work. A batch may be spread over a Crew.
//
// The chance of a run follows from its key as that of a pipeline from its seed: sample i of a run
// has the bytes that a pipeline of this graph gives with seed=key.seed for the sample at position
// key.position + i of its first epoch, whatever runs before or beside it.
#pragma once
#include "run/call/call_memory.h"
#include "run/call/crew.h"
#include "run/feed/feed.h"
#include "run/step/outputs.h"

namespace stoker {

struct CallKey {
  uint64_t seed = 0;
  int64_t position = 0;  // of the first sample
};

class Call {
 public:
  // Throws GraphError for a wrong graph, and for what no call can do: to read samples by itself, to
  // call functions of the user's, and to use a device.
  Call(const Graph& graph, std::shared_ptr<CallMemory> memory);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  const Plan& plan() const { return *plan_; }
  const std::shared_ptr<CallMemory>& memory() const { return memory_; }
  // The nodes that are fed, in the order of the graph.
  const std::vector<int>& inputs() const { return inputs_; }
  const TensorType& input_type(size_t k) const { return plan_->checked(inputs_[k]).outputs[0]; }

  // Makes `size` samples of what is given, by input; the bytes must not change meanwhile. With a
  // crew, its threads help. Throws GraphError for what does not fit the inputs, BatchError for
  // samples that cannot be made, and BudgetError. Thread-safe.
  Outputs run(std::vector<FedBatch> given, int64_t size, const CallKey& key,
              Crew* crew = nullptr) const;

 private:
  struct Worker;
  class Borrowed;  // a worker, for one run
  class Run;

  std::shared_ptr<const FedStep> fed(std::vector<FedBatch> given, int64_t size) const;

  std::shared_ptr<CallMemory> memory_;
  std::shared_ptr<const Plan> plan_;
  std::vector<int> inputs_;
  mutable Mutex mutex_;  // held while a worker is taken or put back
  mutable std::vector<std::unique_ptr<Worker>> idle_ STOKER_GUARDED_BY(mutex_);
};

}  // namespace stoker
