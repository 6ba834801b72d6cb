// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "base/error.h"
#include "stores/records/example.h"

namespace stoker::stores {

namespace {

[[noreturn]] void wrong_type(const FeatureSpec& spec, FeatureType found) {
  throw SampleError("feature '" + spec.name + "' is to be of " + name_of(spec.type) +
                    ", and is of " + name_of(found));
}
void check_type(const FeatureSpec& spec, const FeatureValues& v) {
  if (v.type != FeatureType::kNone && v.type != spec.type) wrong_type(spec, v.type);
}

void set_strings(const FeatureSpec& spec, FeatureResult& r, ByteSpan payload) {
  for (const FeatureValues& v : r.steps) {
    std::vector<ByteSpan> more = byte_values(v, payload);
    r.strings.insert(r.strings.end(), more.begin(), more.end());
  }
  if (!spec.many && r.strings.size() > 1)
    throw SampleError(
        "feature '" + spec.name + "' has " + std::to_string(r.strings.size()) +
        " byte strings; expected one: stoker.tfrecord.BytesListFeature takes several");
  for (const ByteSpan s : r.strings) r.bytes += static_cast<int64_t>(s.size());
  r.shape = {r.bytes};
}

SampleError missing(const FeatureSpec& spec, const Example& example) {
  return SampleError("feature '" + spec.name +
                     "' is missing, and has no default; the features here: " + example.names());
}

// Throws where the record has the feature in the other part: as steps, or without them.
void refuse_other_part(const FeatureSpec& spec, const Example& example) {
  const bool is_list = spec.form == FeatureSpec::Form::kSequence;
  if (!is_list && example.feature_list(spec.name))
    throw SampleError(
        "feature '" + spec.name +
        "' is a list of steps here: stoker.tfrecord.FixedLenSequenceFeature reads it");
  if (is_list && example.feature(spec.name))
    throw SampleError("feature '" + spec.name +
                      "' is no list of steps here: stoker.tfrecord.FixedLenFeature and "
                      "VarLenFeature read it");
}

// What the record has of the feature; nothing where it has no steps and no values, which counts as
// missing.
std::vector<FeatureValues> find_steps(const FeatureSpec& spec, const Example& example) {
  const bool is_list = spec.form == FeatureSpec::Form::kSequence;
  const std::optional<ByteSpan> entry =
      is_list ? example.feature_list(spec.name) : example.feature(spec.name);
  if (!entry) refuse_other_part(spec, example);
  if (!entry && is_list) throw missing(spec, example);
  std::vector<FeatureValues> steps;
  if (entry && is_list) steps = parse_feature_list(*entry, example.payload());
  else if (entry) steps = {parse_feature(*entry, example.payload())};
  for (const FeatureValues& v : steps) check_type(spec, v);
  if (!is_list && !steps.empty() && steps[0].type == FeatureType::kNone) steps.clear();
  return steps;
}

void set_default_string(const FeatureSpec& spec, FeatureResult& r) {
  const std::string& bytes = spec.default_bytes;
  r.strings = {{reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}};
  r.bytes = static_cast<int64_t>(bytes.size());
  r.shape = {r.bytes};
}

int64_t default_count(const FeatureSpec& spec) {
  return spec.type == FeatureType::kFloat ? std::ssize(spec.default_floats)
                                          : std::ssize(spec.default_ints);
}

void require_values(const std::string& what, int64_t found, int64_t expected) {
  if (found != expected)
    throw SampleError(what + " has " + std::to_string(found) + " values; expected " +
                      std::to_string(expected));
}

int64_t rows_of(const FeatureSpec& spec, const FeatureResult& r, int64_t row) {
  const std::string name = "feature '" + spec.name + "'";
  if (spec.form == FeatureSpec::Form::kSequence) {
    for (size_t i = 0; i < r.steps.size(); ++i)
      require_values("step " + std::to_string(i) + " of " + name, r.steps[i].count, row);
    return std::ssize(r.steps);
  }
  const int64_t values = r.steps.empty() ? default_count(spec) : r.steps[0].count;
  if (values % row != 0)
    throw SampleError(name + " has " + std::to_string(values) +
                      " values, which make no whole rows of " + std::to_string(row));
  return values / row;
}

void set_numbers(const FeatureSpec& spec, FeatureResult& r) {
  const int64_t row = spec.row_values();
  int64_t rows = 1;
  r.shape = spec.static_shape();
  if (spec.form != FeatureSpec::Form::kFixed) r.shape[0] = rows = rows_of(spec, r, row);
  else if (!r.steps.empty()) require_values("feature '" + spec.name + "'", r.steps[0].count, row);
  r.bytes = rows * row * (spec.type == FeatureType::kFloat ? 4 : 8);
}

template <class T>
void copy_numbers(const FeatureResult& r, const std::vector<T>& fallback, ByteSpan payload,
                  uint8_t* to) {
  // Outputs are aligned to their type.
  T* at = reinterpret_cast<T*>(to);
  if (r.steps.empty() && !fallback.empty()) {
    const auto n = static_cast<size_t>(r.bytes) / sizeof(T);
    for (size_t i = 0; i < n; ++i) at[i] = fallback[fallback.size() == 1 ? 0 : i];
    return;
  }
  for (const FeatureValues& v : r.steps) {
    copy_values(v, payload, at);
    at += v.count;
  }
}

}  // namespace

FeatureResult resolve(const FeatureSpec& spec, const Example& example) {
  using Form = FeatureSpec::Form;
  FeatureResult r;
  r.steps = find_steps(spec, example);
  const bool is_missing = spec.form != Form::kSequence &&
                          (r.steps.empty() || (spec.has_default && r.steps[0].count == 0));
  const bool takes_many = spec.form != Form::kFixed || spec.many;
  if (is_missing && !spec.has_default && !takes_many) throw missing(spec, example);
  if (is_missing) r.steps.clear();
  if (spec.type != FeatureType::kBytes) set_numbers(spec, r);
  else if (is_missing && spec.has_default) set_default_string(spec, r);
  else set_strings(spec, r, example.payload());
  return r;
}

void copy_result(const FeatureSpec& spec, const FeatureResult& r, ByteSpan payload, uint8_t* to,
                 int64_t* sizes) {
  if (spec.type == FeatureType::kFloat) return copy_numbers(r, spec.default_floats, payload, to);
  if (spec.type == FeatureType::kInt64) return copy_numbers(r, spec.default_ints, payload, to);
  for (size_t i = 0; i < r.strings.size(); ++i) {
    const ByteSpan s = r.strings[i];
    if (!s.empty()) std::memcpy(to, s.data(), s.size());
    to += s.size();
    if (spec.many) sizes[i] = static_cast<int64_t>(s.size());
  }
}

}  // namespace stoker::stores
