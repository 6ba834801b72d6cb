// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// For tests: reads tensors and arguments as cases and Python write them.
#pragma once
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <stdexcept>

#include "kernels/convert.h"
#include "op/value.h"

namespace stoker::test {

struct Tensor {
  TensorType type;
  std::vector<std::byte> bytes;
  View view() { return View::dense(bytes.data(), type.dtype, type.shape, type.layout); }
};

inline Tensor empty_tensor(const TensorType& t) {
  return {t, std::vector<std::byte>(static_cast<size_t>(t.shape.volume() * size_of(t.dtype)))};
}

// Reads a text from left to right. Throws std::runtime_error where it does not continue as asked
// for. Requires: the text outlives this.
class Text {
 public:
  explicit Text(std::string_view s) : s_(s) {}

  // Reads "uint8 HWC [[[1]]]" or "float32 0.5".
  Tensor tensor() {
    TensorType t;
    t.dtype = dtype_named(word());
    require(t.dtype != DType::kNone, "a dtype");
    if (std::isalpha(peek())) read_layout(t.layout);
    std::vector<double> values;
    nested(t.shape, 0, values);
    Tensor result = empty_tensor(t);
    convert_row(values.data(), DType::kFloat64, result.bytes.data(), t.dtype, t.shape.volume());
    return result;
  }

  // Reads "crop=[1, 2], dtype=types.UINT8" up to the end.
  Arguments arguments() {
    Arguments a;
    while (peek()) {
      const std::string name = word();
      take('=');
      a[name] = value();
      skip(',');
    }
    return a;
  }

  // A number, a text in quotes, a list of these, True, False, None or types.NAME.
  Value value() {
    if (peek() == '"' || peek() == '\'') return quoted();
    if (peek() == '[') return list();
    const std::string w = word();
    if (w == "True" || w == "False") return w == "True";
    if (w == "None") return {};
    if (w.starts_with("types.")) return enumerator(w.substr(6));
    if (is_whole(w)) return whole(w);
    return number(w);
  }

  // The next character that is not a blank, or 0.
  char peek() {
    while (at_ < s_.size() && s_[at_] == ' ') ++at_;
    return at_ < s_.size() ? s_[at_] : '\0';
  }
  void take(char c) {
    require(peek() == c, std::string(1, c));
    ++at_;
  }
  bool skip(char c) { return peek() == c && ++at_; }
  std::string word() {
    peek();
    const size_t start = at_;
    while (at_ < s_.size() && (std::isalnum(s_[at_]) || strchr("._+-", s_[at_]))) ++at_;
    require(at_ > start, "a word");
    return std::string(s_.substr(start, at_ - start));
  }

 private:
  // Letters with something behind them. Alone, they are a number, such as nan.
  void read_layout(Layout& layout) {
    const size_t start = at_;
    const std::string letters = word();
    if (peek()) layout = letters;
    else at_ = start;
  }
  void require(bool is_there, const std::string& what) const {
    if (!is_there)
      throw std::runtime_error("expected " + what + " at character " + std::to_string(at_) +
                               " of " + std::string(s_));
  }
  static bool is_whole(std::string_view w) {
    if (w[0] == '-') w.remove_prefix(1);
    return !w.empty() && std::all_of(w.begin(), w.end(), [](char c) { return std::isdigit(c); });
  }
  int64_t whole(const std::string& w) const {
    int64_t i = 0;
    const auto end = std::from_chars(w.data(), w.data() + w.size(), i);
    require(end.ec == std::errc() && end.ptr == w.data() + w.size(), "a whole number, not " + w);
    return i;
  }
  double number(const std::string& w) const {
    if (w == "True" || w == "False") return w == "True";
    double d = 0;
    const auto end = std::from_chars(w.data(), w.data() + w.size(), d);
    require(end.ptr == w.data() + w.size(), "a number, not " + w);
    return d;
  }
  void nested(Shape& shape, int depth, std::vector<double>& values) {
    if (peek() != '[') return values.push_back(number(word()));
    take('[');
    if (shape.rank == depth) shape.push_back(0);
    int64_t count = 0;
    for (; !skip(']'); ++count) {
      nested(shape, depth + 1, values);
      skip(',');
    }
    shape[depth] = count;
  }
  std::string quoted() {
    const char quote = s_[at_++];
    const size_t start = at_;
    while (at_ < s_.size() && s_[at_] != quote) ++at_;
    require(at_ < s_.size(), "the closing quote");
    return std::string(s_.substr(start, at_++ - start));
  }
  Value list() {
    std::vector<int64_t> integers;
    std::vector<double> numbers;
    std::vector<std::string> texts;
    take('[');
    while (!skip(']')) {
      if (peek() == '"' || peek() == '\'') {
        texts.push_back(quoted());
      } else {
        const std::string w = word();
        if (is_whole(w)) integers.push_back(whole(w));
        numbers.push_back(number(w));
      }
      skip(',');
    }
    if (!texts.empty()) return texts;
    if (integers.size() == numbers.size()) return integers;
    return numbers;
  }
  // Turns types.UINT8 into "uint8"; other names stay as they are.
  static std::string enumerator(const std::string& name) {
    if (name == "FLOAT") return "float32";
    std::string small = name;
    for (char& c : small) c = static_cast<char>(std::tolower(c));
    return dtype_named(small) == DType::kNone ? name : small;
  }

  std::string_view s_;
  size_t at_ = 0;
};

}  // namespace stoker::test
