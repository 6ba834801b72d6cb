// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The state of a pipeline: what the user received, and what coming samples depend on.
//
// Note [What a state goes on with]
// Unless forced, restoring refuses another order (that is, other files, labels, key, shuffling or
// end of the epoch), another set of random operators, and another key of one. It always refuses
// another number of shards if shards are contiguous. It warns of another explicit seed (ranks have
// their own seeds and share a state), of other operators and of other arguments.
#pragma once
#include "run/plan/plan.h"

namespace stoker {

// Gives small JSON, which people can read too.
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
