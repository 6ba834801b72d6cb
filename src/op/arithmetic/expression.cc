// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/arithmetic/expression.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "op/arithmetic/words.h"
#include "op/rules.h"

namespace stoker {

namespace {

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

  // Whether a number stands here, not an operation.
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
    const auto found = std::ranges::find_if(
        kWords, [&](const Word& w) { return text == w.text && operands == w.operands; });
    return found == std::end(kWords) ? -1 : static_cast<int>(found - kWords);
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

}  // namespace

Expression Expression::read(const std::string& text) { return Reader(text).read(); }

size_t Expression::input_count() const {
  int count = 0;
  for (const Term& t : terms) count = std::max(count, t.input + 1);
  return static_cast<size_t>(count);
}

}  // namespace stoker
