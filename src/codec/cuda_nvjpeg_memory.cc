// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/cuda_nvjpeg_handles.h"

namespace stoker::nvjpeg {

namespace {

constexpr int kFailed = cudaErrorMemoryAllocation;

thread_local Stream* stream_of_thread = nullptr;

int allocate_pinned(void*, void** p, size_t bytes, cudaStream_t) {
  if (cudaHostAlloc(p, bytes, cudaHostAllocDefault) == cudaSuccess) return cudaSuccess;
  (void)cudaGetLastError();  // else it would be told again by whoever asks next
  return kFailed;
}

int free_pinned(void*, void* p, size_t, cudaStream_t) { return cudaFreeHost(p); }

}  // namespace

Memory::For::For(Stream& stream) { stream_of_thread = &stream; }
Memory::For::~For() { stream_of_thread = nullptr; }

Memory::Memory(Device& device) : stream_(device.make_stream("nvJPEG")) {
  // No exception may pass through the library.
  device_.allocate = [](void* self, void** p, size_t bytes, cudaStream_t) -> int {
    try {
      *p = static_cast<Memory*>(self)->allocate(bytes);
      return *p ? cudaSuccess : kFailed;
    } catch (...) {
      return kFailed;
    }
  };
  device_.free = [](void* self, void* p, size_t, cudaStream_t) -> int {
    static_cast<Memory*>(self)->free(p);
    return cudaSuccess;
  };
  device_.context = this;
  pinned_ = {allocate_pinned, free_pinned, nullptr};
}

void* Memory::allocate(size_t bytes) {
  std::lock_guard lock(mutex_);
  Stream& stream = stream_of_thread ? *stream_of_thread : *stream_;
  std::shared_ptr<Buffer> buffer = stream.try_acquire(bytes);
  if (!buffer) return nullptr;
  // It may be used on any stream then: only when an object is made, never while pictures are enqueued.
  if (!stream_of_thread) stream.synchronize();
  void* const p = buffer->data();
  taken_[p] = std::move(buffer);
  return p;
}

void Memory::free(void* p) {
  std::lock_guard lock(mutex_);
  taken_.erase(p);
}

}  // namespace stoker::nvjpeg
