// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "memory/cuda_core.h"

#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace stoker::cuda {

namespace {

// After these the GPU does no more work for this process.
bool is_for_good(cudaError_t error) {
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

bool waits_for_each() {
  const char* text = std::getenv("STOKER_SYNC");
  return text && std::strcmp(text, "1") == 0;
}

}  // namespace

Current::Current(int index) {
  int before = 0;
  if (cudaGetDevice(&before) != cudaSuccess || before == index) {
    (void)cudaSetDevice(index);
    return;
  }
  if (cudaSetDevice(index) == cudaSuccess) before_ = before;
}

Current::~Current() {
  if (before_ >= 0) (void)cudaSetDevice(before_);
}

Core::Core(int index)
    : index(index), name("cuda:" + std::to_string(index)), waits_(waits_for_each()) {
  const Current current(index);
  size_t free = 0;
  require(cudaMemGetInfo(&free, &usage_.limit), "asking for its memory");
  char place[32] = {};
  require(cudaDeviceGetPCIBusId(place, sizeof place, index), "asking for its place");
  pci_bus_id = place;
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = index;
  require(cudaMemPoolCreate(&pool_, &properties), "making a pool of memory");
  // By default a pool gives its memory back whenever anyone waits.
  uint64_t keep = UINT64_MAX;
  require(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &keep),
          "making a pool of memory");
  require(cudaEventCreateWithFlags(&probe_, cudaEventDisableTiming), "making an event");
}

Core::~Core() {
  const Current current(index);
  (void)cudaEventDestroy(probe_);
  (void)cudaMemPoolDestroy(pool_);
}

void Core::require(cudaError_t error, std::string_view doing) const {
  if (error == cudaSuccess) return;
  (void)cudaGetLastError();  // else it would be told again by whoever asks next
  std::string text = name + ", " + std::string(doing) + ": " + cudaGetErrorString(error) + " (" +
                     cudaGetErrorName(error) + ")";
  if (is_for_good(error)) {
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
  std::lock_guard lock(mutex_);
  if (bytes > usage_.limit - std::min(usage_.in_use, usage_.limit)) return nullptr;
  const Current current(index);
  void* p = nullptr;
  const cudaError_t error = cudaMallocFromPoolAsync(&p, bytes, pool_, stream);
  if (error == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    return nullptr;
  }
  require(error, "taking memory");
  sizes_[p] = bytes;
  usage_.in_use += bytes;
  ++usage_.allocations;
  usage_.high_water = std::max(usage_.high_water, usage_.in_use);
  return p;
}

void Core::free(void* p, cudaStream_t stream) noexcept {
  if (!p) return;
  const Current current(index);
  std::lock_guard lock(mutex_);  // before: once freed, the address may be given out again
  (void)cudaFreeAsync(p, stream);  // fails only where the GPU is lost
  const auto at = sizes_.find(p);
  if (at == sizes_.end()) return;
  usage_.in_use -= at->second;
  --usage_.allocations;
  sizes_.erase(at);
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
  std::lock_guard lock(mutex_);
  usage_.pinned += bytes;
  usage_.pinned_high_water = std::max(usage_.pinned_high_water, usage_.pinned);
  return p;
}

void Core::unpin(void* p, size_t bytes) noexcept {
  const Current current(index);
  (void)cudaFreeHost(p);  // fails only where the GPU is lost
  std::lock_guard lock(mutex_);
  usage_.pinned -= bytes;
}

DeviceUsage Core::usage() const {
  std::lock_guard lock(mutex_);
  return usage_;
}

void Core::trim() {
  const Current current(index);
  require(cudaMemPoolTrimTo(pool_, 0), "giving memory back");
}

void Core::keep(const std::string& failure) {
  std::lock_guard lock(mutex_);
  if (failure_.empty()) failure_ = failure;
}

void Core::check() {
  {
    std::lock_guard lock(mutex_);
    if (!failure_.empty()) throw DeviceError(std::exchange(failure_, {}));
  }
  const Current current(index);
  require(cudaEventQuery(probe_), "earlier work");
}

}  // namespace stoker::cuda
