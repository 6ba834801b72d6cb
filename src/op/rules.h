// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <initializer_list>
#include <string>
#include <type_traits>

#include "base/graph_fault.h"
#include "op/value.h"

namespace stoker {

// Note [Rules]
// The ranges of the schema need no code. Whatever else can be wrong is thrown by require() and
// require_count(), with the argument's name and what was found. check() runs first, once: a rule
// that is broken there becomes a GraphError. It sees only the default of an argument that another
// node computes. A rule that needs the value asks is_computed() there, and infer() checks it.
// infer(), lower() and the runs see the value of their sample: a rule that is broken there becomes
// a SampleError, which fails that sample alone.

// A call that breaks a rule of its operator.
struct WrongCall : Error {
  using Error::Error;
};

namespace detail {

// Texts as they are, all else as Python writes it.
template <class T>
std::string in_words(const T& x) {
  if constexpr (std::is_convertible_v<const T&, std::string_view>)
    return std::string(std::string_view(x));
  else if constexpr (std::is_same_v<T, char>) return {x};
  else if constexpr (std::is_same_v<T, Shape>) return x.str();
  else return to_string(to_value(x));
}

// "1 or 3", with each number once.
inline std::string alternatives(std::initializer_list<int64_t> numbers) {
  std::string words;
  for (const int64_t* n = numbers.begin(); n != numbers.end(); ++n)
    if (std::find(numbers.begin(), n, *n) == n)
      words += (words.empty() ? "" : " or ") + std::to_string(*n);
  return words;
}

}  // namespace detail

// Throws WrongCall with these words unless the rule holds.
template <class... Words>
void require(bool holds, const Words&... words) {
  if (!holds) throw WrongCall((detail::in_words(words) + ...));
}

// The number of the axis that `argument` gives, which counts from the end where it is negative.
// Requires that a tensor of `rank` axes has it.
inline int axis_numbered(const char* argument, int axis, int rank) {
  if (axis < -rank || axis >= rank)
    throw_fault<WrongCall>(Fault::kIndex, std::string("argument '") + argument + "' names axis " +
                                              std::to_string(axis) + " of a tensor of " +
                                              std::to_string(rank) + " axes");
  return axis < 0 ? axis + rank : axis;
}

// Throws WrongCall unless `list`, such as "argument 'mean'", has one of the `expected` numbers of
// values. `each` says what the values are for, such as "one per channel".
template <class... Words>
void require_count(const char* list, size_t count, std::initializer_list<int64_t> expected,
                   const Words&... each) {
  const auto* found = std::find(expected.begin(), expected.end(), static_cast<int64_t>(count));
  if (found != expected.end()) return;
  require(false, list, " has ", count, count == 1 ? " value" : " values", ", expected ",
          detail::alternatives(expected), ", ", each...);
}

}  // namespace stoker
