// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A tensor that Python holds. Keeps its memory alive. Python's lock is held for all of this.
#pragma once
#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <vector>

#include "base/types.h"
#include "batch/export.h"

namespace stoker::python {

namespace nb = nanobind;

struct PyTensor {
  void* data;
  DType dtype;
  std::string layout;  // may begin with N
  std::vector<int64_t> shape, strides;  // strides in elements; dense
  std::shared_ptr<Buffer> owner;
  std::string source;
  std::shared_ptr<DeviceBatch> on_device = {};  // null on the CPU
  std::shared_ptr<Lease> lease = {};  // of who asked for the interface of CUDA's arrays

  Pieces bytes() const;
};

// A copy that Python asked for; of no pool.
class HeapBuffer final : public Buffer {
 public:
  explicit HeapBuffer(size_t size) : Buffer(new std::byte[size + 1], size) {}
  ~HeapBuffer() override { delete[] data(); }
};

std::string device_name(const std::shared_ptr<DeviceBatch>& on_device);  // "cpu", "cuda:0"
// In host memory, once the device has made it; itself if it is there.
PyTensor to_host(const PyTensor& t);

// The exchange protocols. `options` as the Python array standard has them: stream, max_version,
// dl_device, copy.
nb::object to_dlpack(const PyTensor& t, const nb::kwargs& options);
nb::tuple dlpack_device(const std::shared_ptr<DeviceBatch>& on_device);
// AttributeError where the tensor is on another kind of device, as if it were not there.
nb::dict array_interface(const PyTensor& t);
nb::dict cuda_array_interface(PyTensor& t);

nb::tuple tuple_of(const std::vector<int64_t>& v, int64_t factor = 1);

}  // namespace stoker::python
