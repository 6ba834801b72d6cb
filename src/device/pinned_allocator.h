// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Allocations for a pool of host memory that a device reads by itself.
#pragma once
#include <cstddef>
#include <map>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "device/device.h"
#include "memory/allocator.h"

namespace stoker {

// Note [Slabs]
// Pinning pages takes milliseconds and unpinning them waits for the device. So allocations are
// parts of slabs of kSlab bytes or more, which are kept until trim(). The first free part that is
// large enough is taken, and free neighbours become one part, so that a pool which takes and gives
// back in turn finds its place again. Pinning and unpinning hold no lock, so two threads that find
// no room at once pin a slab each.
class PinnedAllocator final : public HostAllocator {
 public:
  static constexpr size_t kSlab = 32 << 20;

  // Requires: the device outlives this.
  explicit PinnedAllocator(Device& device);
  ~PinnedAllocator() override;
  PinnedAllocator(const PinnedAllocator&) = delete;
  PinnedAllocator& operator=(const PinnedAllocator&) = delete;

  std::byte* take(size_t bytes) override;
  void give_back(std::byte* allocation, size_t bytes) noexcept override;
  void trim() override;
  size_t held() const;  // size of all slabs, in bytes

 private:
  struct Slab {
    std::shared_ptr<Buffer> memory;
    std::map<size_t, size_t> free;  // by offset: size of each free part
  };
  static std::byte* take_from(Slab& slab, size_t bytes);
  std::byte* take_from_any(size_t bytes) STOKER_EXCLUDES(mutex_);
  Slab new_slab(size_t bytes) const;

  Device& device_;
  const int owner_;  // the process
  // Nothing is pinned or unpinned under it: that may wait for calls of the device's streams, which
  // give allocations back.
  mutable Mutex mutex_;
  std::map<const std::byte*, Slab> slabs_ STOKER_GUARDED_BY(mutex_);  // by address
};

}  // namespace stoker
