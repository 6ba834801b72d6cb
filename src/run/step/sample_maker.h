// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes one sample of a step: takes its bytes, runs the chain, and replaces bad samples where the
// options say so. Also makes what a whole batch decides. One per worker; one thread at a time.
#pragma once
#include "run/step/batch_maker.h"
#include "run/step/step_shelf.h"

namespace stoker {

// Where a worker gets what was read of samples. It stays valid until drop().
class ReaderBytes {
 public:
  virtual ~ReaderBytes() = default;
  // `turn`: the sample's turn at this reader; -1 for a replacement, which has none and is read at
  // once. Charges the arena before it reads, and throws what that throws.
  virtual std::span<const io::Part> take(int reader, int64_t turn, int64_t index, Arena& arena) = 0;
  // Lets go of what was read at all readers. Who makes no sample must hold nothing: others may wait
  // for the block that it lies in.
  virtual void drop() = 0;
};

class SampleMaker {
 public:
  // Requires: all arguments outlive this. `rewrites`: some or all of the plan's.
  SampleMaker(const Plan& plan, const Rewrites& rewrites, const ExecutorOptions& options,
              ReaderBytes& bytes, HostPool& pool, DeviceDecoder* decoder);

  // Runs a kChain stage for sample i. Returns false when the sample could not be made; `failures`
  // then says why. With on_error=replace, `failures` may hold entries although the sample was made,
  // and Step::is_to_rewind() tells whether the step has to be made again. Throws Starved,
  // BeyondShare, and whatever a bug throws; `failures` then holds the failures so far.
  bool make(Step& step, int i, int stage, std::vector<SampleFailure>& failures);
  // Runs a kBatch stage, or takes what the call of a kPython stage has made. A failure loses the
  // step. Throws what make() throws.
  void make_batch(Step& step, int stage, UserCall* call, std::vector<SampleFailure>& failures);
  std::shared_ptr<UserCall> call_of(const Step& step, int stage) const {
    return batch_.call_of(step, stage);
  }
  // Calls one of these once more, after it threw BeyondShare. It may take all of the workers'
  // memory, and gives it back. Requires: no other worker holds any.
  void alone(const std::function<void()>& make);
  // Gives back the memory that it keeps for the next sample.
  void trim();

  const NodeTimes& times() const { return times_; }
  const Arena& arena() const { return arena_; }

 private:
  void attempt(Step& step, int i, int stage);
  void run_chain(Step& step, int i, int stage);
  void read(Step& step, int i);
  void carry(const Step& step, int i, int stage);
  void reserve(Step& step, int i, int stage);
  int64_t index_of(int reader, const io::SampleRef& place, int attempt) const;
  SampleFailure failure(const SampleError& e, int i) const;

  const Plan& plan_;
  const Rewrites rewrites_;
  ReaderBytes& bytes_;
  HostPool& pool_;
  Arena arena_;
  NodeTimes times_;
  Chain chain_;
  BatchMaker batch_;
  StepShelf shelf_;
  Origin lead_;  // of the sample at work, by the lead reader
};

// Reads when asked, not ahead: for the simple executor.
class DirectBytes : public ReaderBytes {
 public:
  // `window`: each reader's share of what may be read ahead. It holds the last block that was
  // loaded, if that is no larger.
  DirectBytes(const Plan& plan, size_t window)
      : plan_(plan), window_(window), read_(static_cast<size_t>(plan.reader_count())) {}
  std::span<const io::Part> take(int reader, int64_t turn, int64_t index, Arena& arena) override;
  void drop() override;

 private:
  struct Read {
    io::ByteBuffer buffer;
    std::vector<io::Part> parts;
    std::shared_ptr<const io::Block> block;
    int64_t block_number = -1;
  };
  void take_block(Read& read, const SampleStore& store, int64_t block, Arena& arena);

  const Plan& plan_;
  const size_t window_;
  std::vector<Read> read_;  // by reader
};

}  // namespace stoker
