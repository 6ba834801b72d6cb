// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes one sample of a step: takes its bytes, runs the chain, and replaces bad samples if the
// options say so. Also makes what a whole batch decides. Each worker has one.
#pragma once
#include "run/step/batch_maker.h"
#include "run/step/fetched_bytes.h"

namespace stoker {

class SampleMaker {
 public:
  // Requires: all arguments outlive this. `rewrites`: some or all of the plan's. `decoder`: the
  // device stage's, or null.
  SampleMaker(const Plan& plan, const Rewrites& rewrites, const ExecutorOptions& options,
              Fetchers& fetchers, HostPool& pool, DeviceDecoder* decoder);

  // Chance follows from this seed from now on, instead of that of the options.
  void use_seed(uint64_t seed) {
    chain_.use_seed(seed);
    batch_.use_seed(seed);
  }
  // Runs a kChain stage for sample i. Returns whether it was made. `failures` get those of all
  // attempts, also if the last one succeeded. Samples::is_to_rewind() then tells whether the step
  // has to be made again. Throws Starved, BeyondShare, and whatever a bug throws.
  bool make(Step& step, int i, int stage, std::vector<SampleFailure>& failures);
  // Runs a kBatch stage, or takes what the call of a kPython stage has made. A failure loses the
  // step. Throws what make() throws.
  void make_batch(Step& step, int stage, UserCall* call, std::vector<SampleFailure>& failures);
  // Calls one of these again after BeyondShare, with all memory of the workers, of whom no other
  // may hold any.
  void alone(const std::function<void()>& make);
  // Gives back the memory that it keeps for the next sample.
  void trim();

  const NodeTimes& times() const { return times_; }
  const Arena& arena() const { return arena_; }
  const FetchedBytes& bytes() const { return bytes_; }

 private:
  void attempt(Step& step, int i, int stage);
  void keep_remarks(Step& step, int i, int stage);
  void run_chain(Step& step, int i, int stage);
  void take_bytes(Step& step, int i);
  void carry(const Step& step, int i, int stage);
  void reserve(Step& step, int i, int stage);
  bool prepare(Step& step, int i, int node, const DecodeRequest& request);
  View take_picture(Step& step, int i, int node, const TensorType& type, const Window& window,
                    const std::optional<DecodeRequest>& request);
  View place(Step& step, int i, int slot);
  SampleFailure failure(const SampleError& e, int i, const Origin& lead) const;

  const Plan& plan_;
  const Rewrites rewrites_;
  FetchedBytes bytes_;
  HostPool& pool_;
  Arena arena_;
  NodeTimes times_;
  Chain chain_;
  BatchMaker batch_;
  DeviceDecoder* const decoder_;
};

}  // namespace stoker
