// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "io/paths/glob.h"

#include <algorithm>

namespace stoker::io {

Glob::Glob(std::string pattern, bool case_sensitive)
    : pattern_(std::move(pattern)),
      case_sensitive_(case_sensitive),
      only_suffix_(!pattern_.empty() && pattern_[0] == '*' &&
                   pattern_.find_first_of("*?[", 1) == std::string::npos) {}

char Glob::folded(char c) const {
  return !case_sensitive_ && c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool Glob::suffix_matches(std::string_view name) const {
  const std::string_view suffix = std::string_view(pattern_).substr(1);
  if (name.size() < suffix.size()) return false;
  name.remove_prefix(name.size() - suffix.size());
  return std::equal(name.begin(), name.end(), suffix.begin(),
                    [&](char a, char b) { return folded(a) == folded(b); });
}

// Whether the element of the pattern at `at` matches c. If so, moves `at` behind it. Requires: the
// element is not *.
bool Glob::one_matches(size_t& at, char c) const {
  const char p = pattern_[at];
  const bool negated = p == '[' && at + 1 < pattern_.size() && pattern_[at + 1] == '!';
  const size_t first = at + 1 + negated;
  const size_t close =
      p == '[' && first < pattern_.size() ? pattern_.find(']', first + 1) : std::string::npos;
  if (close == std::string::npos) {
    if (p != '?' && folded(p) != folded(c)) return false;
    ++at;
    return true;
  }
  bool found = false;
  for (size_t i = first; i < close; ++i) {
    const bool range = i + 2 < close && pattern_[i + 1] == '-';
    const auto low = static_cast<unsigned char>(folded(pattern_[i]));
    const auto high = static_cast<unsigned char>(folded(pattern_[range ? i + 2 : i]));
    const auto wanted = static_cast<unsigned char>(folded(c));
    found |= low <= wanted && wanted <= high;
    i += range ? 2 : 0;
  }
  if (found == negated) return false;
  at = close + 1;
  return true;
}

bool Glob::matches(std::string_view name) const {
  if (only_suffix_) return suffix_matches(name);
  // On a mismatch the last * takes one byte more. Earlier ones never need to.
  size_t at = 0, n = 0, star = std::string::npos, star_name = 0;
  while (n < name.size()) {
    if (at < pattern_.size() && pattern_[at] == '*') {
      star = ++at;
      star_name = n;
    } else if (at < pattern_.size() && one_matches(at, name[n])) {
      ++n;
    } else if (star != std::string::npos) {
      at = star;
      n = ++star_name;
    } else {
      return false;
    }
  }
  while (at < pattern_.size() && pattern_[at] == '*') ++at;
  return at == pattern_.size();
}

std::vector<Glob> globs_of(const std::vector<std::string>& patterns, bool case_sensitive) {
  std::vector<Glob> all;
  for (const std::string& p : patterns) all.emplace_back(p, case_sensitive);
  return all;
}

bool any_matches(const std::vector<Glob>& globs, std::string_view name) {
  return std::any_of(globs.begin(), globs.end(), [&](const Glob& g) { return g.matches(name); });
}

}  // namespace stoker::io
