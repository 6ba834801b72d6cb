// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What came out of one way to run a trial, and how two of them must agree.
#pragma once
#include "../trial.h"
#include "run/pipeline.h"

namespace stoker::torture {

struct MadeValue {
  TensorType type;
  std::string bytes;
};

struct SlotRecord {
  bool is_made = false;
  std::vector<SampleFailure> failures;  // several where replacements failed as well
  int64_t index = 0;  // in the lead reader's store
  std::vector<MadeValue> values;  // by output
};

struct StepRecord {
  std::vector<SlotRecord> slots;
  std::vector<SampleFailure> failures;  // of the whole step
  bool is_lost = false;  // its samples were not delivered
  bool ends_epoch = false;
  bool is_end = false;  // no step, but the end of an epoch of what is fed
};

struct Record {
  std::vector<StepRecord> steps;
  // Why there are no more steps, if so; begins with the error's type.
  std::string error;
  bool lacks_memory = false;  // the error is a BudgetError
  std::string state;  // after the last step
  // All orders deal one endless stream of samples to the shards.
  bool deals = false;
  bool has_all = false;  // there is one shard
  std::vector<io::OrderSpec> orders;  // of all readers
  std::string wrong;  // what must never happen, in words: a foreign error, something left behind
};

// What of `other`, which was run in this way, is not as the judge has it; "" if all is well.
std::string difference(const Trial& trial, const Record& judge, const Record& other,
                       const Way& way);

}  // namespace stoker::torture
