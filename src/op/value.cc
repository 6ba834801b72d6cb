// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "op/value.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/graph_fault.h"
#include "base/half.h"

namespace stoker {

namespace {

template <class T>
std::string shortest_text(T x) {
  char text[64];
  auto end = std::to_chars(text, text + sizeof text, x).ptr;
  return {text, end};
}

std::string float_text(double x) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x > 0 ? "inf" : "-inf";
  std::string s = shortest_text(x);
  return s.find_first_of(".e") == std::string::npos ? s + ".0" : s;
}

template <class List, class Print>
std::string list_text(const List& list, Print print) {
  std::string s = "[";
  for (size_t i = 0; i < list.size(); ++i) s += (i ? ", " : "") + print(list[i]);
  return s + "]";
}

std::string quoted(const std::string& s) { return "'" + s + "'"; }

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = diagonal + (lower(a[i - 1]) != lower(b[j - 1]));
      diagonal = row[j];
      row[j] = std::min({change, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

std::string lower(std::string_view s) {
  std::string all(s);
  for (char& c : all) c = lower(c);
  return all;
}

// Whether one is in the other, or a word of `name` is in `wrong`: "threads" and "num_threads",
// "crop_size" and "crop", "bilinear" and "INTERP_LINEAR".
bool shares_words(const std::string& wrong, const std::string& name) {
  constexpr size_t kFew = 4, kWord = 6;  // letters that mean something, as a whole and as a part
  const auto is_in = [](std::string_view part, std::string_view whole) {
    return part.size() >= kFew && whole.find(part) != whole.npos;
  };
  if (is_in(wrong, name) || is_in(name, wrong)) return true;
  for (size_t begin = 0; begin < name.size();) {
    const size_t end = std::min(name.find_first_of("_.", begin), name.size());
    const std::string_view word = std::string_view(name).substr(begin, end - begin);
    if (word.size() >= kWord && is_in(word, wrong)) return true;
    begin = end + 1;
  }
  return false;
}

}  // namespace

std::string to_string(const Value& v) {
  struct Print {
    std::string operator()(std::monostate) const { return "None"; }
    std::string operator()(bool b) const { return b ? "True" : "False"; }
    std::string operator()(int64_t i) const { return std::to_string(i); }
    std::string operator()(double d) const { return float_text(d); }
    std::string operator()(const std::string& s) const { return quoted(s); }
    std::string operator()(const std::vector<int64_t>& l) const {
      return list_text(l, [](int64_t i) { return std::to_string(i); });
    }
    std::string operator()(const std::vector<double>& l) const { return list_text(l, float_text); }
    std::string operator()(const std::vector<std::string>& l) const { return list_text(l, quoted); }
  };
  return std::visit(Print{}, v);
}

std::string did_you_mean(std::string_view wrong, std::span<const std::string> names) {
  const std::string* best = nullptr;
  size_t least = std::max<size_t>(2, wrong.size() / 3) + 1;
  for (const std::string& n : names)
    if (const size_t d = edit_distance(wrong, n); d < least) least = d, best = &n;
  if (best) return " Did you mean '" + *best + "'?";
  std::vector<std::string> near;
  for (const std::string& n : names)
    if (shares_words(lower(wrong), lower(n))) near.push_back("'" + n + "'");
  if (near.empty()) return "";
  constexpr size_t kMost = 3;
  std::sort(near.begin(), near.end(), [](const auto& a, const auto& b) {
    return std::pair(a.size(), a) < std::pair(b.size(), b);
  });
  near.resize(std::min(near.size(), kMost));
  std::string text = " Did you mean " + near[0];
  for (size_t i = 1; i < near.size(); ++i) text += (i + 1 < near.size() ? ", " : " or ") + near[i];
  return text + "?";
}

double shortest(float x) {
  if (!std::isfinite(x)) return x;
  const std::string s = shortest_text(x);
  double d = 0;
  std::from_chars(s.data(), s.data() + s.size(), d);
  return d;
}

namespace detail {

void wrong_type(const char* expected, const Value& got) {
  const std::string shown = to_string(got);
  const auto* floats = std::get_if<std::vector<double>>(&got);
  const auto* ints = std::get_if<std::vector<int64_t>>(&got);
  const bool is_range = expected == std::string_view("float") &&
                        ((floats && floats->size() == 2) || (ints && ints->size() == 2));
  throw_fault<GraphError>(
      Fault::kType,
      std::string("expects ") + expected + ", got " + shown +
          (is_range ? "; fn.random.uniform(range=" + shown + ") draws such a value" : ""));
}

void wrong_name(const std::string& got, std::span<const char* const> names) {
  std::string all;
  for (const char* n : names) all += (all.empty() ? "" : ", ") + std::string(n);
  const std::vector<std::string> list(names.begin(), names.end());
  const std::string hint = did_you_mean(got, list);
  throw GraphError("expects one of " + all + ", got '" + got + "'" + (hint.empty() ? "" : ".") +
                   hint);
}

void wrong_element(const char* expected, double got) {
  const auto narrow = static_cast<float>(got);
  const double shown = static_cast<double>(narrow) == got ? shortest(narrow) : got;
  throw SampleError(std::string("expects ") + expected + ", got " + to_string(Value(shown)));
}

double number(const Value& v) {
  if (auto* b = std::get_if<bool>(&v)) return *b;
  if (auto* i = std::get_if<int64_t>(&v)) return static_cast<double>(*i);
  if (auto* d = std::get_if<double>(&v)) return *d;
  if (auto* l = std::get_if<std::vector<double>>(&v); l && l->size() == 1) return (*l)[0];
  if (auto* l = std::get_if<std::vector<int64_t>>(&v); l && l->size() == 1)
    return static_cast<double>((*l)[0]);
  wrong_type("float", v);
}

int64_t integer(const Value& v) {
  if (auto* b = std::get_if<bool>(&v)) return *b;
  if (auto* i = std::get_if<int64_t>(&v)) return *i;
  if (auto* d = std::get_if<double>(&v); d && *d == std::floor(*d) && std::fabs(*d) < 0x1p53)
    return static_cast<int64_t>(*d);
  wrong_type("int", v);
}

std::vector<double> numbers(const Value& v) {
  if (auto* l = std::get_if<std::vector<double>>(&v)) return *l;
  if (auto* l = std::get_if<std::vector<int64_t>>(&v)) return {l->begin(), l->end()};
  if (std::holds_alternative<std::string>(v) || std::holds_alternative<std::monostate>(v) ||
      std::holds_alternative<std::vector<std::string>>(v))
    wrong_type("a list of numbers", v);
  return {number(v)};
}

std::vector<int64_t> integers(const Value& v) {
  if (auto* l = std::get_if<std::vector<int64_t>>(&v)) return *l;
  if (auto* i = std::get_if<int64_t>(&v)) return {*i};
  std::vector<int64_t> list;
  for (double d : numbers(v)) {
    if (d != std::floor(d) || std::fabs(d) >= 0x1p53) wrong_type("a list of int", v);
    list.push_back(static_cast<int64_t>(d));
  }
  return list;
}

bool is_list(const Value& v) {
  return std::holds_alternative<std::vector<int64_t>>(v) ||
         std::holds_alternative<std::vector<double>>(v);
}

}  // namespace detail

namespace {

template <class T>
double load(const std::byte* p) {
  T x;
  std::copy(p, p + sizeof x, reinterpret_cast<std::byte*>(&x));
  return static_cast<double>(x);
}

}  // namespace

double element(const View& v, int64_t index) {
  const std::byte* p = v.as<std::byte>();
  for (int a = v.shape.rank - 1; a >= 0; --a) {
    p += index % v.shape[a] * v.strides[a];
    index /= v.shape[a];
  }
  switch (v.dtype) {
    case DType::kUint8: return load<uint8_t>(p);
    case DType::kInt8: return load<int8_t>(p);
    case DType::kUint16: return load<uint16_t>(p);
    case DType::kInt16: return load<int16_t>(p);
    case DType::kUint32: return load<uint32_t>(p);
    case DType::kInt32: return load<int32_t>(p);
    case DType::kUint64: return load<uint64_t>(p);
    case DType::kInt64: return load<int64_t>(p);
    case DType::kFloat16: return to_float(Half{static_cast<uint16_t>(load<uint16_t>(p))});
    case DType::kFloat32: return load<float>(p);
    case DType::kFloat64: return load<double>(p);
    case DType::kBool: return load<uint8_t>(p) != 0;
    case DType::kNone: break;
  }
  throw Error("a tensor without a dtype");
}

}  // namespace stoker
