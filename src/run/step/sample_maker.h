// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes one sample of a step: takes its bytes, runs the chain, and replaces bad samples where the
// options say so. Also makes what a whole batch decides. One per worker; one thread at a time.
#pragma once
#include <chrono>

#include "run/step/batch_maker.h"

namespace stoker {

// What the fetchers have read for one worker. It stays valid until drop(). One thread at a time;
// any thread may read the counters.
class FetchedBytes {
 public:
  explicit FetchedBytes(Fetchers& fetchers) : fetchers_(fetchers), taken_(fetchers.size()) {}
  // `turn`: the sample's turn at this reader; -1 for a replacement, which has none and is read at
  // once. Charges the arena before it reads, and throws what that throws.
  std::span<const io::Part> take(int reader, int64_t turn, int64_t index, Arena& arena);
  // Lets go of what was read at all readers. Who makes no sample must hold nothing: others may wait
  // for the block that it lies in.
  void drop() {
    for (io::Fetched& f : taken_) f = {};
  }
  // The memory that holds these bytes of what was read, or null.
  std::shared_ptr<Buffer> owner(const View& v) const;

  std::atomic<int64_t> wait_ns{0}, bytes_read{0};

 private:
  Fetchers& fetchers_;
  std::vector<io::Fetched> taken_;
};

class SampleMaker {
 public:
  // Requires: all arguments outlive this. `rewrites`: some or all of the plan's.
  // `decoder`: the device stage's, or null without one.
  SampleMaker(const Plan& plan, const Rewrites& rewrites, const ExecutorOptions& options,
              Fetchers& fetchers, HostPool& pool, DeviceDecoder* decoder);

  // Runs a kChain stage for sample i. Returns false when the sample could not be made; `failures`
  // then says why. With on_error=replace, `failures` may hold entries although the sample was made,
  // and Step::is_to_rewind() tells whether the step has to be made again. Throws Starved,
  // BeyondShare, and whatever a bug throws; `failures` then holds the failures so far.
  bool make(Step& step, int i, int stage, std::vector<SampleFailure>& failures);
  // Runs a kBatch stage, or takes what the call of a kPython stage has made. A failure loses the
  // step. Throws what make() throws.
  void make_batch(Step& step, int stage, UserCall* call, std::vector<SampleFailure>& failures);
  // Calls one of these once more, after it threw BeyondShare. It may take all of the workers'
  // memory, and gives it back. Requires: no other worker holds any.
  void alone(const std::function<void()>& make);
  // Gives back the memory that it keeps for the next sample.
  void trim();

  const NodeTimes& times() const { return times_; }
  const Arena& arena() const { return arena_; }
  const FetchedBytes& bytes() const { return bytes_; }

 private:
  void attempt(Step& step, int i, int stage);
  void run_chain(Step& step, int i, int stage);
  void read(Step& step, int i);
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
  // The sample at work.
  Step* step_ = nullptr;
  int sample_ = 0;
};

}  // namespace stoker
