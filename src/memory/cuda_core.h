// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What the streams, events and buffers of one GPU share. Thread-safe.
#pragma once
#include <cuda_runtime_api.h>

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "memory/device.h"

namespace stoker::cuda {

// The calling thread works on this GPU; what it worked on before comes back.
class Current {
 public:
  explicit Current(int index);
  ~Current();
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;

 private:
  int before_ = -1;
};

class Core {
 public:
  explicit Core(int index);
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  const int index;
  const std::string name;  // "cuda:0"
  std::string pci_bus_id;  // set by the constructor

  // Throws DeviceError for anything but success: Note [Failures of a GPU].
  void require(cudaError_t error, std::string_view doing) const;
  // Behind each piece of work: with STOKER_SYNC=1 waits for it, so that its failure is told here.
  void enqueued(cudaStream_t stream, std::string_view work, std::string_view stream_name) const;

  // Null when the limit does not allow it, or the GPU has no memory left.
  void* try_allocate(size_t bytes, cudaStream_t stream);
  void free(void* p, cudaStream_t stream) noexcept;
  // Null when the system does not give it.
  void* try_pin(size_t bytes);
  void unpin(void* p, size_t bytes) noexcept;
  DeviceUsage usage() const;
  void trim();

  // A host call of a stream failed: to be thrown by the next check().
  void keep(const std::string& failure);
  // Throws what failed until now, once; does not wait.
  void check();

 private:
  cudaMemPool_t pool_ = nullptr;
  cudaEvent_t probe_ = nullptr;  // never recorded: asking it tells whether the GPU still works
  const bool waits_;
  mutable std::mutex mutex_;
  DeviceUsage usage_;  // guarded by mutex_, as those below
  std::unordered_map<void*, size_t> sizes_;
  std::string failure_;
};

}  // namespace stoker::cuda
