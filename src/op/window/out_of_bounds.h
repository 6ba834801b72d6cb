// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "op/classes.h"
#include "op/schema.h"

namespace stoker {

enum class OutOfBounds : uint8_t { kError, kPad, kTrim };
template <>
struct EnumNames<OutOfBounds> {
  static constexpr const char* kType = "str";
  static constexpr const char* kNames[] = {"error", "pad", "trim_to_shape"};
};

struct OutOfBoundsArguments {
  OutOfBounds out_of_bounds_policy = OutOfBounds::kError;
  Small<float> fill_values = {0};

  static constexpr Classes kClasses = Classes::kKept;
  void take_classes(const Checker& c) { require_class_fill(c, "fill_values", fill_values); }
};
inline constexpr auto kOutOfBoundsArguments = std::tuple{
    arg(&OutOfBoundsArguments::out_of_bounds_policy, "out_of_bounds_policy",
        "What to do with a window that reaches outside the input: 'error' refuses it, 'pad' fills "
        "with fill_values, 'trim_to_shape' cuts off the part outside."),
    arg(&OutOfBoundsArguments::fill_values, "fill_values",
        "Values for what lies outside, in the output's dtype: one for all, or one per channel of "
        "the window."),
};

// The window after the policy, which is 'error' if an operator has no such argument. Under 'error',
// throws WrongCall that ends with the hint when `w` reaches outside `in`.
Window settle(const Window& w, const TensorType& in, std::optional<OutOfBounds> policy,
              const std::string& hint = "");

// Cuts a settled window out of `in`. Throws WrongCall unless fill values are one, or one a channel.
Gather cut(const Window& w, const TensorType& in, const Small<float>& fill_values);

bool reaches_outside(const Window& w, const Shape& full);

}  // namespace stoker
