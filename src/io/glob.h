// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Name patterns, without a locale: * any run, ? any byte, [a-z] one of, [!a-z] one of the others,
// the rest itself. Immutable; thread-safe.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace stoker::io {

class Glob {
 public:
  // Case is that of ASCII letters. A [ without its ] means itself.
  Glob(std::string pattern, bool case_sensitive);
  bool matches(std::string_view name) const;
  const std::string& pattern() const { return pattern_; }

 private:
  char folded(char c) const;
  bool one_matches(size_t& at, char c) const;
  bool suffix_matches(std::string_view name) const;

  std::string pattern_;
  bool case_sensitive_;
  bool only_suffix_;  // *.jpg and the like, the usual ones
};

bool any_matches(const std::vector<Glob>& globs, std::string_view name);

}  // namespace stoker::io
