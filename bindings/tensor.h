// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A tensor that Python holds. It keeps its memory alive. All functions require Python's lock.
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
  std::string layout;  // may begin with N, the axis of the batch
  std::vector<int64_t> shape, strides;  // strides in elements; always dense
  std::shared_ptr<Buffer> owner;
  std::string source;
  std::shared_ptr<DeviceBatch> on_device = {};  // null on the CPU
  std::shared_ptr<Lease> lease = {};  // for consumers of __cuda_array_interface__

  Pieces bytes() const;
};

// Memory for a copy that Python asked for. It belongs to no pool.
class HeapBuffer final : public Buffer {
 public:
  explicit HeapBuffer(size_t size) : Buffer(new std::byte[size + 1], size) {}
  ~HeapBuffer() override { delete[] data(); }
};

std::string device_name(const std::shared_ptr<DeviceBatch>& on_device);  // "cpu", "cuda:0"
PyTensor tensor_of(const Batch& b, const Sample& s);
// The tensor in host memory, or itself if it is there already. Waits for the device.
PyTensor to_host(const PyTensor& t);

// `options` are those of Python's array standard: stream, max_version, dl_device and copy.
nb::object to_dlpack(const PyTensor& t, const nb::kwargs& options);
nb::tuple dlpack_device(const std::shared_ptr<DeviceBatch>& on_device);
// These throw AttributeError, as if there were no such attribute, on another kind of device.
nb::dict array_interface(const PyTensor& t);
nb::dict cuda_array_interface(PyTensor& t);

nb::tuple tuple_of(const std::vector<int64_t>& v, int64_t factor = 1);

}  // namespace stoker::python
