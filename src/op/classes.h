// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What operators make of class numbers.
//
// Note [Class numbers]
// The numbers of a mask name classes: 7 is no nearer to 8 than to 200, and what lies between two
// classes is neither. When the graph is checked it is known which data holds such numbers: a
// decoder with output_type=CLASSES says so, or fn.as_classes. The graph carries it along, and each
// operator says, by a member `kClasses`, what it makes of them. An operator that says nothing is
// refused there, as most would mix or change the numbers. Whoever means quantities casts first. One
// that keeps them may have take_classes(), which chooses arguments that do, or refuses those that
// do not (op/resize/warp_arguments.h); fill values need require_class_fill(). The conformance tests
// hold an operator to its word.
#pragma once
#include <cmath>

#include "op/context.h"
#include "op/rules.h"

namespace stoker {

enum class Classes : uint8_t {
  kRefused,  // makes no sense of them
  kRead,  // what it makes is no longer class numbers, such as sums, comparisons and casts
  kKept,  // the first output holds those of the inputs, each as it was, and fill values
  kRenamed,  // the first output holds others, by a table
  kMade,  // the first output holds class numbers, whatever the input holds
};

constexpr bool is_class_dtype(DType t) {
  return !info(t).is_float && t != DType::kBool && t != DType::kNone;
}

constexpr bool holds_numbers(DType to, DType from) {
  const auto digits = [](DType t) {
    if (t == DType::kFloat16) return 11;
    if (t == DType::kFloat32) return 24;
    if (t == DType::kFloat64) return 53;
    return t == DType::kBool ? 1 : 8 * size_of(t) - info(t).is_signed;
  };
  const bool has_signs = info(to).is_signed || !info(from).is_signed;
  const bool has_fractions = info(to).is_float || !info(from).is_float;
  return has_signs && has_fractions && digits(to) >= digits(from);
}

// For `take_classes` of operators. Throws WrongCall unless the argument fills with class numbers
// that the first input's dtype holds.
inline void require_class_fill(const Checker& c, const char* argument, const Small<float>& values) {
  require(!c.is_computed(argument), "the input holds class numbers, so argument '", argument,
          "' expects a constant");
  const DType t = c.in().dtype;
  const double most = full_intensity(t), least = info(t).is_signed ? -most - 1 : 0;
  for (const float v : values) {
    const bool fits = info(t).is_float || (v >= least && v <= most);
    require(fits && std::floor(v) == v, "the input holds class numbers, so argument '", argument,
            "' expects whole numbers that ", name_of(t), " holds, such as 0 or 255, got ", v);
  }
}

}  // namespace stoker
