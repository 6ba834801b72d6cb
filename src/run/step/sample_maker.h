// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes one sample of a step, whatever it takes: bytes, chain, policy for the bad ones. One per
// worker; one thread at a time.
#pragma once
#include "run/step/step_shelf.h"

namespace stoker {

// Where a worker gets a reader's bytes. What take() gives stays until the next take() of that
// reader by this worker.
class ReaderBytes {
 public:
  virtual ~ReaderBytes() = default;
  // `turn`: the sample's number in the executor's life, by reader; -1: not in order, read now.
  virtual std::span<const uint8_t> take(int reader, int64_t turn, int64_t index) = 0;
};

class SampleMaker {
 public:
  // Requires: everything outlives this.
  SampleMaker(const Plan& plan, const Rewrites& rewrites, const ExecutorOptions& options,
              ReaderBytes& bytes, HostPool& pool, DeviceDecoder* decoder);

  // The chain's part of a round for sample i. False when the sample could not be made; then
  // `failures` says why (with on_error=replace it may hold failures though it was made, and
  // Step::is_to_rewind() asks for more). Throws Starved, BudgetError (of scratch) and what is a
  // bug; the failures until then are in `failures` all the same.
  bool make(Step& step, int i, int round, std::vector<SampleFailure>& failures);

  const Chain& chain() const { return chain_; }
  const Arena& arena() const { return arena_; }
  void trim() { arena_.trim(); }

 private:
  void attempt(Step& step, int i, int round);
  void read(Step& step, int i);
  void carry(const Step& step, int i, int round);
  void reserve(Step& step, int i, int round);
  int64_t index_of(int reader, const io::SampleRef& place, int attempt) const;
  SampleFailure failure(const SampleError& e, int i) const;

  const Plan& plan_;
  ReaderBytes& bytes_;
  HostPool& pool_;
  Arena arena_;
  Chain chain_;
  StepShelf shelf_;
  Identity who_;
  int64_t lead_index_ = 0;
};

// Reads at once, ahead of nothing: for the simple executor and for replacements.
class DirectBytes : public ReaderBytes {
 public:
  explicit DirectBytes(const Plan& plan) : plan_(plan), buffers_(plan.reader_count()) {}
  std::span<const uint8_t> take(int reader, int64_t turn, int64_t index) override;

 private:
  const Plan& plan_;
  std::vector<io::ByteBuffer> buffers_;
};

}  // namespace stoker
