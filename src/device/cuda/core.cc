// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/core.h"

#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace stoker::cuda {

namespace {

// Whether the GPU will do no more work for this process.
bool is_permanent(cudaError_t error) {
  switch (error) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorECCUncorrectable:
    case cudaErrorContextIsDestroyed:
    case cudaErrorExternalDevice: return true;
    default: return false;
  }
}

// The driver's own functions. The runtime finds them, so nothing is linked with the driver.
struct Driver {
  decltype(&cuCtxGetCurrent) get_current = nullptr;
  decltype(&cuCtxSetCurrent) set_current = nullptr;
};

template <class Function>
void find(const char* name, Function& function) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result = {};
  if (cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault, &result) !=
          cudaSuccess ||
      !found)
    throw DeviceError(std::string("the NVIDIA driver has no ") + name);
  function = reinterpret_cast<Function>(found);
}

// Throws DeviceError where there is no driver.
const Driver& driver() {
  static const Driver d = [] {
    Driver made;
    find("cuCtxGetCurrent", made.get_current);
    find("cuCtxSetCurrent", made.set_current);
    return made;
  }();
  return d;
}

bool waits_for_each() {
  const char* text = std::getenv("STOKER_SYNC");
  return text && std::strcmp(text, "1") == 0;
}

}  // namespace

bool is_of_capture(cudaError_t error) {
  return error >= cudaErrorStreamCaptureUnsupported && error <= cudaErrorStreamCaptureWrongThread;
}

Current::Current(int index) {
  (void)driver().get_current(&before_);
  error_ = cudaSetDevice(index);
  (void)cudaThreadExchangeStreamCaptureMode(&mode_);
}

Current::~Current() {
  (void)cudaThreadExchangeStreamCaptureMode(&mode_);
  (void)driver().set_current(before_);
}

Core::Core(int index)
    : index(index),
      name("cuda:" + std::to_string(index)),
      waits_(waits_for_each()),
      owner_(getpid()) {
  cudaDeviceProp properties;
  require(cudaGetDeviceProperties(&properties, index), "asking for its memory");
  usage_.limit = properties.totalGlobalMem;
  char place[32] = {};
  require(cudaDeviceGetPCIBusId(place, sizeof place, index), "asking for its place");
  pci_bus_id = place;
}

// What an earlier call made is kept.
void Core::start() {
  MutexLock lock(mutex_);
  if (is_started_) return;
  const Current current(index);
  require(current.error(), "making a context");
  if (!probe_)
    require(cudaEventCreateWithFlags(&probe_, cudaEventDisableTiming), "making an event");
  make_pool();
  is_started_ = true;
}

void Core::make_pool() {
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = index;
  if (!pool_) require(cudaMemPoolCreate(&pool_, &properties), "making a pool of memory");
  // By default a pool gives its memory back whenever someone waits.
  uint64_t keep = UINT64_MAX;
  require(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &keep),
          "making a pool of memory");
}

Core::~Core() {
  if (is_foreign() || !probe_) return;
  const Current current(index);
  (void)free_parked();
  (void)cudaEventDestroy(probe_);
  if (pool_) (void)cudaMemPoolDestroy(pool_);
}

void Core::require(cudaError_t error, std::string_view doing) const {
  if (error == cudaSuccess) return;
  (void)cudaGetLastError();  // else the next call that asks would get this error again
  std::string text = name + ", " + std::string(doing) + ": " + cudaGetErrorString(error) + " (" +
                     cudaGetErrorName(error) + ")";
  if (is_permanent(error)) {
    if (!waits_) text += "; STOKER_SYNC=1 names the work that failed";
    text += "; only a new process can use this GPU again";
  }
  throw DeviceError(text);
}

void Core::enqueued(cudaStream_t stream, std::string_view work,
                    std::string_view stream_name) const {
  if (!waits_) return;
  require(cudaStreamSynchronize(stream),
          "'" + std::string(work) + "' on stream '" + std::string(stream_name) + "'");
}

void* Core::try_allocate(size_t bytes, cudaStream_t stream) {
  bytes = std::max<size_t>(bytes, 1);
  MutexLock lock(mutex_);
  if (bytes > usage_.limit - std::min(usage_.in_use, usage_.limit)) return nullptr;
  const Current current(index);
  void* p = nullptr;
  const cudaError_t error = cudaMallocFromPoolAsync(&p, bytes, pool_, stream);
  if (error == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    return nullptr;
  }
  require(error, "taking memory");
  allocations_[p] = {bytes};
  usage_.in_use += bytes;
  ++usage_.allocations;
  usage_.high_water = std::max(usage_.high_water, usage_.in_use);
  return p;
}

// Requires: this GPU is current.
template <class Free>
void Core::free_with(Free free, void* p) noexcept {
  MutexLock lock(mutex_);  // taken first: once freed, the address may be reused
  free(p);  // fails only where the GPU is lost
  const auto at = allocations_.find(p);
  if (at == allocations_.end()) return;
  usage_.in_use -= at->second.bytes;
  --usage_.allocations;
  allocations_.erase(at);
}

void Core::free(void* p, cudaStream_t stream) noexcept {
  if (!p || is_foreign()) return;
  const Current current(index);
  free_with([&](void* q) { (void)cudaFreeAsync(q, stream); }, p);
}

void Core::park(void* p) noexcept {
  if (is_foreign()) return;
  MutexLock lock(mutex_);
  if (const auto at = allocations_.find(p); at != allocations_.end()) at->second.is_parked = true;
}

std::vector<void*> Core::parked() const {
  MutexLock lock(mutex_);
  std::vector<void*> all;
  for (const auto& [p, allocation] : allocations_)
    if (allocation.is_parked) all.push_back(p);
  return all;
}

// Waits for everything that the GPU has to do, then frees. Requires: this GPU is current.
cudaError_t Core::free_parked() {
  MutexLock one(freeing_);
  const std::vector<void*> all = parked();
  if (all.empty()) return cudaSuccess;
  if (const cudaError_t e = cudaDeviceSynchronize(); e != cudaSuccess) return e;
  for (void* p : all) free_with([](void* q) { (void)cudaFree(q); }, p);
  return cudaSuccess;
}

void* Core::try_pin(size_t bytes) {
  const Current current(index);
  void* p = nullptr;
  const cudaError_t error = cudaHostAlloc(&p, bytes, cudaHostAllocPortable);
  if (error == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    return nullptr;
  }
  require(error, "locking host memory");
  MutexLock lock(mutex_);
  usage_.pinned += bytes;
  usage_.pinned_high_water = std::max(usage_.pinned_high_water, usage_.pinned);
  return p;
}

void Core::unpin(void* p, size_t bytes) noexcept {
  if (is_foreign()) return;
  const Current current(index);
  (void)cudaFreeHost(p);  // fails only where the GPU is lost
  MutexLock lock(mutex_);
  usage_.pinned -= bytes;
}

bool Core::is_started() const {
  MutexLock lock(mutex_);
  return is_started_;
}

cudaError_t Core::query(cudaEvent_t event) const {
  const Current current(index);
  const cudaError_t e = cudaEventQuery(event);
  if (!is_of_capture(e)) return e;
  (void)cudaGetLastError();
  return cudaErrorNotReady;
}

DeviceUsage Core::usage() const {
  MutexLock lock(mutex_);
  return usage_;
}

void Core::trim() {
  if (!is_started()) return;
  const Current current(index);
  require(free_parked(), "waiting for what consumers do");
  require(cudaMemPoolTrimTo(pool_, 0), "giving memory back");
}

void Core::keep(const std::string& failure) {
  MutexLock lock(mutex_);
  if (failure_.empty()) failure_ = failure;
}

void Core::check() {
  {
    MutexLock lock(mutex_);
    if (!failure_.empty()) throw DeviceError(std::exchange(failure_, {}));
    if (!is_started_) return;
  }
  if (const cudaError_t e = query(probe_); e != cudaErrorNotReady) require(e, "earlier work");
}

}  // namespace stoker::cuda
