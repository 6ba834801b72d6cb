// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The MCUs of a plain file, one behind the other: free of stuffing and of restart markers.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "codec/plain_jpeg/frame.h"
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
  // Requires: bytes, frame and scratch outlive this, and scratch is not reset.
  ScanReader(std::span<const uint8_t> bytes, const PlainFrame& frame, Arena& scratch);
  // Goes to a place. Requires: it lies in the file.
  void start(const ScanPlace& place);
  int64_t mcu() const { return mcu_; }  // the number of the next one
  // Where the next MCU begins, behind any restart marker before it. Returns false where that is not
  // as in undamaged plain files. Requires: an MCU follows.
  [[nodiscard]] bool find_place(ScanPlace& place);
  int32_t* predictor(int component) { return &predictors_[static_cast<size_t>(component)]; }

  // Reads MCUs of a row, as jpeg::read_mcus(). False at what undamaged plain files do not have.
  [[nodiscard]] bool read(const jpeg::Mcu& mcu, int64_t begin, int64_t end);
  // Whether the last MCU of the picture, which was read, is followed by the end of the file's data.
  [[nodiscard]] bool is_at_end();

 private:
  bool pass_marker();
  bool leads_to_marker();
  uint8_t marker() const;
  const uint8_t* find_loaded(size_t offset);
  void load_from(size_t offset);
  void load();

  std::span<const uint8_t> bytes_;
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
