// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/error.h"
#include "memory/pool.h"

namespace stoker {

// Batches have too little memory for a step. The message names a memory_limit.
class NoRoom : public BudgetError {
 public:
  // `what` takes at least so many bytes more. What the step needs after that is unknown, so the
  // limit that is named may not suffice.
  NoRoom(const std::string& what, size_t bytes, const HostPool& pool);
  // Names a limit that is known to suffice.
  NoRoom with_limit(size_t limit) const;

 private:
  NoRoom(std::string before, size_t limit, bool suffices, std::string after);
  std::string before_, after_;  // what stands around the limit
};

}  // namespace stoker
