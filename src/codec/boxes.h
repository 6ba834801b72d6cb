// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The boxes of ISO's media format (ISO/IEC 14496-12), which AVIF, HEIF and JP2 files are made of.
//
//   size:4 type:4 | data                       the size counts the whole box
//   1:4    type:4 size:8 | data                a box that may be larger than 4 GB
//   0:4    type:4 | data                       it goes on to the end of what holds it
//   size:4 "uuid" | uuid:16 data               its type has 16 bytes
//   size:4 type:4 | version:1 flags:3 data     a full box: some types are, and some are not
//
// All numbers are big-endian. What data holds depends on the type, and may be boxes again.
#pragma once
#include "base/foreign_bytes.h"

namespace stoker {

struct Box {
  size_t at = 0;  // where it begins
  std::string_view type;  // of 4 bytes
  ForeignBytes data;  // less than the size says where what holds the box ends before
  bool is_whole = true;
};

struct FullBoxHead {
  uint8_t version = 0;
  uint32_t flags = 0;
};
// Takes what stands first in the data of a full box. Throws SampleError where the data ends before.
FullBoxHead take_full_box_head(ForeignBytes& data);
// The same for the 16 bytes of the type of a "uuid".
std::string_view take_uuid(ForeignBytes& data);

// Walks over boxes that lie one behind the other: for (Box box; boxes.next(box);)
class Boxes {
 public:
  // Requires: the bytes are big-endian.
  explicit Boxes(ForeignBytes bytes) : bytes_(bytes) {}

  // Sets the next box. False behind the last one, and where the bytes cannot begin one.
  bool next(Box& box);
  // Whether the bytes end within what says the type and the size of a box.
  bool ends_in_head() const { return fault_ == Fault::kCut; }
  // Once there is no next box: throws SampleError unless the bytes end there.
  void require_end() const;

 private:
  enum class Fault : uint8_t { kNone, kCut, kTooSmall };
  bool stop(Fault fault) {
    fault_ = fault;
    return false;
  }

  ForeignBytes bytes_;
  Fault fault_ = Fault::kNone;
};

inline bool Boxes::next(Box& box) {
  constexpr uint64_t kHalf = 8;  // of a long head; a short one is no longer
  if (bytes_.left() == 0 || fault_ != Fault::kNone) return false;
  if (!bytes_.has(kHalf)) return stop(Fault::kCut);
  box.at = bytes_.at();
  uint64_t size = bytes_.u32(), head = kHalf;
  box.type = bytes_.text(4);
  if (size == 1) {
    if (!bytes_.has(kHalf)) return stop(Fault::kCut);
    size = bytes_.u64();
    head += kHalf;
  }
  if (size == 0) size = head + bytes_.left();
  if (size < head) return stop(Fault::kTooSmall);
  box.is_whole = bytes_.has(size - head);
  box.data = bytes_.part(size - head);
  return true;
}

}  // namespace stoker
