// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What becomes of bad samples: the setting `on_error`, and what follows from it.
#pragma once
#include "op/type_of.h"

namespace stoker {

enum class OnError : uint8_t { kRaise, kSkip, kReplace, kDrop };
template <>
struct EnumNames<OnError> {
  static constexpr const char* kType = "OnError";
  static constexpr const char* kNames[] = {"raise", "skip", "replace", "drop"};
};

// Who does something about bad samples asks this instead of comparing values of `on_error`.
struct ErrorPolicy {
  OnError on_error = OnError::kRaise;

  const char* name() const { return EnumNames<OnError>::kNames[static_cast<size_t>(on_error)]; }
  // Whether a bad sample is no error, as long as its batch can be handed out.
  bool continues() const { return on_error != OnError::kRaise; }
  bool leaves_samples_out() const {
    return on_error == OnError::kSkip || on_error == OnError::kDrop;
  }
  bool replaces_samples() const { return on_error == OnError::kReplace; }
  // Whether a step without a good sample is left out. Otherwise it is an error.
  bool drops_empty_steps() const { return on_error == OnError::kDrop; }
  // Leaves a step without a good sample in, as an error; else the same.
  ErrorPolicy without_dropping() const { return {drops_empty_steps() ? OnError::kSkip : on_error}; }
};

}  // namespace stoker
