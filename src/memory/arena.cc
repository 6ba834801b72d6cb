// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "memory/arena.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "memory/poison.h"

namespace stoker {
namespace {

constexpr size_t kAlign = 64;
constexpr size_t kBehind = 64;  // readable bytes behind every allocation
constexpr size_t kSmallestChunk = 64 << 10;

constexpr size_t round_up(size_t n) { return (n + kAlign - 1) & ~(kAlign - 1); }

}  // namespace

void Arena::Free::operator()(std::byte* p) const { std::free(p); }

void* Arena::allocate(size_t bytes) {
  if (bytes > SIZE_MAX / 4)
    throw BudgetError("scratch of " + std::to_string(bytes) +
                      " bytes for one sample is more than any machine has");
  const size_t need = round_up(std::max<size_t>(bytes, 1));
  if (chunks_.empty() || chunks_.back().size - chunks_.back().at < need + kBehind)
    grow(need + kBehind);
  Chunk& chunk = chunks_.back();
  std::byte* p = chunk.data.get() + chunk.at;
  unpoison(p, bytes + kBehind);
  chunk.at += need;
  used_ += need;
  return p;
}

void Arena::reset() {
  if (chunks_.size() > 1) {
    const size_t total = held_;
    trim();
    merged_ = total;
  }
  for (Chunk& chunk : chunks_) {
    chunk.at = 0;
    poison(chunk.data.get(), chunk.size);
  }
  used_ = 0;
}

void Arena::trim() {
  chunks_.clear();
  held_ = used_ = merged_ = 0;
}

// Takes a generous chunk where the limit allows it, else just what is needed.
void Arena::grow(size_t bytes) {
  const size_t left = limit_ - std::min(limit_, held_);
  if (bytes > left)
    throw BudgetError("scratch of one sample needs " + std::to_string(bytes) +
                      " bytes beyond the " + std::to_string(held_) +
                      " that it holds, over its limit of " + std::to_string(limit_) + " bytes");
  size_t size = round_up(std::max({bytes, held_, merged_, kSmallestChunk}));
  if (size > left) size = std::max(bytes, left & ~(kAlign - 1));
  std::unique_ptr<std::byte, Free> data(static_cast<std::byte*>(std::aligned_alloc(kAlign, size)));
  if (!data)
    throw BudgetError("the system has no " + std::to_string(size) +
                      " bytes left for the scratch of one sample");
  poison(data.get(), size);
  chunks_.push_back({std::move(data), size, 0});
  held_ += size;
  merged_ = 0;
}

}  // namespace stoker
