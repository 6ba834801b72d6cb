// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Code of the user's, as the engine calls it: Note [User code] (run/executors/user_thread.h).
#pragma once
#include <vector>

#include "batch/batch.h"

namespace stoker {

class UserFunction {
 public:
  virtual ~UserFunction() = default;
  // Makes the batches of the node's outputs, with as many samples as each input has. `inputs`: the
  // samples of the step that were made so far, in order, in host memory. Nobody else writes into
  // them, and they live as long as somebody holds them. Throws SampleError, which loses the step.
  // May be called again for a step that is made again; one thread calls it.
  virtual std::vector<Batch> call(std::vector<Batch> inputs) = 0;
  // Whether it may be called only once for a step, and only after the steps before it were
  // received, because it keeps a state.
  virtual bool is_stateful() const { return false; }
};

}  // namespace stoker
