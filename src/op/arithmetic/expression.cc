// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/arithmetic/expression.h"

#include <charconv>
#include <cstring>

#include "op/rules.h"

namespace stoker {

namespace {

using enum Operation;

// How the type of the operands and of the result follows.
enum class Typing : uint8_t {
  kSame,  // the operands' promoted type
  kNumber,  // the same, but not of truth values alone
  kWhole,  // the same, but of whole numbers and truth values only
  kFloating,  // the same, but float32 in the place of whole numbers
  kTruth,  // compared in the promoted type
  kClamp,  // the promoted type of three
  kWhere,  // the promoted type of the last two
};

struct Word {
  const char* text;
  int operands;
  Operation operation;
  Typing typing;
  bool is_swapped = false;  // the operands change places
};
constexpr Word kWords[] = {
    {"+", 2, kAdd, Typing::kNumber},         {"-", 2, kSubtract, Typing::kNumber},
    {"*", 2, kMultiply, Typing::kSame},      {"/", 2, kDivide, Typing::kFloating},
    {"//", 2, kDivide, Typing::kNumber},     {"%", 2, kRemainder, Typing::kNumber},
    {"**", 2, kPower, Typing::kNumber},      {"&", 2, kAnd, Typing::kWhole},
    {"|", 2, kOr, Typing::kWhole},           {"^", 2, kXor, Typing::kWhole},
    {"<<", 2, kShiftLeft, Typing::kWhole},   {">>", 2, kShiftRight, Typing::kWhole},
    {"==", 2, kEqual, Typing::kTruth},       {"!=", 2, kUnequal, Typing::kTruth},
    {"<", 2, kLess, Typing::kTruth},         {"<=", 2, kLessEqual, Typing::kTruth},
    {">", 2, kLess, Typing::kTruth, true},   {">=", 2, kLessEqual, Typing::kTruth, true},
    {"+", 1, kCopy, Typing::kSame},          {"-", 1, kMinus, Typing::kNumber},
    {"~", 1, kInvert, Typing::kWhole},       {"abs", 1, kAbs, Typing::kSame},
    {"fabs", 1, kAbs, Typing::kFloating},    {"sqrt", 1, kSqrt, Typing::kFloating},
    {"rsqrt", 1, kRsqrt, Typing::kFloating}, {"cbrt", 1, kCbrt, Typing::kFloating},
    {"exp", 1, kExp, Typing::kFloating},     {"log", 1, kLog, Typing::kFloating},
    {"log2", 1, kLog2, Typing::kFloating},   {"log10", 1, kLog10, Typing::kFloating},
    {"floor", 1, kFloor, Typing::kFloating}, {"ceil", 1, kCeil, Typing::kFloating},
    {"sin", 1, kSin, Typing::kFloating},     {"cos", 1, kCos, Typing::kFloating},
    {"tan", 1, kTan, Typing::kFloating},     {"asin", 1, kAsin, Typing::kFloating},
    {"acos", 1, kAcos, Typing::kFloating},   {"atan", 1, kAtan, Typing::kFloating},
    {"sinh", 1, kSinh, Typing::kFloating},   {"cosh", 1, kCosh, Typing::kFloating},
    {"tanh", 1, kTanh, Typing::kFloating},   {"asinh", 1, kAsinh, Typing::kFloating},
    {"acosh", 1, kAcosh, Typing::kFloating}, {"atanh", 1, kAtanh, Typing::kFloating},
    {"pow", 2, kPower, Typing::kNumber},     {"fpow", 2, kPower, Typing::kFloating},
    {"atan2", 2, kAtan2, Typing::kFloating}, {"min", 2, kMin, Typing::kSame},
    {"max", 2, kMax, Typing::kSame},         {"clamp", 3, kMin, Typing::kClamp},
    {"where", 3, kSelect, Typing::kWhere},
};
constexpr int kWordCount = static_cast<int>(std::size(kWords));

// Reads a text from left to right.
class Reader {
 public:
  explicit Reader(const std::string& text) : text_(text) {}

  Expression read() {
    require(text_.size() <= Expression::kMostText, "argument 'expression' has ", text_.size(),
            " characters, expected ", Expression::kMostText, " at most");
    term(0);
    skip();
    if (at_ != text_.size()) fail("nothing more");
    return std::move(made_);
  }

 private:
  int term(int depth) {
    require(depth < Expression::kMostDepth, "argument 'expression' is nested deeper than ",
            Expression::kMostDepth, " levels");
    require(made_.terms.size() < Expression::kMostTerms, "argument 'expression' has more than ",
            Expression::kMostTerms, " terms");
    skip();
    const char c = peek();
    if (c == '(') return in_parentheses(depth);
    if (is_digit(c) || c == '-') return add(number(DType::kNone));
    const std::string_view name = word();
    if (name.empty()) fail("an input, a number, an operation or a call");
    if (name == "inf" || name == "nan") {
      at_ -= name.size();
      return add(number(DType::kNone));
    }
    if (name[0] == 'x' && name.size() > 1 && is_digit(name[1])) return input(name);
    if (const DType t = dtype_named(name); t != DType::kNone) {
      expect('(');
      skip();
      const Expression::Term n = number(t);
      expect(')');
      return add(n);
    }
    return call(name, depth);
  }

  int in_parentheses(int depth) {
    expect('(');
    skip();
    Expression::Term t;
    if (const char c = peek(); (c == '-' || c == '+' || c == '~') && !begins_number()) {
      ++at_;
      t.word = named(std::string_view(&c, 1), 1);
      t.operands[0] = term(depth + 1);
    } else {
      t.operands[0] = term(depth + 1);
      skip();
      const size_t begin = at_;
      while (at_ < text_.size() && std::strchr("+-*/%&|^<>=!", text_[at_]) && at_ < begin + 2) {
        if (at_ > begin && (text_[at_] == '-' || text_[at_] == '+')) break;
        ++at_;
      }
      t.word = named(std::string_view(text_).substr(begin, at_ - begin), 2);
      if (t.word < 0) at_ = begin, fail("an operation");
      t.operands[1] = term(depth + 1);
    }
    expect(')');
    return add(t);
  }

  int call(std::string_view name, int depth) {
    expect('(');
    Expression::Term t;
    int count = 0;
    for (; count < 3; ++count) {
      if (count > 0) {
        skip();
        if (peek() != ',') break;
        ++at_;
      }
      t.operands[count] = term(depth + 1);
    }
    expect(')');
    t.word = named(name, count);
    require(t.word >= 0, "argument 'expression' calls ", name, " with ", count,
            " operands, which is not there");
    return add(t);
  }

  int input(std::string_view name) {
    Expression::Term t;
    const char* end = name.data() + name.size();
    const auto [ptr, error] = std::from_chars(name.data() + 1, end, t.input);
    if (error != std::errc() || ptr != end || t.input >= 1000) fail("an input such as x0");
    return add(t);
  }

  // Whether a number stands here, and no operation.
  bool begins_number() const {
    if (peek() != '-') return false;
    const size_t next = at_ + 1;
    return next < text_.size() && (is_digit(text_[next]) || text_.compare(next, 3, "inf") == 0);
  }

  Expression::Term number(DType type) {
    const size_t begin = at_;
    while (at_ < text_.size() && (is_digit(text_[at_]) || std::strchr("+-.einfa", text_[at_]))) {
      const bool is_sign = text_[at_] == '+' || text_[at_] == '-';
      if (is_sign && at_ > begin && text_[at_ - 1] != 'e') break;
      ++at_;
    }
    const std::string_view digits = std::string_view(text_).substr(begin, at_ - begin);
    const char *first = digits.data(), *last = first + digits.size();
    Expression::Term t;
    uint64_t positive = 0;
    int64_t whole = 0;
    double d = 0;
    const auto is = [&](auto& x) {
      const auto [ptr, error] = std::from_chars(first, last, x);
      return error == std::errc() && ptr == last;
    };
    const auto put = [&](auto x) { std::memcpy(&t.bits, &x, sizeof(x)); };
    if (is(whole)) {
      t.dtype = type != DType::kNone                   ? type
                : whole == static_cast<int32_t>(whole) ? DType::kInt32
                                                       : DType::kInt64;
      d = static_cast<double>(whole);
      positive = static_cast<uint64_t>(whole);
      const auto low = info(t.dtype).is_signed ? -full_intensity(t.dtype) - 1 : 0;
      if (!info(t.dtype).is_float && (d < low || d > full_intensity(t.dtype)))
        fail("a number that fits");
    } else if (type == DType::kUint64 && is(positive)) {
      t.dtype = type;
    } else if (digits.find_first_of(".en") != std::string_view::npos && is(d)) {
      t.dtype = type != DType::kNone ? type : DType::kFloat32;
      if (!info(t.dtype).is_float) fail("a whole number");
    } else {
      fail("a number");
    }
    with_type(computed_as(t.dtype), [&]<class T>(T) {
      if constexpr (std::is_same_v<T, float>)
        put(t.dtype == DType::kFloat16 ? to_float(to_half(d)) : static_cast<float>(d));
      else if constexpr (std::is_same_v<T, double>) put(d);
      else if constexpr (std::is_integral_v<T>) put(static_cast<T>(positive));
    });
    return t;
  }

  static int named(std::string_view text, int operands) {
    for (int i = 0; i < kWordCount; ++i)
      if (text == kWords[i].text && operands == kWords[i].operands) return i;
    return -1;
  }

  int add(const Expression::Term& t) {
    made_.terms.push_back(t);
    return static_cast<int>(made_.terms.size()) - 1;
  }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip() {
    while (peek() == ' ') ++at_;
  }
  void expect(char c) {
    skip();
    if (peek() != c || c == '\0') fail(std::string_view(&c, 1));
    ++at_;
  }
  std::string_view word() {
    const size_t begin = at_;
    while (is_digit(peek()) || (peek() >= 'a' && peek() <= 'z')) ++at_;
    return std::string_view(text_).substr(begin, at_ - begin);
  }
  [[noreturn]] void fail(std::string_view expected) const {
    const std::string rest = text_.substr(at_, 20);
    throw WrongCall("argument 'expression' expects " + std::string(expected) + " at character " +
                    std::to_string(at_) + ", got " +
                    (rest.empty() ? std::string("its end") : "'" + rest + "'"));
  }

  const std::string& text_;
  size_t at_ = 0;
  Expression made_;
};

bool is_float(DType t) { return info(t).is_float; }

DType floating(DType t) { return is_float(t) ? t : DType::kFloat32; }

// Makes the instructions of one term after the other.
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
        require(common != DType::kBool, in_words(t), ": there is no such operation on bool");
        return common;
      case Typing::kWhole:
        require(!is_float(common), in_words(t), ": there is no such operation on floats");
        return common;
      case Typing::kFloating:
        require(word.operands == 1 || word.operation != kDivide || !all_bool(t), in_words(t),
                ": there is no such operation on bool");
        return floating(common);
      case Typing::kTruth: return DType::kBool;
      default: return common;
    }
  }
  bool all_bool(const Expression::Term& t) const {
    return types_[t.operands[0]] == DType::kBool && types_[t.operands[1]] == DType::kBool;
  }
  DType operands_type(const Expression::Term& t) const {
    const Word& word = kWords[t.word];
    const int first = word.typing == Typing::kWhere ? 1 : 0;
    DType common = types_[t.operands[first]];
    for (int k = first + 1; k < word.operands; ++k)
      common = promoted(common, types_[t.operands[k]]);
    return common;
  }
  // For example "uint8 + bool".
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

  // Adds what pushes a term as a value of a type.
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
    // Whole numbers that float32 does not hold keep their remainder.
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

  // Whether the term may be a whole number that float32 does not hold.
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

  // The value on top becomes another type, to which whole numbers widen.
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

}  // namespace

Expression Expression::read(const std::string& text) { return Reader(text).read(); }

size_t Expression::input_count() const {
  int count = 0;
  for (const Term& t : terms) count = std::max(count, t.input + 1);
  return static_cast<size_t>(count);
}

Compiled compile(const Expression& e, std::span<const DType> inputs) {
  return Compiler(e, inputs).compile();
}

namespace {

Compiled alone(Instruction i, DType type) {
  i.type = type;
  return {{i}, type, type, 1};
}

}  // namespace

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

bool is_linear(const Expression& e, DType in, std::vector<LinearStep>& steps) {
  if (!is_narrow(in) || e.input_count() != 1) return false;
  Compiler compiler(e, std::span(&in, 1));
  const std::vector<DType>& types = compiler.find_types();
  // From the result down to the input.
  int place = static_cast<int>(e.terms.size()) - 1;
  std::vector<LinearStep> found;
  while (e.terms[place].input < 0) {
    const Expression::Term& t = e.terms[place];
    if (t.word < 0 || types[place] != DType::kFloat32) return false;
    const Word& word = kWords[t.word];
    const std::string_view text = word.text;
    if (word.operands == 1) {
      if (text == "-") found.push_back({'*', -1});
      else if (text != "+") return false;
      place = t.operands[0];
      continue;
    }
    if (word.operands != 2 || text.size() > 2) return false;
    const auto is_number = [&](int k) {
      const Expression::Term& o = e.terms[t.operands[k]];
      return o.input < 0 && o.word < 0;
    };
    if (is_number(0) == is_number(1)) return false;
    const int k = is_number(1) ? 1 : 0;
    const Expression::Term& constant = e.terms[t.operands[k]];
    float number = 0;
    convert_row(&constant.bits, computed_as(constant.dtype), 8, &number, DType::kFloat32, 4, 1);
    if (text == "+") {
      found.push_back({'+', number});
    } else if (text == "-") {
      found.push_back({'+', k == 1 ? -number : number});
      if (k == 0) found.push_back({'*', -1});
    } else if (text == "*") {
      found.push_back({'*', number});
    } else if ((text == "/" || text == "//") && k == 1) {
      found.push_back({'/', number});
    } else {
      return false;
    }
    place = t.operands[1 - k];
  }
  steps.assign(found.rbegin(), found.rend());
  return !steps.empty();
}

void add_blocks(std::span<const LinearStep> steps, Lowering& l) {
  // What comes first in a block: subtracting, multiplying, dividing, adding.
  const auto place_of = [](const LinearStep& s, bool is_first) {
    return s.operation == '*' ? 2 : s.operation == '/' ? 3 : is_first ? 1 : 4;
  };
  for (size_t k = 0; k < steps.size();) {
    BlockKind kind = Pointwise{};
    auto& p = std::get<Pointwise>(kind);
    p.add = {-0.0f};  // changes nothing, not even the sign of 0
    for (int done = 0; k < steps.size(); ++k) {
      const LinearStep& s = steps[k];
      const int place = place_of(s, done == 0);
      if (place <= done) break;
      done = place;
      if (place == 1) p.sub = {-s.number};
      else if (place == 2) p.mul = {s.number};
      else if (place == 3) p.div = {s.number};
      else p.add = {s.number};
    }
    l.add(std::move(kind), DType::kFloat32);
  }
}

}  // namespace stoker
