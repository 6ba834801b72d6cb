// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "batch/batch.h"
#include "run/chain/chain.h"

namespace stoker {

// One step, as the user receives it.
struct Outputs {
  std::vector<Batch> batches;  // by graph output
  // Set if some of them are being copied to the host: read these only after this event.
  std::shared_ptr<Event> copied;
  std::vector<SampleFailure> failures;  // also of samples that were skipped or replaced
  std::vector<SampleRemark> remarks;  // of samples that were made
  std::vector<int64_t> next;  // cursors of the orders after this step
  int64_t size = 0;  // how many samples the step was to have
  int64_t missing = 0;  // how many of them could not be made
  bool ends_epoch = false;
  bool is_end = false;  // there is no step: a source ended its epoch
  // There are no batches: a sample failed with on_error=raise or replace, or none is left.
  bool is_lost = false;
};

}  // namespace stoker
