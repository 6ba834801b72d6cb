// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/error.h"
#include "base/text.h"
#include "stores/records/example.h"

namespace stoker::stores {

namespace {

class SpecReader {
 public:
  explicit SpecReader(std::string_view text) : text_(text), shown_(shortened(text, 80)) {}

  FeatureSpec read() {
    const std::string_view form = word(), type = word(), shape = word(), number = word(),
                           fallback = word();
    spec_.form = form_of(form);
    for (const FeatureType t : {FeatureType::kBytes, FeatureType::kFloat, FeatureType::kInt64})
      if (type == name_of(t)) spec_.type = t;
    if (type != name_of(spec_.type) || (number != "many" && number != "one")) fail();
    spec_.many = number == "many";
    spec_.name = text_;
    if (shape != "-") read_shape(shape);
    if (fallback != "-") read_default(fallback);
    check_shape();
    return std::move(spec_);
  }

 private:
  using Form = FeatureSpec::Form;

  [[noreturn]] void fail() const {
    throw GraphError("'" + shown_ + "' describes no feature: use the classes of stoker.tfrecord");
  }

  std::string_view word() {
    const size_t end = text_.find(' ');
    if (end == text_.npos) fail();
    const std::string_view w = text_.substr(0, end);
    text_.remove_prefix(end + 1);
    return w;
  }

  Form form_of(std::string_view word) const {
    if (word == "fixed") return Form::kFixed;
    if (word == "varying") return Form::kVarying;
    if (word == "sequence") return Form::kSequence;
    fail();
  }

  void read_shape(std::string_view shape) {
    constexpr int64_t kMostValues = int64_t{1} << 40;
    int64_t all = 1;
    for (const char* at = shape.data(); at < shape.data() + shape.size(); ++at) {
      int64_t extent = -1;
      const auto [end, error] = std::from_chars(at, shape.data() + shape.size(), extent);
      if (error != std::errc() || extent < 0 || extent > kMostValues / all) fail();
      all *= std::max<int64_t>(extent, 1);
      spec_.shape.push_back(extent);
      at = end;
    }
  }

  void read_default(std::string_view word) {
    const std::string bytes = bytes_of(word);
    spec_.has_default = true;
    if (spec_.type == FeatureType::kBytes) spec_.default_bytes = bytes;
    else if (spec_.type == FeatureType::kFloat) check_default(fill(spec_.default_floats, bytes));
    else check_default(fill(spec_.default_ints, bytes));
  }
  // The digits follow a letter: "x00ff".
  std::string bytes_of(std::string_view digits) const {
    std::string bytes;
    if (digits.size() % 2 != 1) fail();
    for (size_t i = 1; i < digits.size(); i += 2) {
      unsigned value = 0;
      const auto [end, error] = std::from_chars(&digits[i], &digits[i] + 2, value, 16);
      if (error != std::errc() || end != &digits[i] + 2) fail();
      bytes += static_cast<char>(value);
    }
    return bytes;
  }
  // Returns how many values there are.
  template <class T>
  int64_t fill(std::vector<T>& values, const std::string& bytes) const {
    if (bytes.size() % sizeof(T) != 0) fail();
    values.resize(bytes.size() / sizeof(T));
    if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return std::ssize(values);
  }
  void check_default(int64_t values) const {
    const int64_t expected = spec_.row_values();
    if (spec_.form == Form::kFixed && values != 1 && values != expected)
      throw GraphError("the default of feature '" + spec_.name + "' has " + std::to_string(values) +
                       " values; expected 1 or " + std::to_string(expected));
  }

  void check_shape() const {
    const bool is_bytes = spec_.type == FeatureType::kBytes;
    const int64_t values = spec_.row_values();
    if (spec_.many && !is_bytes) fail();
    if (is_bytes && !spec_.many && values != 1)
      throw GraphError("feature '" + spec_.name + "' is to have " + std::to_string(values) +
                       " byte strings: one is an array of bytes, and for several there is "
                       "stoker.tfrecord.BytesListFeature");
    if (spec_.form != Form::kFixed && !is_bytes && values == 0)
      throw GraphError("a row of feature '" + spec_.name + "' has no values");
  }

  std::string_view text_;
  std::string shown_;
  FeatureSpec spec_;
};

}  // namespace

DType FeatureSpec::dtype() const {
  switch (type) {
    case FeatureType::kFloat: return DType::kFloat32;
    case FeatureType::kInt64: return DType::kInt64;
    default: return DType::kUint8;
  }
}

std::vector<int64_t> FeatureSpec::static_shape() const {
  if (type == FeatureType::kBytes) return {-1};
  std::vector<int64_t> all = shape;
  if (form != Form::kFixed) all.insert(all.begin(), -1);
  return all;
}

int64_t FeatureSpec::row_values() const {
  int64_t n = 1;
  for (const int64_t e : shape) n *= e;
  return n;
}

FeatureSpec parse_feature_spec(std::string_view text) { return SpecReader(text).read(); }

}  // namespace stoker::stores
