// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "memory/system.h"

#include <sys/mman.h>

#include <cstdlib>

#include "memory/poison.h"

namespace stoker {
namespace {

constexpr size_t kMapped = 128 << 10;  // at first, malloc draws the line here, too
// From here on the system is asked for huge pages. Batches are written from end to end, which waits
// for the translation of addresses when pages are small.
constexpr size_t kHuge = 4 << 20;

// AddressSanitizer watches the ends only of what comes from malloc.
constexpr bool is_mapped(size_t bytes) { return !kPoisons && bytes >= kMapped; }

}  // namespace

SystemMemory take_from_system(size_t bytes) noexcept {
  void* p = nullptr;
  if (is_mapped(bytes)) {
    p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) p = nullptr;
    if (p && bytes >= kHuge) madvise(p, bytes, MADV_HUGEPAGE);  // a wish: it may be refused
  } else {
    const size_t align = allocation_alignment(bytes);
    p = std::aligned_alloc(align, round_up(bytes, align));
  }
  return {static_cast<std::byte*>(p), {bytes}};
}

void BackToSystem::operator()(std::byte* p) const noexcept {
  if (is_mapped(bytes)) munmap(p, bytes);
  else std::free(p);
}

}  // namespace stoker
