// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes one sample of a step: takes its bytes, runs the chain, and replaces bad samples where the
// options say so. One per worker; one thread at a time.
#pragma once
#include "run/step/step_shelf.h"

namespace stoker {

// Where a worker gets a reader's bytes. The bytes stay valid until this worker next calls take()
// for that reader.
class ReaderBytes {
 public:
  virtual ~ReaderBytes() = default;
  // `turn`: the sample's turn at this reader; -1 for a replacement, which has none and is read at
  // once.
  virtual std::span<const uint8_t> take(int reader, int64_t turn, int64_t index) = 0;
};

class SampleMaker {
 public:
  // Requires: all arguments outlive this.
  SampleMaker(const Plan& plan, const Rewrites& rewrites, const ExecutorOptions& options,
              ReaderBytes& bytes, HostPool& pool, DeviceDecoder* decoder);

  // Runs the chain's part of a round for sample i. Returns false when the sample could not be made;
  // `failures` then says why. With on_error=replace, `failures` may hold entries although the
  // sample was made, and Step::is_to_rewind() tells whether the step has to be made again. Throws
  // Starved, BudgetError for lack of scratch memory, and whatever a bug throws; `failures` then
  // holds the failures so far.
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

// Reads when asked, not ahead: for the simple executor and for replacements.
class DirectBytes : public ReaderBytes {
 public:
  explicit DirectBytes(const Plan& plan) : plan_(plan), buffers_(plan.reader_count()) {}
  std::span<const uint8_t> take(int reader, int64_t turn, int64_t index) override;

 private:
  const Plan& plan_;
  std::vector<io::ByteBuffer> buffers_;
};

}  // namespace stoker
