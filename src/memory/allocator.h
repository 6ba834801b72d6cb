// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <memory>

#include "memory/system.h"

namespace stoker {

// Where a pool of host memory gets its allocations: from the system, or from a device
// (device/pinned_allocator.h). Thread-safe.
class HostAllocator {
 public:
  // Requires: every allocation was given back, or this process was forked from the one that took
  // them.
  virtual ~HostAllocator() = default;
  // Memory aligned to allocation_alignment(bytes). Null when there is none. Throws DeviceError when
  // a device refuses.
  virtual std::byte* take(size_t bytes) = 0;
  virtual void give_back(std::byte* allocation, size_t bytes) noexcept = 0;
  // Returns cached memory to the system. May be slow.
  virtual void trim() {}
};

// It lives as long as the process.
std::shared_ptr<HostAllocator> system_allocator();

}  // namespace stoker
