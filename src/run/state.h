// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The state of a pipeline: what the user received, and what the samples to come depend on. Pure
// functions.
//
// Note [What a state goes on with]
// Refused (unless forced): another order, that is other files, labels, key, shuffling or end of the
// epoch; a random operator more or less, or one of another key. Refused always: contiguous shards
// on another number of shards. A warning: another explicit seed (ranks have their own, and share a
// state); other operators; other arguments.
#pragma once
#include "run/plan/plan.h"

namespace stoker {

// Small JSON, for people too.
std::string save_state(const Plan& plan, uint64_t seed, const std::vector<int64_t>& cursors);

struct RestoredState {
  std::vector<int64_t> cursors;
  uint64_t seed;
  std::vector<std::string> warnings;
};
// Throws StateError as the note says, and when the text is no state.
RestoredState load_state(const std::string& text, const Plan& plan, uint64_t seed,
                         bool seed_is_drawn, bool force);

}  // namespace stoker
