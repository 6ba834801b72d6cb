// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The MCUs of a plain file, or of one scan of a progressive file, one behind the other: free of
// stuffing and of restart markers.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "codec/plain_jpeg/frame.h"
#include "codec/plain_jpeg/segments.h"
#include "kernels/jpeg/entropy.h"
#include "memory/arena.h"

namespace stoker {

// A place in a scan at which reading can begin.
struct ScanPlace {
  size_t offset;  // of the byte in the file
  int bit = 0;  // of that byte
  int64_t mcu = 0;  // the number of the MCU that begins there
  std::array<int32_t, 3> predictors = {};  // the last DC coefficient of each component

  bool operator==(const ScanPlace&) const = default;
};

class ScanReader {
 public:
  // Requires: bytes and scratch outlive this, and scratch is not reset.
  ScanReader(std::span<const uint8_t> bytes, const PlainFrame& frame, Arena& scratch)
      : ScanReader(bytes, frame.restart_interval, kLoaded, scratch) {}
  // Loads `loaded` bytes at a time. `restart_interval` is in MCUs of the scan; 0: none.
  ScanReader(std::span<const uint8_t> bytes, int64_t restart_interval, int64_t loaded,
             Arena& scratch);
  // Goes to a place. Requires: it lies in the file.
  void start(const ScanPlace& place);
  int64_t mcu() const { return mcu_; }  // the number of the next one
  // Where the next MCU begins, behind any restart marker before it. Returns false where that is not
  // as in undamaged plain files. Requires: an MCU follows.
  [[nodiscard]] bool find_place(ScanPlace& place);
  int32_t* predictor(int component) { return &predictors_[static_cast<size_t>(component)]; }

  // Reads MCUs of a row, as jpeg::read_mcus(). False at what undamaged plain files do not have.
  [[nodiscard]] bool read(const jpeg::Mcu& mcu, int64_t begin, int64_t end) {
    return read_by(begin, end,
                   [&](int64_t from, int64_t to, const uint8_t* limit, jpeg::BitReader& reader) {
                     return jpeg::read_mcus(mcu, from, to, limit, reader);
                   });
  }
  // The same by another function: read_some(begin, end, limit, reader).
  template <class ReadSome>
  [[nodiscard]] bool read_by(int64_t begin, int64_t end, const ReadSome& read_some) {
    while (begin < end) {
      if (left_of_interval_ == 0 && !pass_marker()) return false;
      const int64_t want = begin + std::min(end - begin, left_of_interval_);
      const jpeg::McusRead got = read_some(begin, want, limit_, reader_);
      if (!got.is_good || reader_.left(end_) < 0) return false;
      left_of_interval_ -= got.end - begin;
      mcu_ += got.end - begin;
      begin = got.end;
      if (begin == want) continue;
      if (is_all_) return false;
      load();
    }
    return true;
  }
  // Whether the last MCU of the picture, which was read, is followed by the end of the file's data,
  // or by another marker.
  [[nodiscard]] bool is_at_end(uint8_t next = kEoi) {
    return leads_to_marker() && marker() == next;
  }

 private:
  // Large against an MCU, small against a cache.
  static constexpr int64_t kLoaded = 32 << 10;

  bool pass_marker();
  bool leads_to_marker();
  uint8_t marker() const;
  const uint8_t* find_loaded(size_t offset);
  void load_from(size_t offset);
  void load();

  std::span<const uint8_t> bytes_;
  const int64_t loaded_;  // at a time
  int64_t interval_, left_of_interval_ = 0, mcu_ = 0;
  int next_restart_ = 0;  // its number, 0 to 7
  size_t at_ = 0;  // what was loaded ends here
  std::array<int32_t, 3> predictors_ = {};
  uint8_t* buffer_;  // the bytes before it that the reader may not have used up precede it
  jpeg::BitReader reader_;
  // A byte of what is loaded, or the end of that, and its offset in the file.
  const uint8_t* mark_ = nullptr;
  size_t mark_at_ = 0;
  const uint8_t* end_ = nullptr;  // of what is loaded
  const uint8_t* limit_ = nullptr;  // MCUs that begin behind it are not all loaded
  bool is_all_ = false;  // loaded up to a marker or the end of the file, and zeros behind that
};

}  // namespace stoker
