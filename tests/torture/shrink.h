// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes a trial smaller as long as the same is wrong with it.
#pragma once
#include <functional>

#include "trial.h"

namespace stoker::torture {

// All trials that are one small step simpler, the largest steps first. Some cannot be run.
std::vector<Trial> simpler(const Trial& trial);

Trial shrunk(Trial trial, const std::function<bool(const Trial&)>& is_same);

}  // namespace stoker::torture
