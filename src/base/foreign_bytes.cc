// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "base/foreign_bytes.h"

#include "base/error.h"

namespace stoker {

void ForeignBytes::refuse(const Words& words, const std::string& what, size_t at) {
  throw SampleError(std::string(words.damaged) + ": " + what, static_cast<int64_t>(at));
}

void ForeignBytes::refuse(const Words& words, uint64_t wanted, size_t left, size_t end) {
  if (words.ended) throw SampleError(words.ended, static_cast<int64_t>(end));
  refuse(words, "expected " + std::to_string(wanted) + " more bytes, found " + std::to_string(left),
         end);
}

}  // namespace stoker
