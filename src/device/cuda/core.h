// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What the streams, events and buffers of one GPU share. Thread-safe.
//
// Note [Guests of the process]
// Others use the same GPUs in this process, through runtimes of their own. So a GPU gets a context
// (hundreds of MB of its memory) only when something is made on it here. A thread gets back the
// context that it had, even if it had none. Calls are made in the relaxed mode of stream capture:
// in the default mode they would fail, and spoil the graph, while anyone in the process captures
// one. An event that cannot be queried because of a capture counts as not reached yet.
//
// Note [After a fork]
// A child cannot use the parent's GPU, and a lock may be held by a thread that does not exist in
// the child. So what a child lets go of is left as it is.
#pragma once
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "device/device.h"

namespace stoker::cuda {

// Whether a stream capture caused this error.
bool is_of_capture(cudaError_t error);

// Makes this GPU the thread's current one while this lives: Note [Guests of the process].
class Current {
 public:
  explicit Current(int index);
  ~Current();
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;

  cudaError_t error() const { return error_; }  // why this GPU is not current

 private:
  CUcontext before_ = nullptr;
  cudaError_t error_;
  // The mode to set; while this object lives, the thread's former mode.
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

class Core {
 public:
  // Makes nothing on the GPU. Throws DeviceError.
  explicit Core(int index);
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  const int index;
  const std::string name;  // "cuda:0"
  std::string pci_bus_id;  // set by the constructor

  // To be called before anything is made on the GPU. Throws DeviceError where the GPU gives no
  // context; a later call may succeed.
  void start();
  // Whether this process is a child of the one that made this object.
  bool is_foreign() const { return getpid() != owner_; }

  // Throws DeviceError for anything but success: Note [Failures of a GPU].
  void require(cudaError_t error, std::string_view doing) const;
  // To be called after each piece of work. With STOKER_SYNC=1 it waits, and throws what failed.
  void enqueued(cudaStream_t stream, std::string_view work, std::string_view stream_name) const;

  // Null when the limit does not allow it, or the GPU has no memory left.
  void* try_allocate(size_t bytes, cudaStream_t stream);
  void free(void* p, cudaStream_t stream) noexcept;
  // Frees memory that someone may use for an unknown time. It is kept, and counts as in use, until
  // trim(): making the host wait for the whole GPU here would spoil a capture under way.
  void park(void* p) noexcept;
  // Null when the system does not give it.
  void* try_pin(size_t bytes);
  void unpin(void* p, size_t bytes) noexcept;
  DeviceUsage usage() const;
  // Waits for the GPU if memory is parked.
  void trim();

  // cudaErrorNotReady also when a capture prevents the query.
  cudaError_t query(cudaEvent_t event) const;
  // Keeps the failure of a stream's host call for the next check() to throw.
  void keep(const std::string& failure);
  // Throws what failed until now, once. Does not wait.
  void check();

 private:
  struct Allocation {
    size_t bytes;
    bool is_parked = false;
  };
  bool is_started() const;
  void make_pool() STOKER_REQUIRES(mutex_);
  template <class Free>
  void free_with(Free free, void* p) noexcept;
  std::vector<void*> parked() const;
  cudaError_t free_parked();

  cudaMemPool_t pool_ = nullptr;
  cudaEvent_t probe_ = nullptr;  // never recorded: a query tells whether the GPU still works
  const bool waits_;
  const pid_t owner_;
  Mutex freeing_;  // while parked memory is freed, which waits for the GPU; taken before mutex_
  // The GPU's memory is allocated and freed under it, because a freed address may be reused at
  // once. Host memory is not, because pinning and unpinning may wait for host calls, which take the
  // mutex.
  mutable Mutex mutex_;
  bool is_started_ STOKER_GUARDED_BY(mutex_) = false;
  DeviceUsage usage_ STOKER_GUARDED_BY(mutex_);
  std::unordered_map<void*, Allocation> allocations_ STOKER_GUARDED_BY(mutex_);
  std::string failure_ STOKER_GUARDED_BY(mutex_);
};

}  // namespace stoker::cuda
