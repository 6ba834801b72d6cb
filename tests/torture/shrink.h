// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes a trial smaller as long as the same is wrong with it.
#pragma once
#include <functional>

#include "trial.h"

namespace stoker::torture {

// All trials that are one small step simpler, the largest steps first. Not all of them can be run.
std::vector<Trial> simpler(const Trial& trial);

// `is_same` says whether a simpler trial shows the same.
Trial shrunk(Trial trial, const std::function<bool(const Trial&)>& is_same);

}  // namespace stoker::torture
