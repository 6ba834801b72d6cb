// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A random graph, of all that the registry says of operators, so that new ones take part.
#pragma once
#include "../dice.h"
#include "../trial.h"

namespace stoker::torture {

// Adds nodes, feeds and outputs to the trial, using its files. `operators`: those to draw from,
// besides sources of data; none: all. Few graphs are wrong.
void draw_graph(Dice& dice, const std::vector<std::string>& operators, Trial& trial);

// False where only a user has what operators of this type call.
bool is_drawn(const OperatorType& type);

}  // namespace stoker::torture
