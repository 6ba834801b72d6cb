// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What an operator's GPU half is told: the work on a whole batch. op/loops/gpu_each.cuh has the
// launch that most halves need.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "device/device.h"
#include "device/held.h"
#include "memory/pool.h"
#include "op/context.h"

namespace stoker {

// Where a GPU half gets memory. Whoever runs the half counts it.
struct GpuMemory {
  std::function<std::shared_ptr<Buffer>(size_t)> acquire;  // device memory; throws BudgetError
  HostPool& staging;  // for data to be copied to the device; has no limit
  Held& held;  // released after the work
};

// Lives on the stack of the thread that talks to the device, for one call. The half only enqueues
// work: it never waits and never reads the bytes. What may be wrong with a sample was thrown by
// infer() before. One thread.
class GpuRun {
 public:
  // Requires: all four outlive this.
  GpuRun(Stream& stream, const std::string& name, std::span<const BatchItem> items,
         const GpuMemory& memory)
      : stream(stream), name(name), items(items), memory_(memory) {}

  Stream& stream;
  const std::string& name;  // of the node, for errors and timelines
  // At least one, all of the same dtypes. A frame's part where the engine takes sequences apart.
  // Views are of device memory, but those of inputs that are values (Port::is_value) are of host
  // memory, whole and dense, and can be read. An input that is missing has no data; others cover at
  // least what demand() needed, as in Run. Outputs are whole and dense.
  std::span<const BatchItem> items;

  // A copy of the values on the device, for work that is launched while this lives. Throws
  // BudgetError, DeviceError.
  template <class T>
  const T* put(std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T>, "it is copied to the device byte by byte");
    return reinterpret_cast<const T*>(put_bytes(std::as_bytes(values)));
  }
  // Uninitialised device memory, valid for as long and aligned to 256 bytes. Throws BudgetError,
  // DeviceError.
  std::byte* scratch(size_t bytes);

 private:
  const std::byte* put_bytes(std::span<const std::byte> bytes);
  const GpuMemory& memory_;
  std::vector<std::shared_ptr<Buffer>> held_;
};

}  // namespace stoker
