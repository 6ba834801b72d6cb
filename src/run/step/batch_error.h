// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "run/error_policy.h"
#include "run/step/outputs.h"

namespace stoker {

// A line of its own: "sample 3 (epoch 0, position 7) from 'a.jpg' at byte 12: crop 'crop_0' (...".
std::string in_words(const SampleFailure& failure);

// Samples that could not be made, thrown when their step is handed out.
struct BatchError : SampleError {
  // Of a pipeline, whose next run() goes on. `missing`: how many samples of the step could not be
  // made. Each may have failed repeatedly.
  BatchError(std::vector<SampleFailure> samples, int64_t missing, int64_t batch_size,
             ErrorPolicy policy);
  // Of a call of so many samples, of which these are missing.
  BatchError(std::vector<SampleFailure> samples, int64_t missing, int64_t count);
  std::vector<SampleFailure> samples;
};

}  // namespace stoker
