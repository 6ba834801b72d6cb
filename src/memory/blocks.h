// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Where a pool of host memory takes its blocks from: the system, or something that stands in its
// place (device/pinned_blocks.h).
#pragma once
#include <cstddef>
#include <memory>

namespace stoker {

// Thread-safe.
class BlockSource {
 public:
  // Every block was given back, unless this process was forked from the one that took them.
  virtual ~BlockSource() = default;
  // Memory aligned to block_alignment(bytes). Null when there is none. Throws DeviceError when a
  // device refuses.
  virtual std::byte* take(size_t bytes) = 0;
  virtual void give_back(std::byte* block, size_t bytes) noexcept = 0;
  // Returns cached memory to the system; may be slow.
  virtual void trim() {}
};

inline constexpr size_t kPageBytes = 4096;
// 64 bytes; a page from 64 KiB on.
constexpr size_t block_alignment(size_t bytes) { return bytes >= (64 << 10) ? kPageBytes : 64; }
constexpr size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

// The system's own allocator. It lives as long as the process.
std::shared_ptr<BlockSource> system_blocks();

}  // namespace stoker
