// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The operations of expressions, by the words for them.
#pragma once
#include "kernels/elements/operations.h"

namespace stoker {

// How the types of the operands and of the result follow.
enum class Typing : uint8_t {
  kSame,  // the operands' promoted type
  kNumber,  // the same, but not of truth values alone
  kWhole,  // the same, but of whole numbers and truth values only
  kFloating,  // as kNumber, but float32 in the place of whole numbers
  kTruth,  // compared in the promoted type
  kClamp,  // the promoted type of three, but not of truth values alone
  kWhere,  // the promoted type of the last two
};

struct Word {
  const char* text;
  int operands;
  Operation operation;
  Typing typing;
  bool is_swapped = false;  // the operands change places
};
inline constexpr Word kWords[] = {
    {"+", 2, Operation::kAdd, Typing::kNumber},
    {"-", 2, Operation::kSubtract, Typing::kNumber},
    {"*", 2, Operation::kMultiply, Typing::kSame},
    {"/", 2, Operation::kDivide, Typing::kFloating},
    {"//", 2, Operation::kDivide, Typing::kNumber},
    {"%", 2, Operation::kRemainder, Typing::kNumber},
    {"**", 2, Operation::kPower, Typing::kNumber},
    {"&", 2, Operation::kAnd, Typing::kWhole},
    {"|", 2, Operation::kOr, Typing::kWhole},
    {"^", 2, Operation::kXor, Typing::kWhole},
    {"<<", 2, Operation::kShiftLeft, Typing::kWhole},
    {">>", 2, Operation::kShiftRight, Typing::kWhole},
    {"==", 2, Operation::kEqual, Typing::kTruth},
    {"!=", 2, Operation::kUnequal, Typing::kTruth},
    {"<", 2, Operation::kLess, Typing::kTruth},
    {"<=", 2, Operation::kLessEqual, Typing::kTruth},
    {">", 2, Operation::kLess, Typing::kTruth, true},
    {">=", 2, Operation::kLessEqual, Typing::kTruth, true},
    {"+", 1, Operation::kCopy, Typing::kSame},
    {"-", 1, Operation::kMinus, Typing::kNumber},
    {"~", 1, Operation::kInvert, Typing::kWhole},
    {"abs", 1, Operation::kAbs, Typing::kNumber},
    {"fabs", 1, Operation::kAbs, Typing::kFloating},
    {"sqrt", 1, Operation::kSqrt, Typing::kFloating},
    {"rsqrt", 1, Operation::kRsqrt, Typing::kFloating},
    {"cbrt", 1, Operation::kCbrt, Typing::kFloating},
    {"exp", 1, Operation::kExp, Typing::kFloating},
    {"log", 1, Operation::kLog, Typing::kFloating},
    {"log2", 1, Operation::kLog2, Typing::kFloating},
    {"log10", 1, Operation::kLog10, Typing::kFloating},
    {"floor", 1, Operation::kFloor, Typing::kFloating},
    {"ceil", 1, Operation::kCeil, Typing::kFloating},
    {"sin", 1, Operation::kSin, Typing::kFloating},
    {"cos", 1, Operation::kCos, Typing::kFloating},
    {"tan", 1, Operation::kTan, Typing::kFloating},
    {"asin", 1, Operation::kAsin, Typing::kFloating},
    {"acos", 1, Operation::kAcos, Typing::kFloating},
    {"atan", 1, Operation::kAtan, Typing::kFloating},
    {"sinh", 1, Operation::kSinh, Typing::kFloating},
    {"cosh", 1, Operation::kCosh, Typing::kFloating},
    {"tanh", 1, Operation::kTanh, Typing::kFloating},
    {"asinh", 1, Operation::kAsinh, Typing::kFloating},
    {"acosh", 1, Operation::kAcosh, Typing::kFloating},
    {"atanh", 1, Operation::kAtanh, Typing::kFloating},
    {"pow", 2, Operation::kPower, Typing::kNumber},
    {"fpow", 2, Operation::kPower, Typing::kFloating},
    {"atan2", 2, Operation::kAtan2, Typing::kFloating},
    {"min", 2, Operation::kMin, Typing::kNumber},
    {"max", 2, Operation::kMax, Typing::kNumber},
    {"clamp", 3, Operation::kMin, Typing::kClamp},
    {"where", 3, Operation::kSelect, Typing::kWhere},
};

}  // namespace stoker
