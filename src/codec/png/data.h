// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The data of a PNG's IDAT chunks, inflated by ISA-L in the order in which it is asked for.
#pragma once
#include <isa-l/igzip_lib.h>

#include <array>
#include <string>

#include "codec/png/header.h"

namespace stoker {

// Note [How far PNG data is read]
// Data is inflated in pieces that do not depend on how much of it will be wanted, so that damage is
// met at the same byte by every reader of the file.
class PngData {
 public:
  // Begins with the chunk at `at`. `size` is all that the picture needs, `longest` the most that is
  // taken at once. With `tolerate_corrupt`, no checksum is looked at. Memory comes from `scratch`.
  // Requires: the file outlives this; longest <= size.
  PngData(EncodedSpan file, size_t at, int64_t size, int64_t longest, bool tolerate_corrupt,
          Arena& scratch);

  // The next bytes, valid until the next call; 8 more can be read. Null when the data fails before.
  const uint8_t* take(int64_t bytes);
  // Judges the end of the data, behind the picture, and its checksum. False when that fails.
  bool finish();
  // Why take() or finish() failed.
  [[noreturn]] void raise() const;
  // For damage that only the reader of the data sees.
  void fail(const std::string& what);

 private:
  void inflate();
  uint8_t* inflate_to(uint8_t* to, size_t room);
  bool next_chunk();
  void read_zlib_header();

  EncodedSpan file_;
  size_t next_;  // the next chunk
  bool checks_;
  size_t left_;  // of the picture's bytes, not yet inflated
  size_t room_;  // for inflated bytes
  uint8_t* buffer_;
  uint8_t *first_, *last_;  // inflated and not yet taken
  inflate_state* state_;
  static constexpr size_t kZlibHeader = 2;
  std::array<uint8_t, kZlibHeader> header_{};
  size_t header_bytes_ = 0;  // that were read
  std::string failure_;  // "" while all is well
  size_t failed_at_ = 0;
};

}  // namespace stoker
