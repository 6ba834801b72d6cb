// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <exception>

#include "op/user_function.h"

namespace stoker {

// A call of a function of the user's. It owns all that it uses, so it may outlive the executor.
struct UserCall {
  std::shared_ptr<UserFunction> function;  // null: no sample is for it
  int64_t step = 0;  // how many were received before this one since the pipeline was built
  int64_t count = 0;  // of samples
  std::vector<HostBatch> inputs, outputs;
  std::exception_ptr error;  // why it failed, or why there is no call
  int64_t ns = 0;  // how long it took
  std::atomic<bool> is_over = false;  // the rest is the caller's again
};

}  // namespace stoker
