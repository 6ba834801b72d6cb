// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Arguments of operators, drawn from their schema: types, ranges, defaults and cases.
#pragma once
#include "../dice.h"
#include "op/type_of.h"

namespace stoker::torture {

// Mostly within the argument's range; with `odd` also far outside, or of another type.
Value draw_value(Dice& dice, const ArgumentInfo& argument, bool odd);

// Arguments of a case, or only the required ones, with some changed and others added.
Arguments draw_arguments(Dice& dice, const OperatorType& type);

// Numbers of moderate size that an argument takes, both ends included.
struct Moderate {
  double low, high;
  bool whole;
};
Moderate moderate(const ArgumentInfo& argument);

}  // namespace stoker::torture
