// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/plain_jpeg/scan_reader.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "kernels/jpeg/unstuff.h"

namespace stoker {
namespace {

// How far a reader may be behind the end of the data without having used what follows it.
constexpr int64_t kAhead = 8;
constexpr int64_t kZeros = jpeg::kMostBytesOfMcu + kAhead;
// Of what is moved to the beginning of the buffer, the bits that a reader holds lie before it.
constexpr int64_t kHeld = 8, kBeforeBuffer = 64;
constexpr int64_t kAroundLoaded =
    kBeforeBuffer + jpeg::kMostBytesOfMcu + jpeg::kUnstuffSlack + kZeros;

}  // namespace

ScanReader::ScanReader(std::span<const uint8_t> bytes, int64_t restart_interval, int64_t loaded,
                       Arena& scratch)
    : bytes_(bytes),
      loaded_(loaded),
      interval_(restart_interval ? restart_interval : std::numeric_limits<int64_t>::max()),
      buffer_(scratch.array<uint8_t>(static_cast<size_t>(loaded + kAroundLoaded)) + kBeforeBuffer) {
  std::memset(buffer_ - kHeld, 0, kHeld);
}

void ScanReader::start(const ScanPlace& place) {
  predictors_ = place.predictors;
  mcu_ = place.mcu;
  left_of_interval_ = interval_ - place.mcu % interval_;
  next_restart_ = static_cast<int>(place.mcu / interval_ % 8);
  const uint8_t* loaded = find_loaded(place.offset);
  if (!loaded) {
    load_from(place.offset);
    loaded = buffer_;
  }
  reader_ = jpeg::bits_at(loaded, place.bit);
}

// Where a byte of the file lies in the buffer; null if it is not among what follows there.
const uint8_t* ScanReader::find_loaded(size_t offset) {
  if (!mark_ || offset >= at_) return nullptr;
  const auto [from, to] = std::minmax(offset, mark_at_);
  const auto size = static_cast<int64_t>(to - from);
  const int64_t between = size - jpeg::count_stuffed(bytes_.data() + from, size);
  const int64_t target = (mark_ - buffer_) + (offset < mark_at_ ? -between : between);
  if (target < std::max<int64_t>(reader_.next - buffer_ - kHeld, 0) || target > end_ - buffer_)
    return nullptr;
  mark_ = buffer_ + target;
  mark_at_ = offset;
  return mark_;
}

bool ScanReader::find_place(ScanPlace& place) {
  if (left_of_interval_ == 0 && !pass_marker()) return false;
  const auto held = static_cast<int64_t>(reader_.count);
  const uint8_t* const byte = reader_.next - (held + 7) / 8;
  const uint8_t* const first = std::min(byte, mark_);
  const int64_t size = std::max(byte, mark_) - first;
  const auto in_file = static_cast<size_t>(size + jpeg::count_stuffed(first, size));
  mark_at_ = byte < mark_ ? mark_at_ - in_file : mark_at_ + in_file;
  mark_ = byte;
  place = {mark_at_, static_cast<int>(-held & 7), mcu_, predictors_};
  return true;
}

void ScanReader::load_from(size_t offset) {
  at_ = offset;
  reader_ = {.next = buffer_};
  end_ = buffer_;
  load();
}

// Loads more data behind what is not used yet, which is less than an MCU may need.
void ScanReader::load() {
  const auto kept = std::max<int64_t>(end_ - reader_.next, 0);
  std::memmove(buffer_ - kHeld, reader_.next - kHeld, static_cast<size_t>(kHeld + kept));
  reader_.next = buffer_;
  const jpeg::Unstuffed more = jpeg::unstuff(
      bytes_.data() + at_, static_cast<int64_t>(bytes_.size() - at_), buffer_ + kept, loaded_);
  at_ += static_cast<size_t>(more.read);
  uint8_t* const end = buffer_ + kept + more.written;
  is_all_ = more.written < loaded_;
  if (is_all_) std::memset(end, 0, kZeros);
  mark_ = end_ = end;
  mark_at_ = at_;
  limit_ = is_all_ ? end + kAhead : end - jpeg::kMostBytesOfMcu;
}

// Whether a marker follows without more than the bits that fill a byte.
bool ScanReader::leads_to_marker() {
  if (reader_.left(end_) > 7) return false;
  if (!is_all_) load();
  return reader_.left(end_) <= 7;
}

// The marker behind what was loaded; 0 if there is none.
uint8_t ScanReader::marker() const {
  size_t at = at_;
  while (at < bytes_.size() && bytes_[at] == 0xFF) ++at;
  return at < bytes_.size() && at > at_ ? bytes_[at] : 0;
}

bool ScanReader::pass_marker() {
  if (!leads_to_marker() || marker() != kRst0 + next_restart_) return false;
  next_restart_ = (next_restart_ + 1) % 8;
  left_of_interval_ = interval_;
  predictors_ = {};
  while (bytes_[at_] == 0xFF) ++at_;
  load_from(at_ + 1);
  return true;
}

}  // namespace stoker
