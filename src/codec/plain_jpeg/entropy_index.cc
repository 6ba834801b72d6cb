// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/plain_jpeg/entropy_index.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/foreign_bytes.h"
#include "codec/plain_jpeg/saved_numbers.h"

namespace stoker {
namespace {

// The last byte is the version.
constexpr std::string_view kMagic = "STJX\x01";
constexpr ForeignBytes::Words kWords = {"the index of a JPEG file is damaged"};
constexpr size_t kHashSize = 8;

}  // namespace

EntropyIndex::EntropyIndex(const FileKey& key, const PlainFrame& frame, int every)
    : key_(key),
      components_(frame.count),
      every_(every),
      across_(frame.mcus_across()),
      down_(frame.mcus_down()) {}

bool EntropyIndex::is_of(const FileKey& key, const PlainFrame& frame) const {
  return key_ == key && components_ == frame.count && across_ == frame.mcus_across() &&
         down_ == frame.mcus_down() && (count() == 0 || place(0).offset == frame.data);
}

int64_t EntropyIndex::column_behind(int64_t column) const {
  return every_ ? std::min(column - column % every_ + every_, across_) : across_;
}

ScanPlace EntropyIndex::place(int64_t number) const {
  const uint16_t* const w = &words_[static_cast<size_t>(number * words_of_place())];
  const uint32_t bit = w[0] + 0x10000u * w[1];
  const int64_t in_row = number % places_of_row();
  ScanPlace p{.offset = bit / 8,
              .bit = static_cast<int>(bit % 8),
              .mcu = number / places_of_row() * across_ + in_row * every_};
  for (size_t c = 0; c < static_cast<size_t>(components_); ++c)
    p.predictors[c] = static_cast<int16_t>(w[2 + c]);
  return p;
}

EntropyIndex EntropyIndex::thinned(int every) const {
  EntropyIndex thin;
  thin.key_ = key_;
  thin.components_ = components_;
  thin.every_ = thinned(every_, every);
  thin.across_ = across_;
  thin.down_ = down_;
  thin.is_whole_ = is_whole_;
  for (int64_t i = 0; i < count(); ++i)
    if (const ScanPlace p = place(i); thin.has_place(p.mcu % across_)) thin.add(p);
  return thin;
}

bool EntropyIndex::add(const ScanPlace& place) {
  for (const int32_t v : place.predictors)
    if (v != static_cast<int16_t>(v)) return false;
  const auto bit = static_cast<uint32_t>(8 * place.offset + static_cast<size_t>(place.bit));
  // Most files are read to their end.
  if (words_.empty())
    words_.reserve(static_cast<size_t>(down_ * places_of_row() * words_of_place()));
  words_.push_back(static_cast<uint16_t>(bit));
  words_.push_back(static_cast<uint16_t>(bit >> 16));
  for (size_t c = 0; c < static_cast<size_t>(components_); ++c)
    words_.push_back(static_cast<uint16_t>(place.predictors[c]));
  return true;
}

std::vector<uint8_t> EntropyIndex::saved() const {
  SavedNumbers w;
  w.text(kMagic);
  w.number(static_cast<uint8_t>(components_));
  w.number(static_cast<uint8_t>(is_whole_));
  w.number(static_cast<uint16_t>(every_));
  w.number(static_cast<uint16_t>(across_));
  w.number(static_cast<uint16_t>(down_));
  w.number(key_.size);
  w.number(key_.hash);
  w.number(static_cast<uint32_t>(count()));
  for (const uint16_t word : words_) w.number(word);
  w.number(hash_of_file(w.written()));
  return std::move(w).take();
}

EntropyIndex EntropyIndex::of_saved(std::span<const uint8_t> bytes) {
  ForeignBytes b(bytes, ByteOrder::kLittle, kWords);
  if (b.text(kMagic.size()) != kMagic)
    b.fail("it does not begin as an index of version " + std::to_string(kMagic.back()), 0);
  EntropyIndex index;
  index.components_ = b.u8();
  index.is_whole_ = b.u8() != 0;
  index.every_ = b.u16();
  index.across_ = b.u16();
  index.down_ = b.u16();
  index.key_.size = b.u64();
  index.key_.hash = b.u64();
  const int64_t count = b.u32();
  if ((index.components_ != 1 && index.components_ != 3) || index.every_ > kMostMcus ||
      index.across_ < 1 || index.across_ > kMostMcus || index.down_ < 1 ||
      index.down_ > kMostMcus || !can_hold(index.key_))
    b.fail("it is of a picture that cannot be", kMagic.size());
  const int64_t all = index.down_ * index.places_of_row();
  if (count > all || (index.is_whole_ && count != all))
    b.fail("it has " + std::to_string(count) + " places of " + std::to_string(all));
  const auto size = static_cast<size_t>(2 * count * index.words_of_place());
  if (b.left() != size + kHashSize)
    b.fail("expected " + std::to_string(size + kHashSize) + " more bytes, found " +
           std::to_string(b.left()));
  if (b.from(b.at() + size).u64() != hash_of_file(bytes.first(bytes.size() - kHashSize)))
    b.fail("its checksum is wrong", b.at() + size);
  index.words_.reserve(size / 2);
  for (size_t i = 0; i < size / 2; ++i) index.words_.push_back(b.u16());
  index.check_places(b);
  return index;
}

// Each place lies behind the one before it, and in the file.
void EntropyIndex::check_places(ForeignBytes& b) const {
  size_t last = 0;
  for (int64_t i = 0; i < count(); ++i) {
    const ScanPlace p = place(i);
    const size_t bit = 8 * p.offset + static_cast<size_t>(p.bit);
    if (bit <= last || p.offset >= key_.size)
      b.fail("its place " + std::to_string(i) + " is at byte " + std::to_string(p.offset));
    last = bit;
  }
}

}  // namespace stoker
