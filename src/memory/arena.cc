// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "memory/arena.h"

#include <algorithm>
#include <string>

#include "memory/poison.h"
#include "memory/pool.h"

namespace stoker {
namespace {

constexpr size_t kAlign = 64;
constexpr size_t kReadableBehind = 64;  // readable bytes behind every allocation
constexpr size_t kSmallestChunk = 64 << 10;

}  // namespace

void* Arena::allocate(size_t bytes) {
  check(bytes);
  const size_t need = round_up(std::max<size_t>(bytes, 1), kAlign);
  if (chunks_.empty() || chunks_.back().size - chunks_.back().at < need + kReadableBehind)
    grow(need + kReadableBehind);
  Chunk& chunk = chunks_.back();
  std::byte* p = chunk.data.get() + chunk.at;
  unpoison(p, bytes + kReadableBehind);
  chunk.at += need;
  used_ += need;
  return p;
}

void Arena::charge(size_t bytes) {
  check(bytes);
  if (bytes > left()) throw BeyondShare{};
  charged_ += bytes;
}

void Arena::reset() {
  if (chunks_.size() > 1 || is_alone_) {
    const size_t total = is_alone_ ? 0 : held_;
    trim();
    merged_ = total;
  }
  for (Chunk& chunk : chunks_) {
    chunk.at = 0;
    poison(chunk.data.get(), chunk.size);
  }
  used_ = charged_ = 0;
}

void Arena::trim() {
  chunks_.clear();
  held_ = used_ = charged_ = merged_ = 0;
}

void Arena::set_alone(bool is_alone) {
  trim();
  is_alone_ = is_alone;
}

void Arena::check(size_t more) const {
  if (more <= ceiling_ && need() <= ceiling_ - more) return;
  const size_t least = more < SIZE_MAX / 4 ? need() + more : more;
  throw TooLarge("the sample needs at least " + in_words(least) +
                 " of memory besides its outputs, and one sample may take " + in_words(ceiling_) +
                 " at most" + (ceiling_is_.empty() ? "" : ", " + ceiling_is_));
}

// How many bytes chunks and charges may still take.
size_t Arena::left() const {
  return is_alone_ ? SIZE_MAX : share_ - std::min(share_, held_ + charged_);
}

// Takes a generous chunk where the share allows it, else just what is needed.
void Arena::grow(size_t bytes) {
  if (used_ == 0) {  // a chunk that is too small is in the way
    merged_ = std::max(merged_, held_);
    chunks_.clear();
    held_ = 0;
  }
  if (bytes > left()) throw BeyondShare{};
  size_t size = round_up(std::max(bytes, kSmallestChunk), kAlign);
  if (!is_alone_) size = std::max({size, round_up(held_, kAlign), merged_});
  if (size > left()) size = std::max(bytes, left() & ~(kAlign - 1));
  SystemMemory data = take_from_system(size);
  if (!data)
    throw BudgetError("the system has no " + in_words(size) +
                      " left for the scratch memory of one sample");
  poison(data.get(), size);
  chunks_.push_back({std::move(data), size, 0});
  held_ += size;
  merged_ = 0;
}

}  // namespace stoker
