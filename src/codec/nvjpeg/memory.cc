// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/nvjpeg/handles.h"
#include "device/pinned_allocator.h"

namespace stoker::nvjpeg {

namespace {

constexpr int kFailed = cudaErrorMemoryAllocation;

// Turns exceptions, which may not pass through the library, into its status.
template <class Take>
int taken(void** p, Take take) {
  try {
    *p = take();
    return *p ? cudaSuccess : kFailed;
  } catch (...) {
    return kFailed;
  }
}

}  // namespace

thread_local const Memory::For* Memory::For::of_thread = nullptr;

Memory::For::For(Stream& stream, bool at_once)
    : before_(of_thread), stream_(stream), at_once_(at_once) {
  of_thread = this;
}
Memory::For::~For() { of_thread = before_; }

Memory::Memory(std::shared_ptr<const DeviceBudget> budget)
    : budget_(std::move(budget)),
      host_memory_(SIZE_MAX, std::make_shared<PinnedAllocator>(budget_->device())),
      stream_(budget_->device().make_stream("nvJPEG")) {
  device_.allocate = [](void* self, void** p, size_t bytes, cudaStream_t) {
    return taken(p, [&] { return static_cast<Memory*>(self)->allocate(bytes); });
  };
  pinned_.allocate = [](void* self, void** p, size_t bytes, cudaStream_t) {
    return taken(p, [&] { return static_cast<Memory*>(self)->pin(bytes); });
  };
  device_.free = pinned_.free = [](void* self, void* p, size_t, cudaStream_t) -> int {
    static_cast<Memory*>(self)->free(p);
    return cudaSuccess;
  };
  device_.context = pinned_.context = this;
}

void* Memory::keep(std::shared_ptr<Buffer> buffer) {
  void* const p = buffer->data();
  MutexLock lock(mutex_);
  taken_[p] = std::move(buffer);
  return p;
}

void* Memory::allocate(size_t bytes) {
  if (const For* user = For::of_thread) {
    std::shared_ptr<Buffer> buffer = budget_->try_acquire(user->stream_, bytes);
    if (buffer && user->at_once_) user->stream_.synchronize();
    return buffer ? keep(std::move(buffer)) : nullptr;
  }
  MutexLock one_at_a_time(stream_mutex_);
  std::shared_ptr<Buffer> buffer = budget_->try_acquire(*stream_, bytes);
  if (!buffer) return nullptr;
  // Any stream may use the memory then. This happens only where an object is made.
  stream_->synchronize();
  return keep(std::move(buffer));
}

void* Memory::pin(size_t bytes) {
  std::shared_ptr<Buffer> buffer = host_memory_.try_acquire(bytes, Use::kOutput);
  return buffer ? keep(std::move(buffer)) : nullptr;
}

void Memory::free(void* p) {
  std::shared_ptr<Buffer> last;  // freed after the lock is released, as that may wait
  MutexLock lock(mutex_);
  const auto it = taken_.find(p);
  if (it == taken_.end()) return;
  last = std::move(it->second);
  taken_.erase(it);
}

}  // namespace stoker::nvjpeg
