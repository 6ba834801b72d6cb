// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Bytes in memory as libraries read files, with a number replaced where the header's is wrong.
#pragma once
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

#include "codec/codec.h"

namespace stoker {

// Four bytes that a reader sees in the place of those at `at`.
struct Patch {
  int64_t at = 0;
  std::array<uint8_t, 4> bytes = {};
};

struct BytesAsFile {
  EncodedSpan bytes;
  int64_t at = 0;
  const Patch* patch = nullptr;  // null: none

  int64_t size() const { return static_cast<int64_t>(bytes.size()); }
  // As lseek(), but never beyond the ends.
  int64_t seek(int64_t offset, int whence) {
    const int64_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? at : size();
    return at = std::clamp<int64_t>(from + offset, 0, size());
  }
  int64_t read(void* to, int64_t count) {
    count = std::clamp<int64_t>(count, 0, size() - at);
    std::memcpy(to, bytes.data() + at, static_cast<size_t>(count));
    for (int64_t i = 0; patch && i < 4; ++i) {
      const int64_t place = patch->at + i - at;
      if (place >= 0 && place < count) static_cast<uint8_t*>(to)[place] = patch->bytes[size_t(i)];
    }
    at += count;
    return count;
  }
};

}  // namespace stoker
