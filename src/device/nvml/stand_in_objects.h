// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>
#include <vector>

#include "device/nvml/api.h"

namespace stoker::fake {

struct NvmlGpu {
  std::string bus_id, uuid;
  nvml::Memory memory;
  unsigned utilization = 0, jpeg_utilization = 0;
  std::vector<int> near_cpus;
  unsigned mig_mode = 0;
};

struct Nvml {
  std::string driver = "580.65.06";
  int cuda = 13010;
  std::vector<NvmlGpu> gpus;
  std::map<std::string, nvml::Status> errors;  // by function: what each of its calls returns
  int starts = 0, stops = 0;
};

}  // namespace stoker::fake
