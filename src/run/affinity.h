// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The CPUs on which the workers of a pipeline with set_affinity run.
#pragma once
#include <string>
#include <vector>

#include "device/device.h"

namespace stoker {

using Cpus = std::vector<int>;  // ascending

struct Affinity {
  std::vector<Cpus> cpus;  // by worker; empty for one that may run on any CPU
  std::string words;  // for the plan in words
};

Cpus usable_cpus();
// Lets the calling thread run only on these CPUs. It is a hint: nothing changes if there are none,
// or if the process has lost them meanwhile.
void run_on(const Cpus& cpus);

// The CPUs of so many workers. With the environment variable DALI_AFFINITY_MASK=3,5 the first two
// workers have one of these CPUs each. The others run on `usable` CPUs that NVML says are near
// `device`, which may be null. Throws GraphError when the variable is no list of usable CPUs.
Affinity affinity_for(int workers, const Device* device, const Cpus& usable);

// "0-3, 8"
std::string in_words(const Cpus& cpus);

}  // namespace stoker
