// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/mutex.h"
#include "device/cuda/fake_testing.h"

namespace stoker::fake {

Cuda& cuda() {
  static Cuda c;
  return c;
}
void reset() {
  cuda() = Cuda();
  Cuda::current = -1;
}
void enqueue(std::function<void()> work) {
  if (cuda().waits) return cuda().waiting.push_back(std::move(work));
  work();
}
void run_all() {
  while (!cuda().waiting.empty()) {
    const std::function<void()> work = std::move(cuda().waiting.front());
    cuda().waiting.pop_front();
    work();
  }
}
int Cuda::count(const std::string& call) const {
  return static_cast<int>(std::count(calls.begin(), calls.end(), call));
}

namespace {

Mutex mutex;  // guards the record

// Does what a runtime does that makes the first device's context where a thread has none.
int device_of_thread() {
  if (Cuda::current < 0) {
    MutexLock lock(mutex);
    cuda().contexts.insert(Cuda::current = 0);
  }
  return Cuda::current;
}

// Functions that wait, or may wait.
bool is_unsafe_in_capture(const std::string& function) {
  static const std::set<std::string> all = {
      "cudaHostAlloc",     "cudaFreeHost",         "cudaFree",
      "cudaEventQuery",    "cudaEventSynchronize", "cudaStreamSynchronize",
      "cudaMemPoolCreate", "cudaDeviceSynchronize"};
  return all.contains(function.substr(0, function.find(' ')));
}

// Notes the call. Returns the error that it is to give.
cudaError_t noted(const std::string& function, int device = -1) {
  if (cuda().on_call) cuda().on_call(function);
  MutexLock lock(mutex);
  Cuda& c = cuda();
  if (c.is_capturing && Cuda::mode != cudaStreamCaptureModeRelaxed &&
      is_unsafe_in_capture(function)) {
    c.is_spoilt = true;
    return cudaErrorStreamCaptureUnsupported;
  }
  c.calls.push_back(device < 0 ? function : function + " " + std::to_string(device));
  if (c.lost != cudaSuccess) return c.lost;
  std::vector<cudaError_t>& next = c.errors[function];
  if (next.empty()) return cudaSuccess;
  const cudaError_t e = next.front();
  next.erase(next.begin());
  return e;
}

struct Handle {
  int device;
};
template <class H>
H made(int& count) {
  (void)device_of_thread();
  MutexLock lock(mutex);
  ++count;
  return reinterpret_cast<H>(new Handle{Cuda::current});
}
template <class H>
void dropped(int& count, H handle) {
  MutexLock lock(mutex);
  --count;
  delete reinterpret_cast<Handle*>(handle);
}
// The device of a stream. The handles of the default streams are small numbers and mean the
// thread's device.
template <class H>
int device_of(H handle) {
  if (reinterpret_cast<uintptr_t>(handle) <= 2) return device_of_thread();
  return reinterpret_cast<Handle*>(handle)->device;
}

}  // namespace

}  // namespace stoker::fake

using stoker::fake::cuda;
using stoker::fake::device_of;
using stoker::fake::device_of_thread;
using stoker::fake::noted;

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  const cudaError_t e = noted("cudaGetDeviceCount");
  if (e == cudaSuccess) *count = cuda().devices;
  return e;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = cuda().driver;
  return cudaSuccess;
}
// A context is the number of its device, counted from 1.
CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = reinterpret_cast<CUcontext>(static_cast<intptr_t>(cuda().current + 1));
  return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext context) {
  cuda().current = static_cast<int>(reinterpret_cast<intptr_t>(context)) - 1;
  return CUDA_SUCCESS;
}
cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned,
                                             unsigned long long, cudaDriverEntryPointQueryResult*) {
  const std::map<std::string, void*> all = {
      {"cuCtxGetCurrent", reinterpret_cast<void*>(&cuCtxGetCurrent)},
      {"cuCtxSetCurrent", reinterpret_cast<void*>(&cuCtxSetCurrent)}};
  *function = all.at(name);
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  stoker::MutexLock lock(stoker::fake::mutex);
  if (cuda().busy.count(device)) return cudaErrorDevicesUnavailable;
  cuda().contexts.insert(cuda().current = device);
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {};
  properties->totalGlobalMem = cuda().memory;
  return noted("cudaGetDeviceProperties");  // works for any GPU from any
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  std::swap(*mode, cuda().mode);
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  stoker::fake::run_all();
  return noted("cudaDeviceSynchronize", device_of_thread());
}
cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int device) {
  std::snprintf(id, static_cast<size_t>(length), "%s", cuda().bus_ids.at(device).c_str());
  return noted("cudaDeviceGetPCIBusId");  // works for any GPU from any
}
const char* cudaGetErrorString(cudaError_t e) {
  return e == cudaSuccess ? "no error" : "it failed";
}
const char* cudaGetErrorName(cudaError_t e) {
  return e == cudaErrorIllegalAddress ? "cudaErrorIllegalAddress" : "cudaErrorOfTheStandIn";
}
cudaError_t cudaGetLastError() { return cudaSuccess; }

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  const cudaError_t e = noted("cudaMemPoolCreate", properties->location.id);
  if (e == cudaSuccess) *pool = stoker::fake::made<cudaMemPool_t>(cuda().pools);
  return e;
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  stoker::fake::dropped(cuda().pools, pool);
  return cudaSuccess;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr, void*) {
  return noted("cudaMemPoolSetAttribute", device_of(pool));
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t) {
  return noted("cudaMemPoolTrimTo", device_of(pool));
}
cudaError_t cudaMallocFromPoolAsync(void** p, size_t bytes, cudaMemPool_t, cudaStream_t stream) {
  const cudaError_t e = noted("cudaMallocFromPoolAsync", device_of(stream));
  if (e != cudaSuccess) return e;
  *p = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  stoker::MutexLock lock(stoker::fake::mutex);
  cuda().allocated[*p] = bytes;
  return e;
}
cudaError_t cudaFreeAsync(void* p, cudaStream_t stream) {
  {
    stoker::MutexLock lock(stoker::fake::mutex);
    cuda().allocated.erase(p);
  }
  stoker::fake::enqueue([p] { std::free(p); });
  return noted("cudaFreeAsync", device_of(stream));
}

cudaError_t cudaFree(void* p) {
  const cudaError_t e = noted("cudaFree", device_of_thread());
  stoker::MutexLock lock(stoker::fake::mutex);
  if (e == cudaSuccess && cuda().allocated.erase(p)) std::free(p);
  return e;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  const cudaError_t e = noted("cudaStreamCreateWithFlags", device_of_thread());
  if (flags != cudaStreamNonBlocking) return cudaErrorInvalidValue;
  if (e == cudaSuccess) *stream = stoker::fake::made<cudaStream_t>(cuda().streams);
  return e;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  stoker::fake::dropped(cuda().streams, stream);
  return noted("cudaStreamDestroy");
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  stoker::fake::run_all();
  return noted("cudaStreamSynchronize", device_of(stream));
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  *status = cuda().captured.count(reinterpret_cast<uintptr_t>(stream))
                ? cudaStreamCaptureStatusActive
                : cudaStreamCaptureStatusNone;
  return noted("cudaStreamIsCapturing", device_of(stream));
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  if (device_of(stream) != device_of(event)) return cudaErrorInvalidResourceHandle;
  cuda().waited_on = reinterpret_cast<uintptr_t>(stream);
  return noted("cudaStreamWaitEvent", device_of(stream));
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  const cudaError_t e = noted("cudaEventCreateWithFlags", device_of_thread());
  if (flags != cudaEventDisableTiming) return cudaErrorInvalidValue;
  if (e == cudaSuccess) *event = stoker::fake::made<cudaEvent_t>(cuda().events);
  return e;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  stoker::fake::dropped(cuda().events, event);
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (device_of(stream) != device_of(event)) return cudaErrorInvalidResourceHandle;
  cuda().recorded_on = reinterpret_cast<uintptr_t>(stream);
  return noted("cudaEventRecord", device_of(stream));
}
cudaError_t cudaEventQuery(cudaEvent_t event) { return noted("cudaEventQuery", device_of(event)); }
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return noted("cudaEventSynchronize", device_of(event));
}

cudaError_t cudaHostAlloc(void** p, size_t bytes, unsigned flags) {
  const cudaError_t e = noted("cudaHostAlloc " + std::to_string(flags), device_of_thread());
  if (e != cudaSuccess) return e;
  *p = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  stoker::MutexLock lock(stoker::fake::mutex);
  cuda().allocated[*p] = bytes;
  return e;
}
cudaError_t cudaFreeHost(void* p) {
  stoker::fake::run_all();  // it waits for the device
  {
    stoker::MutexLock lock(stoker::fake::mutex);
    cuda().allocated.erase(p);
  }
  std::free(p);
  return noted("cudaFreeHost", device_of_thread());
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  const cudaError_t e = noted("cudaMemcpyAsync " + std::to_string(kind), device_of(stream));
  if (e == cudaSuccess) stoker::fake::enqueue([=] { std::memcpy(to, from, bytes); });
  return e;
}
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
  const cudaError_t e = noted("cudaMemcpy2DAsync " + std::to_string(kind), device_of(stream));
  if (e == cudaSuccess)
    stoker::fake::enqueue([=] {
      for (size_t y = 0; y < height; ++y)
        std::memcpy(static_cast<char*>(to) + y * to_pitch,
                    static_cast<const char*>(from) + y * from_pitch, width);
    });
  return e;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t call, void* data) {
  const cudaError_t e = noted("cudaLaunchHostFunc", device_of(stream));
  if (e == cudaSuccess) stoker::fake::enqueue([=] { call(data); });
  return e;
}
cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute attribute, int value) {
  return noted("cudaFuncSetAttribute " + std::to_string(attribute) + "=" + std::to_string(value));
}
cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                             size_t shared, cudaStream_t stream) {
  const cudaError_t e = noted("cudaLaunchKernel", device_of(stream));
  if (e != cudaSuccess) return e;
  const char* argument = static_cast<const char*>(arguments[0]);
  cuda().launches.push_back(
      {kernel, grid.x, block.x, shared, {argument, argument + cuda().argument_bytes}});
  return e;
}

}  // extern "C"
