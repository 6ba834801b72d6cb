// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Outputs that are one of several values: Note [Sides that differ] (graph/graph.h).
#pragma once
#include "run/step/outputs.h"
#include "run/step/step.h"

namespace stoker {

// The first output whose samples are of types that may not meet in a batch, as a failure of the
// merge between them. Requires: all stages are over, and a sample is made.
std::optional<SampleFailure> find_meeting(const Step& step);

// Makes one batch of the variants of each output, as Step::publish() or a device gave them.
void join_variants(const Plan& plan, Outputs& outputs);

}  // namespace stoker
