// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <climits>
#include <cstring>

#include "device/nvml/stand_in_objects.h"

using stoker::fake::Nvml;
using stoker::fake::NvmlGpu;
using namespace stoker::nvml;

extern "C" [[gnu::visibility("default")]] Nvml stoker_stand_in_nvml;
Nvml stoker_stand_in_nvml;

namespace {

Nvml& told() { return stoker_stand_in_nvml; }

Status status_of(const char* function) {
  const auto at = told().errors.find(function);
  return at == told().errors.end() ? kSuccess : at->second;
}

NvmlGpu& gpu(DeviceHandle device) { return *reinterpret_cast<NvmlGpu*>(device); }

Status write(const std::string& text, char* to, unsigned length) {
  if (text.size() >= length) return kInsufficientSize;
  std::memcpy(to, text.c_str(), text.size() + 1);
  return kSuccess;
}

}  // namespace

// Goes on with a call unless the test wants it to fail.
#define STOKER_MAY_FAIL() \
  if (const Status s = status_of(__func__); s != kSuccess) return s

#pragma GCC visibility push(default)
extern "C" {

Status nvmlInit_v2() {
  STOKER_MAY_FAIL();
  ++told().starts;
  return kSuccess;
}
Status nvmlShutdown() {
  ++told().stops;
  return kSuccess;
}
const char* nvmlErrorString(Status status) {
  switch (status) {
    case kSuccess: return "Success";
    case kNotSupported: return "Not Supported";
    case kNotFound: return "Not Found";
    case kInsufficientSize: return "Insufficient Size";
    case kDriverNotLoaded: return "Driver Not Loaded";
    case kLibRmVersionMismatch: return "Driver/library version mismatch";
  }
  return "Unknown Error";
}
Status nvmlSystemGetDriverVersion(char* text, unsigned length) {
  STOKER_MAY_FAIL();
  return write(told().driver, text, length);
}
Status nvmlSystemGetCudaDriverVersion_v2(int* version) {
  STOKER_MAY_FAIL();
  *version = told().cuda;
  return kSuccess;
}
Status nvmlDeviceGetCount_v2(unsigned* count) {
  STOKER_MAY_FAIL();
  *count = static_cast<unsigned>(told().gpus.size());
  return kSuccess;
}
Status nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, DeviceHandle* device) {
  STOKER_MAY_FAIL();
  const auto at = std::find_if(told().gpus.begin(), told().gpus.end(),
                               [&](const NvmlGpu& g) { return g.bus_id == bus_id; });
  if (at == told().gpus.end()) return kNotFound;
  *device = reinterpret_cast<DeviceHandle>(&*at);
  return kSuccess;
}
Status nvmlDeviceGetMigMode(DeviceHandle device, unsigned* current, unsigned* pending) {
  STOKER_MAY_FAIL();
  *current = *pending = gpu(device).mig_mode;
  return kSuccess;
}
Status nvmlDeviceGetUUID(DeviceHandle device, char* text, unsigned length) {
  STOKER_MAY_FAIL();
  return write(gpu(device).uuid, text, length);
}
Status nvmlDeviceGetMemoryInfo(DeviceHandle device, Memory* memory) {
  STOKER_MAY_FAIL();
  *memory = gpu(device).memory;
  return kSuccess;
}
Status nvmlDeviceGetUtilizationRates(DeviceHandle device, Utilization* utilization) {
  STOKER_MAY_FAIL();
  *utilization = {gpu(device).utilization, 0};
  return kSuccess;
}
Status nvmlDeviceGetCpuAffinity(DeviceHandle device, unsigned words, unsigned long* cpus) {
  STOKER_MAY_FAIL();
  constexpr int kBits = sizeof(unsigned long) * CHAR_BIT;
  std::fill(cpus, cpus + words, 0);
  for (int cpu : gpu(device).near_cpus) cpus[cpu / kBits] |= 1UL << cpu % kBits;
  return kSuccess;
}
Status nvmlDeviceGetJpgUtilization(DeviceHandle device, unsigned* percent, unsigned* sample_us) {
  STOKER_MAY_FAIL();
  *percent = gpu(device).jpeg_utilization;
  *sample_us = 1000;
  return kSuccess;
}

}  // extern "C"
#pragma GCC visibility pop
