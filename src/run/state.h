// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The state of a pipeline: what the user received, and the keys that what follows depends on. Pure functions.
#pragma once
#include "run/plan.h"

namespace stoker {

// Small JSON, for people too.
std::string save_state(const Plan& plan, uint64_t seed, const std::vector<int64_t>& cursors);

struct RestoredState {
  std::vector<int64_t> cursors;
  uint64_t seed;
  std::vector<std::string> warnings;
};
// Throws StateError when the order or a random operator's key differs (unless `force`), when contiguous shards would have to be
// dealt to another number of shards, or when the text is no state.
RestoredState load_state(const std::string& text, const Plan& plan, uint64_t seed,
                         bool seed_is_drawn, bool force);

}  // namespace stoker
