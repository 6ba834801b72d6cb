// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A stand-in for the CUDA library: host memory, work that is done when it is enqueued, and a record
// of the calls. It shows nothing about GPUs. It shows whether the code above it makes the right
// calls, in order and on the right GPU, and gives everything back. Any thread may call its
// functions; the record is for one thread at a time.
#pragma once
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace stoker::fake {

struct Launch {
  const void* kernel;
  unsigned blocks, threads;
  size_t shared;
  std::vector<char> argument;
};

struct Cuda {
  int devices = 2, driver = 13010;
  size_t memory = size_t{1} << 30;  // bytes of each device
  std::vector<std::string> bus_ids = {"0000:65:00.0", "0000:C1:00.0"};  // by device
  inline static thread_local int current = -1;  // device of the calling thread's context
  inline static thread_local cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::set<int> contexts;  // devices that have one
  std::set<int> busy;  // devices that give none
  // Someone captures a graph. What others then do outside the relaxed mode fails and spoils it.
  bool is_capturing = false, is_spoilt = false;
  std::set<uintptr_t> captured;  // streams
  std::function<void(const std::string& function)> on_call;
  std::map<std::string, std::vector<cudaError_t>> errors;  // what the next calls return
  cudaError_t lost = cudaSuccess;  // what every call returns from now on
  std::vector<std::string> calls;  // names of functions, with the device if they have one
  std::vector<Launch> launches;
  size_t argument_bytes = 0;  // size of the next launch's arguments
  int streams = 0, events = 0, pools = 0;  // how many exist
  std::map<void*, size_t> allocated;
  // Work waits until run_all(), or until someone waits for a stream.
  bool waits = false;
  std::deque<std::function<void()>> waiting;
  uintptr_t recorded_on = 0, waited_on = 0;

  int count(const std::string& call) const;
};

Cuda& cuda();
// Does `work` now or, if `waits`, later.
void enqueue(std::function<void()> work);
void run_all();
// Restores the initial state. Requires: nothing exists.
void reset();

}  // namespace stoker::fake
