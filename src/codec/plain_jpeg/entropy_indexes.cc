// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/plain_jpeg/entropy_indexes.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/foreign_bytes.h"
#include "codec/plain_jpeg/saved_numbers.h"

namespace stoker {
namespace {

// The last byte is the version.
constexpr std::string_view kMagicOfAll = "stoker jpeg indexes\n\x01";
constexpr ForeignBytes::Words kWordsOfAll = {"the file of JPEG indexes is damaged"};
// What a map takes for an entry beside the index.
constexpr size_t kEntry = 96;
// To what all are thinned, before only each row has a place.
constexpr int kThinned = 16;

}  // namespace

size_t EntropyIndexes::cost(const EntropyIndex& index) { return index.memory() + kEntry; }

std::optional<EntropyIndex> EntropyIndexes::find(const FileKey& key, const PlainFrame& frame) {
  Kept found;
  int every;
  {
    MutexLock lock(mutex_);
    if (const auto at = kept_.find(key); at != kept_.end()) found = at->second;
    const bool is_hit = found && found->is_of(key, frame);
    ++(is_hit ? counted_.hits : counted_.misses);
    if (!is_hit && is_full_) return std::nullopt;
    if (!is_hit) found = nullptr;
    every = every_;
  }
  return found ? *found : EntropyIndex(key, frame, every);
}

void EntropyIndexes::keep(EntropyIndex index) {
  MutexLock lock(mutex_);
  keep_one(std::move(index));
}

void EntropyIndexes::keep_one(EntropyIndex index) {
  const FileKey key = index.key();
  const auto at = kept_.find(key);
  // Another thread may have read more of the same file.
  if (at != kept_.end() && at->second->last_mcu() >= index.last_mcu() && !index.is_whole()) return;
  const auto fits = [&]() STOKER_REQUIRES(mutex_) {
    const size_t before = at == kept_.end() ? 0 : cost(*at->second);
    return bytes_ - before + cost(index) <= budget_;
  };
  if (EntropyIndex::thinned(index.every(), finest_) != index.every())
    index = index.thinned(finest_);
  while (!fits() && thin_all()) index = index.thinned(finest_);
  if (!fits()) {
    is_full_ = true;
    return;
  }
  if (at != kept_.end()) bytes_ -= cost(*at->second);
  bytes_ += cost(index);
  kept_[key] = std::make_shared<const EntropyIndex>(std::move(index));
}

bool EntropyIndexes::thin() {
  MutexLock lock(mutex_);
  return thin_all();
}

bool EntropyIndexes::thin_all() {
  if (finest_ == 0) return false;
  finest_ = finest_ < kThinned ? kThinned : 0;
  every_ = EntropyIndex::thinned(every_, finest_);
  bytes_ = 0;
  for (auto& [key, index] : kept_) {
    if (EntropyIndex::thinned(index->every(), finest_) != index->every())
      index = std::make_shared<const EntropyIndex>(index->thinned(finest_));
    bytes_ += cost(*index);
  }
  return true;
}

void EntropyIndexes::drop(const FileKey& key) {
  MutexLock lock(mutex_);
  ++counted_.wrong;
  const auto at = kept_.find(key);
  if (at == kept_.end()) return;
  bytes_ -= cost(*at->second);
  kept_.erase(at);
}

EntropyIndexes::Statistics EntropyIndexes::statistics() const {
  MutexLock lock(mutex_);
  Statistics s = counted_;
  s.files = static_cast<int64_t>(kept_.size());
  s.bytes = static_cast<int64_t>(bytes_);
  s.budget = static_cast<int64_t>(budget_);
  s.every = every_;
  return s;
}

std::vector<uint8_t> EntropyIndexes::saved() const {
  MutexLock lock(mutex_);
  SavedNumbers w;
  w.text(kMagicOfAll);
  w.number(static_cast<uint64_t>(kept_.size()));
  for (const auto& [key, index] : kept_) {
    const std::vector<uint8_t> one = index->saved();
    w.number(static_cast<uint32_t>(one.size()));
    w.bytes(one);
  }
  return std::move(w).take();
}

void EntropyIndexes::add_saved(std::span<const uint8_t> bytes) {
  ForeignBytes b(bytes, ByteOrder::kLittle, kWordsOfAll);
  if (b.text(kMagicOfAll.size()) != kMagicOfAll)
    b.fail("it does not begin as one of version " + std::to_string(kMagicOfAll.back()), 0);
  std::vector<EntropyIndex> all;
  for (uint64_t left = b.u64(); left > 0; --left) {
    const size_t at = b.at();
    const uint32_t size = b.u32();
    try {
      all.push_back(EntropyIndex::of_saved(b.bytes(size)));
    } catch (const SampleError& e) {
      b.fail(e.what(), at + sizeof size + static_cast<size_t>(std::max<int64_t>(e.offset, 0)));
    }
  }
  if (b.left() > 0) b.fail(std::to_string(b.left()) + " bytes follow its end");
  MutexLock lock(mutex_);
  for (EntropyIndex& index : all) keep_one(std::move(index));
}

}  // namespace stoker
