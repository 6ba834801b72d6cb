// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs a trial in all its ways, in this process, and says what is wrong.
#pragma once
#include <functional>
#include <optional>

#include "../trial.h"

namespace stoker::torture {

enum class Wrong : int { kNothing, kOther, kError, kLeft, kGrowth, kCrash, kHang, kMemory };
// "other samples than the simple executor's" and so on.
const char* in_words(Wrong wrong);

struct Complaint {
  Wrong wrong = Wrong::kNothing;
  std::string text;
};

// `begin_way` is called before each run of a pipeline.
Complaint examine(const Trial& trial, const std::function<void()>& begin_way);

}  // namespace stoker::torture
