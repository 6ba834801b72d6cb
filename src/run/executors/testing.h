// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// For tests of executors' parts: iterations of a plan with all kinds of stages, without threads.
#pragma once
#include <gtest/gtest.h>

#include "run/executors/iteration_queue.h"

namespace stoker {

class NoFunction final : public UserFunction {
 public:
  explicit NoFunction(bool is_stateful = false) : is_stateful_(is_stateful) {}
  std::vector<HostBatch> call(std::vector<HostBatch>, int64_t) override { return {}; }
  bool is_stateful() const override { return is_stateful_; }

 private:
  const bool is_stateful_;
};

// Stages: kChain, kDevice, kBatch, kPython, kChain, kDevice. The second stage is awaited.
inline Graph graph_of_all_kinds(bool is_stateful = false) {
  Graph g;
  const int draw = g.add({.op = "random.uniform", .device = DeviceKind::kGpu});
  const int next = g.add({.op = "test.next_sample", .inputs = {Ref{draw, 0}}});
  const int call = g.add({.op = "test.call",
                          .inputs = {Ref{next, 0}},
                          .function = std::make_shared<NoFunction>(is_stateful)});
  const int copy = g.add({.op = "copy", .device = DeviceKind::kGpu, .inputs = {Ref{call, 0}}});
  g.outputs = {{copy, 0}};
  return g;
}

inline const std::vector<StageKind> kAllKinds = {StageKind::kChain, StageKind::kDevice,
                                                 StageKind::kBatch, StageKind::kPython,
                                                 StageKind::kChain, StageKind::kDevice};

// Iterations of two samples.
class Iterations {
 public:
  explicit Iterations(bool is_stateful = false)
      : plan_(graph_of_all_kinds(is_stateful), {.batch_size = 2}) {
    options_.output_limit = SIZE_MAX;
  }
  const Plan& plan() const { return plan_; }
  std::unique_ptr<Iteration> make(int64_t number) const {
    return std::make_unique<Iteration>(plan_, number, std::vector<int64_t>{2 * number}, nullptr,
                                       options_);
  }
  // Its samples are made; it is in this state and stage.
  std::unique_ptr<Iteration> make(int64_t number, IterationState state, int stage) const {
    std::unique_ptr<Iteration> it = make(number);
    it->step.samples.is_made.assign(2, 1);
    it->begin(stage);
    it->state = state;
    return it;
  }

 private:
  Plan plan_;
  ExecutorOptions options_;
};

}  // namespace stoker
