// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Where a pool of host memory gets its allocations: from the system, or from something in its place
// (device/pinned_allocator.h).
#pragma once
#include <cstddef>
#include <memory>

namespace stoker {

// Thread-safe.
class HostAllocator {
 public:
  // Requires: every allocation was given back, or this process was forked from the one that took
  // them.
  virtual ~HostAllocator() = default;
  // Takes memory that is aligned to allocation_alignment(bytes). Null when there is none. Throws
  // DeviceError when a device refuses.
  virtual std::byte* take(size_t bytes) = 0;
  virtual void give_back(std::byte* allocation, size_t bytes) noexcept = 0;
  // Returns cached memory to the system. May be slow.
  virtual void trim() {}
};

inline constexpr size_t kPageBytes = 4096;
// 64 bytes, or a page for 64 KiB and more.
constexpr size_t allocation_alignment(size_t bytes) {
  return bytes >= (64 << 10) ? kPageBytes : 64;
}
constexpr size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

// The system's own allocator. It lives as long as the process.
std::shared_ptr<HostAllocator> system_allocator();

}  // namespace stoker
