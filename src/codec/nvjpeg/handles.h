// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Objects of nvJPEG with an owner, nvJPEG's memory, and lists of objects between two uses.
#pragma once
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/mutex.h"
#include "codec/nvjpeg/library.h"
#include "device/budget.h"
#include "memory/pool.h"

namespace stoker::nvjpeg {

// nvJPEG does not decode this picture, or not on this GPU.
struct Refusal {
  Status status;
};

// Throws Refusal, or BudgetError where memory is missing, which must not change who decodes.
inline void check(Status status) {
  if (status == kAllocatorFailure)
    throw BudgetError("no memory for nvJPEG: of the GPU, or page-locked of the host");
  if (status != kSuccess) throw Refusal{status};
}
// The same for a call with an object, which may be useless once nvJPEG has failed on it.
inline void check(Status status, bool& is_spoilt) {
  is_spoilt |= status != kSuccess;
  check(status);
}

// Owns one object, which is destroyed on one thread with its GPU current.
template <class Handle>
class Owned {
 public:
  using Destroy = Status (*)(Handle);
  Owned() = default;
  // `create` gets the address of the handle. Throws what check() throws.
  template <class Create>
  Owned(Destroy destroy, Create create) : destroy_(destroy) {
    check(create(&handle_));
  }
  Owned(Owned&& o) noexcept : destroy_(o.destroy_), handle_(std::exchange(o.handle_, nullptr)) {}
  Owned& operator=(Owned&& o) noexcept {
    std::swap(destroy_, o.destroy_);
    std::swap(handle_, o.handle_);
    return *this;
  }
  ~Owned() { reset(); }

  void reset() {
    if (handle_) (void)destroy_(std::exchange(handle_, nullptr));  // a failure has no remedy
  }
  Handle get() const { return handle_; }
  explicit operator bool() const { return handle_ != nullptr; }

 private:
  Destroy destroy_ = nullptr;
  Handle handle_ = nullptr;
};

// Objects between two uses; those with `is_spoilt` are not used again. Thread-safe.
template <class T>
class Idle {
 public:
  std::unique_ptr<T> take() {  // null when it is empty
    std::vector<std::unique_ptr<T>> spoilt;  // destroyed after the lock is released
    MutexLock lock(mutex_);
    while (!all_.empty()) {
      std::unique_ptr<T> last = std::move(all_.back());
      all_.pop_back();
      if (!last->is_spoilt) return last;
      spoilt.push_back(std::move(last));
    }
    return nullptr;
  }
  void put(std::unique_ptr<T> object) {
    MutexLock lock(mutex_);
    all_.push_back(std::move(object));
  }
  void clear() {
    std::vector<std::unique_ptr<T>> to_destroy;  // after the lock is released
    MutexLock lock(mutex_);
    to_destroy.swap(all_);
  }

 private:
  // No object is destroyed under it: that may wait for the device, whose host calls come here.
  Mutex mutex_;
  std::vector<std::unique_ptr<T>> all_ STOKER_GUARDED_BY(mutex_);
};

// Where nvJPEG gets memory: a budget for the device's, a pinned pool for the host's. Thread-safe.
class Memory {
 public:
  explicit Memory(std::shared_ptr<const DeviceBudget> budget);
  Allocator* on_device() { return &device_; }
  Allocator* pinned() { return &pinned_; }
  void trim() { host_memory_.trim(); }

  // While this lives, the calling thread works for this stream: memory that it asks for is ordered
  // there. Where it is used `at_once`, out of that order, the host waits for the stream.
  class For {
   public:
    explicit For(Stream& stream, bool at_once = false);
    ~For();
    For(const For&) = delete;
    For& operator=(const For&) = delete;

   private:
    friend class Memory;
    static thread_local const For* of_thread;
    const For* const before_;
    Stream& stream_;
    const bool at_once_;
  };

 private:
  void* allocate(size_t bytes);
  void* pin(size_t bytes);
  void* keep(std::shared_ptr<Buffer> buffer);
  void free(void* p);

  const std::shared_ptr<const DeviceBudget> budget_;
  HostPool host_memory_;  // pinned: pinning for each picture would take too long
  Mutex stream_mutex_;  // taken before mutex_; the host may wait for stream_ under it
  // For threads that work for no stream.
  std::unique_ptr<Stream> stream_ STOKER_GUARDED_BY(stream_mutex_);
  Mutex mutex_;  // no buffer is freed under it, because that may wait for the device
  std::unordered_map<void*, std::shared_ptr<Buffer>> taken_ STOKER_GUARDED_BY(mutex_);
  Allocator device_, pinned_;
};

}  // namespace stoker::nvjpeg
