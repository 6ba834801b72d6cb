// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// On which CPUs the workers of a pipeline with set_affinity run.
#pragma once
#include <string>
#include <vector>

#include "device/device.h"

namespace stoker {

using Cpus = std::vector<int>;  // ascending

struct Affinity {
  std::vector<Cpus> cpus;  // by worker; of one that may run on any it is empty
  std::string words;  // for a plan
};

// The CPUs that the calling thread may use.
Cpus usable_cpus();
// Lets the calling thread run on these alone, or if there are none, where it may already. A hint:
// when they were taken from the process meanwhile it stays as it is.
void run_on(const Cpus& cpus);

// For so many workers. The environment variable DALI_AFFINITY_MASK=3,5 puts the first two on a CPU
// each; the others run on those that NVML says are near `device` (null: there is none) and that are
// `usable`. Throws GraphError when the variable is no list of usable CPUs.
Affinity affinity_for(int workers, const Device* device, const Cpus& usable);

// "0-3, 8".
std::string in_words(const Cpus& cpus);

}  // namespace stoker
