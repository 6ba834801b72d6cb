// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// NVIDIA's GPUs behind device/device.h. The CUDA runtime is linked statically and finds the driver
// itself, so one build runs with and without a GPU. Thread-safe.
//
// Note [Failures of a GPU]
// Most errors of running work are final: every later call of the process fails with the same error,
// and messages say so. Which work it was is known only if each piece is waited for; STOKER_SYNC=1
// does that and names the work.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "device/device.h"

namespace stoker {

struct CudaFound {
  std::vector<std::unique_ptr<Device>> devices;
  std::string missing;  // what is missing, with versions found and needed; "" if there are devices
};

// Asks the driver. Does not throw for what is missing. A GPU that gives this process no context
// throws when something is made on it.
CudaFound find_cuda_devices();

}  // namespace stoker
