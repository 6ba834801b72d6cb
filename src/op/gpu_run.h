// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What an operator's GPU half is told: the work on a whole batch. op/loops/gpu_each.cuh has the
// launch that most of them need.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/philox.h"
#include "base/view.h"
#include "device/device.h"
#include "device/held.h"
#include "memory/pool.h"

namespace stoker {

// The part of a sample, or of a frame where the engine takes sequences apart. Views are of device
// memory; an input that is not there has no data, one that is covers at least what demand() needed,
// as in Run; outputs are whole and dense.
struct GpuItem {
  std::vector<View> inputs, outputs;
  Chance chance;
};

// Where a GPU half's memory comes from: counted by whoever runs it.
struct GpuMemory {
  std::function<std::shared_ptr<Buffer>(size_t)> acquire;  // of the device; throws BudgetError
  HostPool& staging;  // for what goes up; it gives all that is asked for
  Held& held;  // let go behind the work
};

// Lives on the stack of the thread that talks to the device, for one call. The half only enqueues:
// it never waits and never looks at the bytes, and what may be wrong with a sample was said by
// infer(). One thread.
class GpuRun {
 public:
  // Requires: all four outlive this.
  GpuRun(Stream& stream, const std::string& name, std::span<const GpuItem> items,
         const GpuMemory& memory)
      : stream(stream), name(name), items(items), memory_(memory) {}

  Stream& stream;
  const std::string& name;  // of the node, for errors and timelines
  std::span<const GpuItem> items;  // at least one; all of the same dtypes

  // A copy on the device, for what is launched until this ends. Throws BudgetError, DeviceError.
  template <class T>
  const T* put(std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T>, "it is copied to the device byte by byte");
    return reinterpret_cast<const T*>(put_bytes(std::as_bytes(values)));
  }
  // Undefined memory there, for as long; aligned to 256 bytes. Throws BudgetError, DeviceError.
  std::byte* scratch(size_t bytes);

 private:
  const std::byte* put_bytes(std::span<const std::byte> bytes);
  const GpuMemory& memory_;
  std::vector<std::shared_ptr<Buffer>> held_;
};

}  // namespace stoker
