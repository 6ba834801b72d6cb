// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A whole random trial: files, a graph, and the ways in which it is run.
#pragma once
#include "../trial.h"

namespace stoker::torture {

// Equal seeds, numbers and operators give equal trials. `operators` as for draw_graph().
Trial draw_trial(uint64_t seed, int64_t number, const std::vector<std::string>& operators);

}  // namespace stoker::torture
