// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "run/step/no_room.h"

#include "run/memory_shares.h"

namespace stoker {

NoRoom::NoRoom(std::string before, size_t limit, bool suffices, std::string after)
    : BudgetError(before + std::to_string(limit) + (suffices ? ". " : ", and perhaps more. ") +
                  after),
      before_(std::move(before)),
      after_(std::move(after)) {}

NoRoom::NoRoom(const std::string& what, size_t bytes, const HostPool& pool)
    : NoRoom("no memory for " + what + ", which takes at least " + in_words(bytes) +
                 ". Batches have " + MemoryShares::kBatches.in_words() + ", " +
                 in_words(pool.usage().limit) + "; " +
                 (pool.usage().of(Use::kHeld) ? "hold fewer of them, or set " : "set ") +
                 "memory_limit to at least ",
             MemoryShares::kBatches.limit_for(pool.usage().in_use + size_class(bytes)), false,
             pool.explain()) {}

NoRoom NoRoom::with_limit(size_t limit) const { return {before_, limit, true, after_}; }

}  // namespace stoker
