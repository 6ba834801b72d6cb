// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>

#include <nvml.h>

#include "device/nvml/api.h"
#include "device/same_call_testing.h"

namespace stoker::nvml {
namespace {

#define STOKER_NVML_SAME(result, member, name, parameters) \
  static_assert(SameCall<decltype(Functions::member), decltype(&::name)>::value, #name);
STOKER_NVML_FUNCTIONS(STOKER_NVML_SAME)
STOKER_NVML_NEWER_FUNCTIONS(STOKER_NVML_SAME)
#undef STOKER_NVML_SAME

static_assert(kSuccess == int{NVML_SUCCESS});
static_assert(kNotSupported == int{NVML_ERROR_NOT_SUPPORTED});
static_assert(kNotFound == int{NVML_ERROR_NOT_FOUND});
static_assert(kInsufficientSize == int{NVML_ERROR_INSUFFICIENT_SIZE});
static_assert(kDriverNotLoaded == int{NVML_ERROR_DRIVER_NOT_LOADED});
static_assert(kLibRmVersionMismatch == int{NVML_ERROR_LIB_RM_VERSION_MISMATCH});
static_assert(kMigEnabled == NVML_DEVICE_MIG_ENABLE);
static_assert(kUuidLength == NVML_DEVICE_UUID_BUFFER_SIZE);
static_assert(kDriverVersionLength == NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE);
static_assert(sizeof(Memory) == sizeof(nvmlMemory_t));
static_assert(offsetof(Memory, total) == offsetof(nvmlMemory_t, total));
static_assert(offsetof(Memory, used) == offsetof(nvmlMemory_t, used));
static_assert(sizeof(Utilization) == sizeof(nvmlUtilization_t));
static_assert(offsetof(Utilization, gpu) == offsetof(nvmlUtilization_t, gpu));

}  // namespace
}  // namespace stoker::nvml
