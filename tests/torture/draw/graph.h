// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A random graph, from nothing but what the registry says of operators: so a new one takes part by
// existing.
#pragma once
#include "../dice.h"
#include "../trial.h"

namespace stoker::torture {

// Adds nodes, feeds and outputs to the trial. Its files are used by readers and feeds. `operators`:
// the names of those to draw from, besides sources of data; none: all. Few graphs are wrong.
void draw_graph(Dice& dice, const std::vector<std::string>& operators, Trial& trial);

// Whether operators of this type are drawn: not where only a user has what they call.
bool is_drawn(const OperatorType& type);

}  // namespace stoker::torture
