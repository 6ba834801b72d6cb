// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// NVIDIA's GPUs behind device/device.h. The CUDA runtime is linked statically and finds the driver
// itself, so one build runs with and without a GPU. Thread-safe.
//
// Note [Failures of a GPU]
// Most errors of work that is under way are for good: every later call of the process fails with
// the same. Messages then say so. Which work it was is known only when each piece is waited for:
// STOKER_SYNC=1 does that and names it.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "device/device.h"

namespace stoker {

struct CudaFound {
  std::vector<std::unique_ptr<Device>> devices;
  std::string
      missing;  // what is not there, with versions found and needed; "" when there are devices
};

// Asks the driver. Does not throw for what is missing. A GPU that gives this process no context
// says so when something is to be made on it.
CudaFound find_cuda_devices();

}  // namespace stoker
