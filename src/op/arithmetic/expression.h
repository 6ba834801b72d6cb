// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The expressions of the operator `arithmetic`: their text, and what it becomes for given types.
//
// Note [Expressions]
// A text is an input (x0, x1, ...), a number, an operation in parentheses or a call:
//   ((x0 - x1) * 2.5)   (-x0)   min(x0, x1)   where((x0 < 3), x0, int8(3))
// Whole numbers are int32, or int64 where they need it; numbers with a point or an exponent are
// float32, and so are inf and nan. The name of a dtype as a call gives a number another type. The
// text is foreign, as saved graphs are: its length, depth and operations are bounded.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "base/types.h"
#include "kernels/elements/operations.h"
#include "op/context.h"

namespace stoker {

// An expression as it was read. Operands come before what uses them.
struct Expression {
  static constexpr size_t kMostText = 16384, kMostTerms = 256;
  static constexpr int kMostDepth = 48;

  struct Term {
    int word = -1;  // of an operation: its place in the table of words
    int operands[3] = {-1, -1, -1};  // places of terms
    int input = -1;  // of an input: its number
    DType dtype = DType::kNone;  // of a number: its type and the value's bits
    uint64_t bits = 0;
  };
  std::vector<Term> terms;  // the last one is the result

  static Expression read(const std::string& text);  // throws WrongCall
  size_t input_count() const;  // one more than the largest number of an input
};

// A step of a machine that works on each element. The values on its stack are computed_as() types.
struct Instruction {
  enum class Kind : uint8_t {
    kInput,  // pushes element of input `index`, converted to `type`
    kNumber,  // pushes `bits`, of `type`
    kConvert,  // brings the value on top from type `from` to `type`
    kWork,  // pops the operands of `operation`, on values of `type`, and pushes the result
  };
  Kind kind = Kind::kWork;
  Operation operation = Operation::kCopy;
  DType type = DType::kFloat32, from = DType::kFloat32;
  bool same_bits = false;  // of an input: converted by taking over its bits
  bool checks_divisor = false;  // an operation of whole numbers that refuses 0 as its last operand
  int index = 0;
  uint64_t bits = 0;
};

inline constexpr int kMostStack = 3 * Expression::kMostDepth;

struct Compiled {
  std::vector<Instruction> instructions;
  DType dtype = DType::kFloat32;  // of the result
  DType stored = DType::kFloat32;  // of the result on the stack
  int depth = 0;  // of the stack
};

// Throws WrongCall where there is no such operation on these types.
Compiled compile(const Expression& e, std::span<const DType> inputs);
// The type of each term. Throws as compile().
std::vector<DType> types_of_terms(const Expression& e, std::span<const DType> inputs);

// An input in another type, as `cast` converts it.
Compiled converted(int input, DType to);
Compiled number(double value, DType type);

// The type to which the values of two types are brought.
DType promoted(DType a, DType b);

// An operation with a number on one side. A line of them is (value * mul / div + add), in float32.
struct LinearStep {
  char operation = '+';  // + * /
  float number = 0;
};
// The steps from input 0 of type `in` to the result. False unless all are of that kind, and all
// values in between are float32.
bool is_linear(const Expression& e, DType in, std::vector<LinearStep>& steps);
// Adds the steps as the fewest blocks that have the same bits.
void add_blocks(std::span<const LinearStep> steps, Lowering& l);

}  // namespace stoker
