// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the MCUs of a plain file lie, so that decoding can begin at a window.
//
// Note [Entropy index]
// An index says of some MCUs of one file at which bit they begin and which DC coefficients come
// before them: of the first one of each row of MCUs, or of every so many in a row. It is made of
// what was read without finding anything unusual, from the file's beginning on. So it also tells
// that all before its last place is undamaged, and what is judged is judged as without it.
//
// It belongs to the bytes of a file and not to a name: it carries their number and their hash, and
// whoever uses it hashes the bytes that are to be decoded. So an index of another file, or of what
// a file held before, is never used. Saved, it carries a hash of its own. Besides, a decoder has to
// meet exactly each place that it comes to, and reads the first row of a window to its end for that
// purpose; if it does not, it leaves the file to libjpeg-turbo, from the beginning. All this finds
// damage, mix-ups and faults of ours. It does not find an index that somebody forged.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/foreign_bytes.h"
#include "codec/plain_jpeg/file_key.h"
#include "codec/plain_jpeg/frame.h"
#include "codec/plain_jpeg/scan_reader.h"

namespace stoker {

// One thread at a time, or many that only read it.
class EntropyIndex {
 public:
  // An index of nothing yet. `every`: of how many MCUs in a row the first one gets a place, from 1
  // to kMostMcus; 0: only the first of each row. Requires: can_hold(key).
  EntropyIndex(const FileKey& key, const PlainFrame& frame, int every = 0);
  static constexpr int kMostMcus = 65500 / 8 + 1;  // in a row
  // Places are kept as numbers of bits, in 32 bits.
  static bool can_hold(const FileKey& key) { return key.size < uint64_t{1} << 29; }

  const FileKey& key() const { return key_; }
  int every() const { return every_; }
  // Whether it is an index of the file of this key, whose header was read as `frame`.
  bool is_of(const FileKey& key, const PlainFrame& frame) const;

  // Places have numbers, in the order of their MCUs. These are known: [0, count()).
  int64_t count() const { return static_cast<int64_t>(words_.size()) / words_of_place(); }
  bool has_all_places() const { return count() == down_ * places_of_row(); }
  ScanPlace place(int64_t number) const;
  // Whether the MCU in a row has a place, and its number.
  bool has_place(int64_t column) const { return every_ ? column % every_ == 0 : column == 0; }
  int64_t number_of(int64_t row, int64_t column) const {
    return row * places_of_row() + (every_ ? column / every_ : 0);
  }
  // The next column behind this one that has a place, or the end of the row.
  int64_t column_behind(int64_t column) const;
  // So many rows of MCUs from the top are known to be undamaged.
  int64_t rows_read() const {
    return is_whole_ ? down_ : std::max<int64_t>(count() - 1, 0) / places_of_row();
  }
  // All of the file is known to be undamaged: it ends behind its last MCU, as it should.
  bool is_whole() const { return is_whole_; }

  // How far it reaches: the number of the MCU of its last place; -1: nowhere.
  int64_t last_mcu() const { return count() ? place(count() - 1).mcu : -1; }

  // The same with fewer places: at least `every` MCUs apart, or, where these are not among its own,
  // for each row alone, as with 0.
  EntropyIndex thinned(int every) const;
  // What becomes of an `every` so.
  static int thinned(int own, int every) {
    return own >= every && every > 0 ? own : own > 0 && every % own == 0 ? every : 0;
  }

  // Adds the place with the number count(). False if it cannot be kept; then nothing is added.
  bool add(const ScanPlace& place);
  // Requires: has_all_places(), and the file was read to its end.
  void set_whole() { is_whole_ = true; }

  size_t memory() const { return sizeof *this + words_.capacity() * sizeof(uint16_t); }  // bytes

  // The bytes to save. In them, numbers are little-endian.
  std::vector<uint8_t> saved() const;
  // What saved() gave. Throws SampleError if the bytes are anything else.
  static EntropyIndex of_saved(std::span<const uint8_t> bytes);

 private:
  EntropyIndex() = default;
  int64_t places_of_row() const { return every_ ? (across_ + every_ - 1) / every_ : 1; }
  int64_t words_of_place() const { return 2 + components_; }
  void check_places(ForeignBytes& b) const;

  FileKey key_;
  int components_ = 0, every_ = 0;
  int64_t across_ = 0, down_ = 0;  // MCUs
  bool is_whole_ = false;
  // Of each place: the number of the bit in the file, in two words, and the last DC coefficients.
  std::vector<uint16_t> words_;
};

}  // namespace stoker
