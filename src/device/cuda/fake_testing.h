// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// A stand-in for the CUDA library: host memory, work that is done when it is enqueued, and a record
// of the calls. It tells nothing about GPUs; it tells whether the runtime's own code calls what it
// should, in order, with the right GPU, and gives all back. Its functions may be called by any
// thread; the record is for one thread at a time.
#pragma once
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <deque>
#include <functional>
#include <map>
#include <mutex>
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
  size_t memory = size_t{1} << 30;  // of each device
  std::vector<std::string> bus_ids = {"0000:65:00.0", "0000:C1:00.0"};  // by device
  inline static thread_local int current = -1;  // the device whose context the calling thread has
  inline static thread_local cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::set<int> contexts;  // the devices that have one
  std::set<int> busy;  // those that give none
  // Someone captures a graph: what others may then do in the relaxed mode only fails, and spoils
  // it.
  bool is_capturing = false, is_spoilt = false;
  std::set<uintptr_t> captured;  // streams
  std::function<void(const std::string& function)> on_call;
  std::map<std::string, std::vector<cudaError_t>> errors;  // by function: for its next calls
  cudaError_t lost = cudaSuccess;  // what every call gives from now on
  std::vector<std::string> calls;  // function names, with the device of those that have one
  std::vector<Launch> launches;
  size_t argument_bytes = 0;  // of the next launch
  int streams = 0, events = 0, pools = 0;  // that exist
  std::map<void*, size_t> allocated;
  // Where work waits: until run_all(), or someone waits for a stream.
  bool waits = false;
  std::deque<std::function<void()>> waiting;
  uintptr_t recorded_on = 0,
            waited_on = 0;  // the streams of the last cudaEventRecord, cudaStreamWaitEvent

  int count(const std::string& call) const;
};

Cuda& cuda();
// Does `work` now, or where work waits, later.
void enqueue(std::function<void()> work);
void run_all();
// As it was at first. Requires: nothing exists.
void reset();

}  // namespace stoker::fake
