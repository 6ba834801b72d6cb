// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// How whatever comes from outside must be refused. Targets copy what they get, so that the address
// sanitizer sees any read behind its end.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <typeinfo>

#include "base/error.h"

namespace stoker::fuzz {

inline std::string_view text_of(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Puts blanks in place of escaped bytes: the digits of "\xfb" are no part of the word
// "\xfbasic_string".
inline std::string without_escapes(std::string_view message) {
  std::string text(message);
  for (size_t at = text.find("\\x"); at != text.npos; at = text.find("\\x", at + 1))
    std::fill_n(text.begin() + static_cast<int64_t>(at), std::min<size_t>(4, text.size() - at),
                ' ');
  return text;
}

// Whether the message says something in Stoker's own words. Quotes of the input may be anything.
inline bool is_own_words(std::string_view message, std::string_view input) {
  const std::string said = without_escapes(message);
  for (const char* word : {"json.exception", "nlohmann", "std::", "basic_string", "vector::"})
    if (said.find(word) != said.npos && input.find(word) == input.npos) return false;
  return !message.empty() && is_utf8(message);
}

// The error must be in Stoker's own words, and its offset, if any, must lie in the file.
inline void check_refusal(const SampleError& e, std::span<const uint8_t> file) {
  if (e.offset > static_cast<int64_t>(file.size())) std::abort();
  if (!is_own_words(e.what(), text_of(file.data(), file.size()))) std::abort();
}

// Whether f takes the input. It may refuse it only by an E with a fit message, and not by a plain
// Error, which tells no user what to do. Any other exception ends the program.
template <class E, class F>
bool accepts(std::string_view input, const F& f) {
  try {
    f();
    return true;
  } catch (const E& e) {
    if (typeid(e) == typeid(Error) || !is_own_words(e.what(), input)) std::abort();
    return false;
  }
}

}  // namespace stoker::fuzz
