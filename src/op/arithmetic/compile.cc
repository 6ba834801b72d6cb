// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/arithmetic/expression.h"
#include "op/arithmetic/words.h"
#include "op/rules.h"

namespace stoker {

namespace {

using enum Operation;

bool is_float(DType t) { return info(t).is_float; }

DType floating(DType t) { return is_float(t) ? t : DType::kFloat32; }

class Compiler {
 public:
  Compiler(const Expression& e, std::span<const DType> inputs) : e_(e), inputs_(inputs) {}

  Compiled compile() {
    find_types();
    const int last = static_cast<int>(e_.terms.size()) - 1;
    push(last, types_[last]);
    made_.dtype = types_[last];
    made_.stored = computed_as(types_[last]);
    return std::move(made_);
  }

  // The type of each term.
  const std::vector<DType>& find_types() {
    for (const Expression::Term& t : e_.terms) {
      if (t.input >= 0) types_.push_back(inputs_[t.input]);
      else if (t.word < 0) types_.push_back(t.dtype);
      else types_.push_back(result_of(t));
    }
    return types_;
  }

 private:
  DType result_of(const Expression::Term& t) const {
    const Word& word = kWords[t.word];
    const DType common = operands_type(t);
    switch (word.typing) {
      case Typing::kNumber:
      case Typing::kClamp:
      case Typing::kFloating:
        require(common != DType::kBool, in_words(t),
                ": there is no such operation on bool; fn.cast makes numbers of truth values");
        return word.typing == Typing::kFloating ? floating(common) : common;
      case Typing::kWhole:
        require(!is_float(common), in_words(t), ": there is no such operation on floats");
        return common;
      case Typing::kTruth: return DType::kBool;
      default: return common;
    }
  }
  DType operands_type(const Expression::Term& t) const {
    const Word& word = kWords[t.word];
    const int first = word.typing == Typing::kWhere ? 1 : 0;
    DType common = types_[t.operands[first]];
    for (int k = first + 1; k < word.operands; ++k)
      common = promoted(common, types_[t.operands[k]]);
    return common;
  }
  // "uint8 + bool"
  std::string in_words(const Expression::Term& t) const {
    const Word& word = kWords[t.word];
    const auto type = [&](int k) { return std::string(name_of(types_[t.operands[k]])); };
    if (std::isalpha(static_cast<unsigned char>(word.text[0]))) {
      std::string text = std::string(word.text) + "(" + type(0);
      for (int k = 1; k < word.operands; ++k) text += ", " + type(k);
      return text + ")";
    }
    return word.operands == 1 ? word.text + type(0) : type(0) + " " + word.text + " " + type(1);
  }

  // Adds instructions that push a term as a value of a type.
  void push(int place, DType as) {
    const Expression::Term& t = e_.terms[place];
    Instruction i;
    i.type = computed_as(as);
    if (t.input >= 0) {
      i.kind = Instruction::Kind::kInput;
      i.index = t.input;
      i.same_bits = types_[place] == DType::kUint64 && as == DType::kInt64;
      i.same_bits |= types_[place] == as && as != DType::kBool && as != DType::kFloat16;
      add(i, 1);
      if (as == DType::kFloat16 && types_[place] != as) work(kRoundHalf, as);
    } else if (t.word < 0) {
      push_number(t, as);
    } else {
      push_result(t, types_[place]);
      convert(types_[place], as);
    }
  }

  void push_number(const Expression::Term& t, DType as) {
    Instruction i;
    i.kind = Instruction::Kind::kNumber;
    i.type = computed_as(as);
    if (t.dtype == DType::kUint64 && as == DType::kInt64) i.bits = t.bits;
    else convert_row(&t.bits, computed_as(t.dtype), 8, &i.bits, computed_as(as), 8, 1);
    add(i, 1);
    if (as == DType::kFloat16 && t.dtype != as) work(kRoundHalf, as);
  }

  void push_result(const Expression::Term& t, DType result) {
    const Word& word = kWords[t.word];
    const DType common = operands_type(t);
    if (word.typing == Typing::kTruth) return push_comparison(t, word, common);
    if (word.typing == Typing::kWhere) {
      push(t.operands[0], types_[t.operands[0]]);
      truth(types_[t.operands[0]]);
      push(t.operands[1], result);
      push(t.operands[2], result);
      return work(kSelect, result);
    }
    // Whole numbers that float32 cannot hold keep their remainder.
    const bool is_double = word.operation == kRemainder && result == DType::kFloat32 &&
                           (is_large(t.operands[0]) || is_large(t.operands[1]));
    if (is_double) {
      for (int k = 0; k < 2; ++k) push(t.operands[k], DType::kFloat64);
      work(kRemainder, DType::kFloat64);
      return convert(DType::kFloat64, result);
    }
    for (int k = 0; k < word.operands; ++k) {
      push(t.operands[k], result);
      if (word.typing == Typing::kClamp && k == 1) work(kMax, result);
    }
    if (word.operation == kInvert && result == DType::kBool) return work(kOpposite, result);
    if (word.operation == kCopy) return;
    work(word.operation, result);
    if (result == DType::kBool && word.operation == kShiftLeft) work(kTruth, result);
  }

  // Whether the term may be a whole number that float32 cannot hold.
  bool is_large(int place) const {
    const Expression::Term& t = e_.terms[place];
    if (is_float(types_[place]) || is_narrow(types_[place])) return false;
    const auto number = static_cast<int64_t>(t.bits);
    const bool is_small = t.dtype == DType::kInt32 && std::abs(number) <= (int64_t{1} << 24);
    return t.input >= 0 || t.word >= 0 || !is_small;
  }

  void push_comparison(const Expression::Term& t, const Word& word, DType common) {
    const DType a = types_[t.operands[0]], b = types_[t.operands[1]];
    const bool is_mixed = common == DType::kInt64 && (a == DType::kUint64 || b == DType::kUint64);
    if (!is_mixed) {
      push(t.operands[word.is_swapped], common);
      push(t.operands[!word.is_swapped], common);
      return work(word.operation, common);
    }
    const bool unsigned_is_left = a == DType::kUint64;
    push(t.operands[!unsigned_is_left], DType::kUint64);
    push(t.operands[unsigned_is_left], DType::kInt64);
    work(mixed(word.operation, word.is_swapped == unsigned_is_left), DType::kUint64);
  }
  static Operation mixed(Operation o, bool is_swapped) {
    switch (o) {
      case kEqual: return kMixedEqual;
      case kUnequal: return kMixedUnequal;
      case kLess: return is_swapped ? kMixedGreater : kMixedLess;
      default: return is_swapped ? kMixedGreaterEqual : kMixedLessEqual;
    }
  }

  // Turns the value on top into another type. Whole numbers only widen.
  void convert(DType from, DType to) {
    if (from == to || (from == DType::kUint64 && to == DType::kInt64)) return;
    Instruction i;
    i.kind = Instruction::Kind::kConvert;
    i.from = computed_as(from);
    i.type = computed_as(to);
    if (i.from != i.type) add(i, 0);
    if (to == DType::kFloat16) work(kRoundHalf, to);
  }
  void truth(DType t) {
    if (t != DType::kBool) work(kTruth, t);
  }
  void work(Operation o, DType t) {
    Instruction i;
    i.operation = o;
    i.type = computed_as(t);
    i.checks_divisor = (o == kDivide || o == kRemainder) && !is_float(t);
    add(i, 1 - operands_of(o));
    const bool rounds = t == DType::kFloat16 && o != kRoundHalf && !is_truth(o);
    if (rounds) work(kRoundHalf, t);
  }
  static bool is_truth(Operation o) { return o == kTruth || (o >= kEqual && o <= kLessEqual); }
  void add(const Instruction& i, int more) {
    made_.instructions.push_back(i);
    stack_ += more;
    made_.depth = std::max(made_.depth, stack_);
  }

  const Expression& e_;
  std::span<const DType> inputs_;
  std::vector<DType> types_;
  Compiled made_;
  int stack_ = 0;
};

Compiled alone(Instruction i, DType type) {
  i.type = type;
  return {{i}, type, type, 1};
}

}  // namespace

Compiled compile(const Expression& e, std::span<const DType> inputs) {
  return Compiler(e, inputs).compile();
}

std::vector<DType> types_of_terms(const Expression& e, std::span<const DType> inputs) {
  return Compiler(e, inputs).find_types();
}

Compiled converted(int input, DType to) {
  return alone({.kind = Instruction::Kind::kInput, .index = input}, to);
}

Compiled number(double value, DType type) {
  Instruction i{.kind = Instruction::Kind::kNumber};
  convert_row(&value, DType::kFloat64, &i.bits, type, 1);
  return alone(i, type);
}

DType promoted(DType a, DType b) {
  if (a == b || b == DType::kBool) return a;
  if (a == DType::kBool) return b;
  if (is_float(a) != is_float(b)) return is_float(a) ? a : b;
  if (is_float(a) || info(a).is_signed == info(b).is_signed)
    return size_of(a) >= size_of(b) ? a : b;
  const DType with_sign = info(a).is_signed ? a : b, without = info(a).is_signed ? b : a;
  if (size_of(with_sign) > size_of(without)) return with_sign;
  switch (size_of(without)) {
    case 1: return DType::kInt16;
    case 2: return DType::kInt32;
    default: return DType::kInt64;
  }
}

}  // namespace stoker
