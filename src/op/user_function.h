// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Code of the user's, as the engine calls it: Note [User code] (run/executors/user_thread.h).
#pragma once
#include <memory>
#include <vector>

#include "base/view.h"

namespace stoker {

struct HostBatch {
  std::vector<View> samples;
  std::shared_ptr<const void> owner;  // keeps the bytes alive
};

class UserFunction {
 public:
  virtual ~UserFunction() = default;
  // Makes the batches of the node's outputs. Each has as many samples as the inputs, of the dtype
  // and the number of axes that the node declares; others lose the step. `inputs`: the `count`
  // samples of the step that were made so far, in order; nobody writes into them. Throws
  // SampleError, which loses the step. One thread at a time calls it. It may be called again for a
  // step that is made again.
  virtual std::vector<HostBatch> call(std::vector<HostBatch> inputs, int64_t count) = 0;
  // Tells for which step it is called next: how many steps were received before that one.
  virtual void begin(int64_t /*step*/) {}
  // Whether it keeps a state, so that it may be called only once for a step, and only after the
  // steps before that one were received.
  virtual bool is_stateful() const { return false; }
};

}  // namespace stoker
