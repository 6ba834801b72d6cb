// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Host memory from the system, for the few places that own it: pools, arenas and bytes of files.
#pragma once
#include <cstddef>
#include <memory>

namespace stoker {

inline constexpr size_t kPageBytes = 4096;
// 64 bytes, or a page for 64 KiB and more.
constexpr size_t allocation_alignment(size_t bytes) {
  return bytes >= (64 << 10) ? kPageBytes : 64;
}
constexpr size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

struct BackToSystem {
  size_t bytes = 0;
  void operator()(std::byte* p) const noexcept;
};
using SystemMemory = std::unique_ptr<std::byte, BackToSystem>;

// Uninitialised memory, aligned to allocation_alignment(bytes). Null where there is none. From 128
// KiB on it is a mapping of its own, which leaves the process as soon as it is given back. malloc
// would keep such memory for later once it has seen one allocation of this kind freed, and no limit
// of a pipeline would count it.
SystemMemory take_from_system(size_t bytes) noexcept;

}  // namespace stoker
