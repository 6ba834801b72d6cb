// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Where a pool of host memory takes its allocations from: the system, or something that stands in
// its place (device/pinned_allocator.h).
#pragma once
#include <cstddef>
#include <memory>

namespace stoker {

// Thread-safe.
class HostAllocator {
 public:
  // Every allocation was given back, unless this process was forked from the one that took them.
  virtual ~HostAllocator() = default;
  // Memory aligned to allocation_alignment(bytes). Null when there is none. Throws DeviceError when
  // a device refuses.
  virtual std::byte* take(size_t bytes) = 0;
  virtual void give_back(std::byte* allocation, size_t bytes) noexcept = 0;
  // Returns cached memory to the system; may be slow.
  virtual void trim() {}
};

inline constexpr size_t kPageBytes = 4096;
// 64 bytes; a page from 64 KiB on.
constexpr size_t allocation_alignment(size_t bytes) {
  return bytes >= (64 << 10) ? kPageBytes : 64;
}
constexpr size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

// The system's own allocator. It lives as long as the process.
std::shared_ptr<HostAllocator> system_allocator();

}  // namespace stoker
