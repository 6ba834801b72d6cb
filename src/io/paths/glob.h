// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Name patterns, independent of the locale: * matches any run of bytes, ? any byte, [a-z] one of a
// set, [!a-z] one that is not in the set, and all else itself. Immutable.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace stoker::io {

class Glob {
 public:
  // Only ASCII letters have a case. A [ without its ] matches itself.
  Glob(std::string pattern, bool case_sensitive);
  bool matches(std::string_view name) const;
  const std::string& pattern() const { return pattern_; }

 private:
  char folded(char c) const;
  bool one_matches(size_t& at, char c) const;
  bool suffix_matches(std::string_view name) const;

  std::string pattern_;
  bool case_sensitive_;
  bool only_suffix_;  // the pattern is like *.jpg, as most are
};

std::vector<Glob> globs_of(const std::vector<std::string>& patterns, bool case_sensitive);
bool any_matches(const std::vector<Glob>& globs, std::string_view name);

}  // namespace stoker::io
