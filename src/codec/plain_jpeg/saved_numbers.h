// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes what ForeignBytes reads: little-endian numbers, one behind the other.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace stoker {

class SavedNumbers {
 public:
  template <class T>
  void number(T v) {
    for (size_t i = 0; i < sizeof(T); ++i)
      bytes_.push_back(static_cast<uint8_t>(static_cast<uint64_t>(v) >> 8 * i));
  }
  void text(std::string_view s) { bytes_.insert(bytes_.end(), s.begin(), s.end()); }
  void bytes(std::span<const uint8_t> b) { bytes_.insert(bytes_.end(), b.begin(), b.end()); }
  std::span<const uint8_t> written() const { return bytes_; }
  std::vector<uint8_t> take() && { return std::move(bytes_); }

 private:
  std::vector<uint8_t> bytes_;
};

}  // namespace stoker
