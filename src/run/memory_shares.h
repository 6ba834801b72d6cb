// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// How `memory_limit` is divided. Messages take the words for a share from here.
#pragma once
#include <cstdint>
#include <string>

namespace stoker {

struct MemoryShare {
  int64_t parts, of_so_many;
  const char* words;

  constexpr int64_t of(int64_t limit) const { return limit / of_so_many * parts; }
  // The least limit of which this share has so many bytes.
  constexpr size_t limit_for(size_t bytes) const {
    return bytes * static_cast<size_t>(of_so_many) / static_cast<size_t>(parts);
  }
  // "half of memory_limit"
  std::string in_words() const { return std::string(words) + " of memory_limit"; }
};

// Note [Shares of the budget]
// The shares are fixed, so that no part can starve another. Reading ahead and copies of what is fed
// have one share, in equal parts if a pipeline does both.
struct MemoryShares {
  static constexpr MemoryShare kBatches{1, 2, "half"};
  static constexpr MemoryShare kScratch{3, 8, "three eighths"};  // of the workers
  static constexpr MemoryShare kAhead{1, 8, "an eighth"};
};

}  // namespace stoker
