// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes what a whole batch decides: runs the operator of a kBatch stage, and gives a function of
// the user's its inputs and takes its results. Each worker has one.
#pragma once
#include "run/step/step.h"
#include "run/step/user_call.h"

namespace stoker {

// What the function of a kPython stage is to be called with.
std::shared_ptr<UserCall> call_of(const Step& step, int stage);

class BatchMaker {
 public:
  // Requires: all arguments outlive this.
  BatchMaker(const Plan& plan, uint64_t seed, Arena& arena, HostPool& pool, NodeTimes& times)
      : plan_(plan), seed_(seed), arena_(arena), pool_(pool), times_(times) {}

  // Chance follows from this seed from now on.
  void use_seed(uint64_t seed) { seed_ = seed; }
  // Runs the operator of a kBatch stage, or finds its types if it runs on a device. Throws what
  // operators throw, Starved and BeyondShare; then it may be called again. Requires: samples are
  // made, and the arena is free.
  void run_operator(Step& step, int stage);
  // Puts what the call has made into the slots. Throws what the call threw, SampleError for results
  // that do not fit, and Starved; then it may be called again.
  void take_results(Step& step, int stage, UserCall& call);

 private:
  using Types = std::vector<std::vector<TensorType>>;  // by sample that is made, by output
  std::vector<std::shared_ptr<const Operator>> resolve(const Step& step, int node,
                                                       std::span<const int> samples) const;
  BatchInference::Item item_of(const Step& step, int node, int i) const;
  Types infer(int node, std::span<BatchInference::Item> items,
              std::span<const Operator* const> ops) const;
  void join_names(Step& step, int node, std::span<const int> samples,
                  std::span<const Operator* const> ops) const;
  Types types_of(int node, const UserCall& call) const;
  std::vector<int> slots_of(const Ref& value) const;
  void deliver(const Step& step, int node, std::span<const int> samples,
               const std::vector<std::vector<View>>& made) const;
  std::vector<std::vector<View>> reserve(Step& step, int node, std::span<const int> samples,
                                         const Types& types);

  const Plan& plan_;
  uint64_t seed_;
  Arena& arena_;
  HostPool& pool_;
  NodeTimes& times_;
};

}  // namespace stoker
