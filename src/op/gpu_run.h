// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What an operator's GPU half is told: the work on a whole batch. op/loops/gpu_each.cuh has the
// launch that most halves need.
//
// Note [GPU halves]
// A half is the function run_gpu of an operator that does not lower, in a .cu file. Without CUDA
// the file is C++, so it is built and tested everywhere. What both halves compute for an element
// stands once, in a functor marked STOKER_HD that has no libm (base/exact_math.h). It is a member
// of the operator's struct, as other operators may use its name too, and public, as nvcc refuses
// private ones. Where dtypes vary, with_type() picks the C++ type of the dtype of
// r.items[0].outputs[0], and convert() rounds as the CPU does (kernels/convert.h). Neither half
// contracts a * b + c, so + and * give the same bits in both; what also runs in a block program
// writes them by Num (base/exact_math.h). What needs shared memory brings a block program of its
// own (device/device.h) and uses GpuRun::put(). Reasons: docs/design/006-gpu-halves.md.
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
// work: it never waits and never reads the bytes. infer() has thrown what is wrong with a sample.
class GpuRun {
 public:
  // Requires: all four outlive this.
  GpuRun(Stream& stream, const std::string& name, std::span<const BatchItem> items,
         const GpuMemory& memory)
      : stream(stream), name(name), items(items), memory_(memory) {}

  Stream& stream;
  const std::string& name;  // of the node, for errors and timelines
  // At least one, all of the same dtypes; frames where the engine takes sequences apart. Views are
  // of device memory, but inputs that are values (Port::is_value) lie in host memory, whole and
  // dense, and can be read. A missing input has no data; others cover at least what demand()
  // needed, as in Run. Outputs are whole and dense.
  std::span<const BatchItem> items;

  // A copy of the values on the device, for work that is launched while this lives. Throws
  // BudgetError, DeviceError.
  template <class T>
  const T* put(std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T>, "it is copied to the device byte by byte");
    return reinterpret_cast<const T*>(put_bytes(std::as_bytes(values)));
  }
  // Uninitialised device memory, valid as long, aligned to 256 bytes. Throws BudgetError,
  // DeviceError.
  std::byte* scratch(size_t bytes);

 private:
  const std::byte* put_bytes(std::span<const std::byte> bytes);
  const GpuMemory& memory_;
  std::vector<std::shared_ptr<Buffer>> held_;
};

}  // namespace stoker
