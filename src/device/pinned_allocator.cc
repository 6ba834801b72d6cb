// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "device/pinned_allocator.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

#include "memory/poison.h"

namespace stoker {

PinnedAllocator::PinnedAllocator(Device& device) : device_(device), owner_(getpid()) {}

PinnedAllocator::~PinnedAllocator() {
  if (getpid() == owner_) return;
  // The device belongs to the parent, so nothing can be unpinned here.
  (void)new (std::nothrow) decltype(slabs_)(std::move(slabs_));
}

std::byte* PinnedAllocator::take(size_t bytes) {
  if (std::byte* allocation = take_from_any(bytes)) return allocation;
  Slab slab = new_slab(bytes);
  if (!slab.memory) return nullptr;
  std::byte* allocation = take_from(slab, bytes);
  MutexLock lock(mutex_);
  slabs_[slab.memory->data()] = std::move(slab);
  return allocation;
}

std::byte* PinnedAllocator::take_from_any(size_t bytes) {
  MutexLock lock(mutex_);
  for (auto& [address, slab] : slabs_)
    if (std::byte* allocation = take_from(slab, bytes)) return allocation;
  return nullptr;
}

// A slab with room for `bytes`; its `memory` is null when there is none.
PinnedAllocator::Slab PinnedAllocator::new_slab(size_t bytes) const {
  const size_t size = std::max(kSlab, round_up(bytes, kPageBytes));
  std::shared_ptr<Buffer> memory = device_.try_pin(size);
  if (!memory && size > bytes) memory = device_.try_pin(round_up(bytes, kPageBytes));
  if (!memory) return {};
  poison(memory->data(), memory->size());
  const size_t all = memory->size();
  return {.memory = std::move(memory), .free = {{0, all}}};
}

std::byte* PinnedAllocator::take_from(Slab& slab, size_t bytes) {
  const size_t align = allocation_alignment(bytes);
  for (auto it = slab.free.begin(); it != slab.free.end(); ++it) {
    const auto [begin, size] = *it;
    const size_t at = round_up(begin, align), end = round_up(at + bytes, 64);
    if (end > begin + size) continue;
    slab.free.erase(it);
    if (at > begin) slab.free[begin] = at - begin;
    if (end < begin + size) slab.free[end] = begin + size - end;
    std::byte* allocation = slab.memory->data() + at;
    unpoison(allocation, bytes);
    return allocation;
  }
  return nullptr;
}

void PinnedAllocator::give_back(std::byte* allocation, size_t bytes) noexcept {
  if (getpid() != owner_) return;  // a thread of the parent may hold the mutex
  MutexLock lock(mutex_);
  auto& [address, slab] = *std::prev(slabs_.upper_bound(allocation));
  poison(allocation, bytes);
  auto begin = static_cast<size_t>(allocation - address);
  size_t size = round_up(begin + bytes, 64) - begin;
  auto after = slab.free.lower_bound(begin);
  if (after != slab.free.end() && after->first == begin + size) {
    size += after->second;
    after = slab.free.erase(after);
  }
  if (after != slab.free.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == begin) {
      before->second += size;
      return;
    }
  }
  try {
    slab.free[begin] = size;
  } catch (const std::bad_alloc&) {
    return;  // there is no memory to note it, so this part stays unused
  }
}

void PinnedAllocator::trim() {
  std::map<const std::byte*, Slab> to_unpin;  // after the lock is released, as that may wait
  MutexLock lock(mutex_);
  for (auto it = slabs_.begin(); it != slabs_.end();) {
    const Slab& slab = it->second;
    const bool unused = slab.free.size() == 1 && slab.free.begin()->second == slab.memory->size();
    if (unused) to_unpin.insert(slabs_.extract(it++));
    else ++it;
  }
}

size_t PinnedAllocator::held() const {
  MutexLock lock(mutex_);
  size_t sum = 0;
  for (const auto& [address, slab] : slabs_) sum += slab.memory->size();
  return sum;
}

}  // namespace stoker
