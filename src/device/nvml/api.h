// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The part of NVML's binary interface that we use, declared here so that no build needs NVML's
// header. header_test.cc compares it with the real header where that exists.
#pragma once

namespace stoker::nvml {

enum Status : int {
  kSuccess = 0,
  kNotSupported = 3,
  kNotFound = 6,
  kInsufficientSize = 7,
  kDriverNotLoaded = 9,
  kLibRmVersionMismatch = 18,
};

inline constexpr unsigned kMigEnabled = 1;

inline constexpr unsigned kUuidLength = 80;
inline constexpr unsigned kDriverVersionLength = 80;

struct Memory {  // bytes
  unsigned long long total, free, used;
};

struct Utilization {  // percent of the time of the last sample
  unsigned gpu, memory;
};

struct DeviceObject;  // opaque, as the library's own
using DeviceHandle = DeviceObject*;

// X(result, member, name in the library, parameters)
#define STOKER_NVML_FUNCTIONS(X)                                                         \
  X(Status, start, nvmlInit_v2, ())                                                      \
  X(Status, stop, nvmlShutdown, ())                                                      \
  X(const char*, words, nvmlErrorString, (Status status))                                \
  X(Status, driver_version, nvmlSystemGetDriverVersion, (char* text, unsigned length))   \
  X(Status, cuda_version, nvmlSystemGetCudaDriverVersion_v2, (int* version))             \
  X(Status, device_count, nvmlDeviceGetCount_v2, (unsigned* count))                      \
  X(Status, device_at, nvmlDeviceGetHandleByPciBusId_v2,                                 \
    (const char* bus_id, DeviceHandle* device))                                          \
  X(Status, mig_mode, nvmlDeviceGetMigMode,                                              \
    (DeviceHandle device, unsigned* current, unsigned* pending))                         \
  X(Status, uuid, nvmlDeviceGetUUID, (DeviceHandle device, char* text, unsigned length)) \
  X(Status, memory, nvmlDeviceGetMemoryInfo, (DeviceHandle device, Memory * memory))     \
  X(Status, utilization, nvmlDeviceGetUtilizationRates,                                  \
    (DeviceHandle device, Utilization * utilization))                                    \
  X(Status, cpu_affinity, nvmlDeviceGetCpuAffinity,                                      \
    (DeviceHandle device, unsigned words, unsigned long* cpus))

// Functions that older drivers lack.
#define STOKER_NVML_NEWER_FUNCTIONS(X)                     \
  X(Status, jpeg_utilization, nvmlDeviceGetJpgUtilization, \
    (DeviceHandle device, unsigned* percent, unsigned* sample_us))

struct Functions {
#define STOKER_NVML_MEMBER(result, member, name, parameters) result(*member) parameters = nullptr;
  STOKER_NVML_FUNCTIONS(STOKER_NVML_MEMBER)
  STOKER_NVML_NEWER_FUNCTIONS(STOKER_NVML_MEMBER)
#undef STOKER_NVML_MEMBER
};

}  // namespace stoker::nvml
