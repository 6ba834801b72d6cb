// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/example.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "stores/wire.h"

namespace stoker::stores {

namespace {

std::string_view text_of(ByteSpan bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The numbers of the fields.
enum ExampleField : uint32_t { kFeatures = 1, kFeatureLists = 2 };
enum MapField : uint32_t { kEntry = 1 };
enum EntryField : uint32_t { kKey = 1, kValue = 2 };
enum FeatureField : uint32_t { kBytesList = 1, kFloatList = 2, kInt64List = 3 };
enum ListField : uint32_t { kValues = 1 };
enum FeatureListField : uint32_t { kStep = 1 };

FeatureType type_of(uint32_t field) {
  switch (field) {
    case kBytesList: return FeatureType::kBytes;
    case kFloatList: return FeatureType::kFloat;
    case kInt64List: return FeatureType::kInt64;
    default: return FeatureType::kNone;
  }
}

// Calls f(field) for each field of a list that may hold a value or several.
template <class F>
void for_values(ByteSpan list, ByteSpan payload, F f) {
  for (Fields fields(list, payload); fields.next();)
    if (fields.number() == kValues) f(fields);
}

template <class F>
void for_floats(ByteSpan list, ByteSpan payload, F f) {
  for_values(list, payload, [&](Fields& field) {
    if (field.is_fixed32()) f(std::bit_cast<float>(field.fixed32()));
    else if (field.is_bytes()) for_fixed<float>(field.bytes(), payload, f);
  });
}

template <class F>
void for_ints(ByteSpan list, ByteSpan payload, F f) {
  for_values(list, payload, [&](Fields& field) {
    if (field.is_varint()) f(field.varint());
    else if (field.is_bytes()) for_varints(field.bytes(), payload, f);
  });
}

template <class F>
void for_strings(ByteSpan list, ByteSpan payload, F f) {
  for_values(list, payload, [&](Fields& field) {
    if (field.is_bytes()) f(field.bytes());
  });
}

// Adds what a message of a feature says to what is known of the feature.
void add_feature(FeatureValues& v, ByteSpan message, ByteSpan payload) {
  for (Fields fields(message, payload); fields.next();) {
    const FeatureType type = type_of(fields.number());
    if (type == FeatureType::kNone || !fields.is_bytes()) continue;
    if (type != v.type) v = {type, {}, 0};
    v.lists.push_back(fields.bytes());
  }
}

void count_values(FeatureValues& v, ByteSpan payload) {
  const auto one = [&](auto) { ++v.count; };
  for (const ByteSpan list : v.lists) {
    if (v.type == FeatureType::kBytes) for_strings(list, payload, one);
    else if (v.type == FeatureType::kFloat) for_floats(list, payload, one);
    else for_ints(list, payload, one);
  }
}

int64_t volume(std::span<const int64_t> shape) {
  int64_t n = 1;
  for (const int64_t e : shape) n *= e;
  return n;
}

}  // namespace

const char* name_of(FeatureType type) {
  switch (type) {
    case FeatureType::kBytes: return "bytes";
    case FeatureType::kFloat: return "float32";
    case FeatureType::kInt64: return "int64";
    default: return "no type";
  }
}

Example::Example(ByteSpan payload) : payload_(payload) {
  for (Fields fields(payload, payload); fields.next();) {
    if (!fields.is_bytes()) continue;
    if (fields.number() == kFeatures) add_entries(features_, fields.bytes());
    else if (fields.number() == kFeatureLists) add_entries(lists_, fields.bytes());
  }
}

void Example::add_entries(std::vector<Entry>& to, ByteSpan map) const {
  for (Fields fields(map, payload_); fields.next();) {
    if (fields.number() != kEntry || !fields.is_bytes()) continue;
    Entry e{{}, fields.bytes()};
    for (Fields inner(e.bytes, payload_); inner.next();)
      if (inner.number() == kKey && inner.is_bytes()) e.name = text_of(inner.bytes());
    to.push_back(e);
  }
}

std::optional<ByteSpan> Example::find(const std::vector<Entry>& in, std::string_view name) {
  const auto found =
      std::find_if(in.rbegin(), in.rend(), [&](const Entry& e) { return e.name == name; });
  if (found == in.rend()) return std::nullopt;
  return found->bytes;
}

std::string Example::names() const {
  constexpr size_t kShown = 8, kLongest = 40;
  std::string text;
  size_t all = 0;
  for (const auto* entries : {&features_, &lists_})
    for (const Entry& e : *entries)
      if (all++ < kShown) text += (text.empty() ? "'" : ", '") + shortened(e.name, kLongest) + "'";
  if (all > kShown) text += " and " + std::to_string(all - kShown) + " more";
  return all == 0 ? "none" : text;
}

FeatureValues parse_feature(ByteSpan entry, ByteSpan payload) {
  FeatureValues v;
  for (Fields fields(entry, payload); fields.next();)
    if (fields.number() == kValue && fields.is_bytes()) add_feature(v, fields.bytes(), payload);
  count_values(v, payload);
  return v;
}

std::vector<FeatureValues> parse_feature_list(ByteSpan entry, ByteSpan payload) {
  std::vector<FeatureValues> steps;
  for (Fields fields(entry, payload); fields.next();) {
    if (fields.number() != kValue || !fields.is_bytes()) continue;
    for (Fields list(fields.bytes(), payload); list.next();) {
      if (list.number() != kStep || !list.is_bytes()) continue;
      FeatureValues& v = steps.emplace_back();
      add_feature(v, list.bytes(), payload);
      count_values(v, payload);
    }
  }
  return steps;
}

void copy_values(const FeatureValues& v, ByteSpan payload, float* to) {
  for (const ByteSpan list : v.lists) for_floats(list, payload, [&](float x) { *to++ = x; });
}
void copy_values(const FeatureValues& v, ByteSpan payload, int64_t* to) {
  for (const ByteSpan list : v.lists) for_ints(list, payload, [&](int64_t x) { *to++ = x; });
}
std::vector<ByteSpan> byte_values(const FeatureValues& v, ByteSpan payload) {
  std::vector<ByteSpan> all;
  for (const ByteSpan list : v.lists)
    for_strings(list, payload, [&](ByteSpan bytes) { all.push_back(bytes); });
  return all;
}

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
  // A number without a shape is an array of one, as a label of other readers is.
  else if (all.empty()) all.push_back(1);
  return all;
}

FeatureSpec parse_feature_spec(std::string_view text) {
  const std::string shown = shortened(text, 80);
  const auto wrong = [&]() -> GraphError {
    return GraphError("'" + shown + "' describes no feature: use the classes of stoker.tfrecord");
  };
  const auto word = [&] {
    const size_t end = text.find(' ');
    if (end == text.npos) throw wrong();
    const std::string_view w = text.substr(0, end);
    text.remove_prefix(end + 1);
    return w;
  };
  FeatureSpec s;
  const std::string_view form = word(), type = word(), shape = word(), number = word(),
                         fallback = word();
  if (form == "fixed") s.form = FeatureSpec::Form::kFixed;
  else if (form == "varying") s.form = FeatureSpec::Form::kVarying;
  else if (form == "sequence") s.form = FeatureSpec::Form::kSequence;
  else throw wrong();
  for (const FeatureType t : {FeatureType::kBytes, FeatureType::kFloat, FeatureType::kInt64})
    if (type == name_of(t)) s.type = t;
  if (type != name_of(s.type) || (number != "many" && number != "one")) throw wrong();
  s.many = number == "many";
  s.name = text;
  if (shape != "-") {
    constexpr int64_t kMostValues = int64_t{1} << 40;
    int64_t all = 1;
    for (const char* at = shape.data(); at < shape.data() + shape.size(); ++at) {
      int64_t extent = -1;
      const auto [end, error] = std::from_chars(at, shape.data() + shape.size(), extent);
      if (error != std::errc() || extent < 0 || extent > kMostValues / all) throw wrong();
      all *= std::max<int64_t>(extent, 1);
      s.shape.push_back(extent);
      at = end;
    }
  }
  if (fallback != "-") {
    std::string bytes;
    if (fallback.size() % 2 != 1) throw wrong();  // a letter before the digits: "x00ff"
    for (size_t i = 1; i < fallback.size(); i += 2) {
      unsigned value = 0;
      const auto [end, error] = std::from_chars(&fallback[i], &fallback[i] + 2, value, 16);
      if (error != std::errc() || end != &fallback[i] + 2) throw wrong();
      bytes += static_cast<char>(value);
    }
    s.has_default = true;
    const auto fill = [&](auto& values) {
      using T = std::decay_t<decltype(values[0])>;
      if (bytes.size() % sizeof(T) != 0) throw wrong();
      values.resize(bytes.size() / sizeof(T));
      if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    };
    if (s.type == FeatureType::kBytes) s.default_bytes = bytes;
    else if (s.type == FeatureType::kFloat) fill(s.default_floats);
    else fill(s.default_ints);
    const size_t values =
        s.type == FeatureType::kFloat ? s.default_floats.size() : s.default_ints.size();
    if (s.form == FeatureSpec::Form::kFixed && s.type != FeatureType::kBytes && values != 1 &&
        static_cast<int64_t>(values) != volume(s.shape))
      throw GraphError("the default of feature '" + s.name + "' has " + std::to_string(values) +
                       " values; expected 1 or " + std::to_string(volume(s.shape)));
  }
  if (s.many && s.type != FeatureType::kBytes) throw wrong();
  if (s.type == FeatureType::kBytes && !s.many && volume(s.shape) != 1)
    throw GraphError("feature '" + s.name + "' is to have " + std::to_string(volume(s.shape)) +
                     " byte strings: one is an array of bytes, and for several there is "
                     "stoker.tfrecord.BytesListFeature");
  if (s.form != FeatureSpec::Form::kFixed && s.type != FeatureType::kBytes && volume(s.shape) == 0)
    throw GraphError("a row of feature '" + s.name + "' has no values");
  return s;
}

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

}  // namespace

FeatureResult resolve(const FeatureSpec& spec, const Example& example) {
  using Form = FeatureSpec::Form;
  FeatureResult r;
  const ByteSpan payload = example.payload();
  const bool is_list = spec.form == Form::kSequence;
  const std::optional<ByteSpan> entry =
      is_list ? example.feature_list(spec.name) : example.feature(spec.name);
  if (entry && is_list) r.steps = parse_feature_list(*entry, payload);
  else if (entry) r.steps = {parse_feature(*entry, payload)};
  for (const FeatureValues& v : r.steps) check_type(spec, v);
  // A feature without values counts as a missing one.
  if (!is_list && !r.steps.empty() && r.steps[0].type == FeatureType::kNone) r.steps.clear();
  const bool is_missing =
      !is_list && (r.steps.empty() || (spec.has_default && r.steps[0].count == 0));
  const bool takes_many = spec.form != Form::kFixed || spec.many;
  if (is_missing && !spec.has_default && !takes_many)
    throw SampleError("feature '" + spec.name +
                      "' is missing, and has no default; the features here: " + example.names());
  if (is_missing) r.steps.clear();
  if (spec.type == FeatureType::kBytes) {
    if (is_missing && spec.has_default) {
      r.strings = {
          {reinterpret_cast<const uint8_t*>(spec.default_bytes.data()), spec.default_bytes.size()}};
      r.bytes = static_cast<int64_t>(spec.default_bytes.size());
      r.shape = {r.bytes};
    } else {
      set_strings(spec, r, payload);
    }
    return r;
  }
  const int64_t row = volume(spec.shape);
  r.shape = spec.static_shape();
  if (is_list) {
    for (size_t i = 0; i < r.steps.size(); ++i)
      if (r.steps[i].count != row)
        throw SampleError("step " + std::to_string(i) + " of feature '" + spec.name + "' has " +
                          std::to_string(r.steps[i].count) + " values; expected " +
                          std::to_string(row));
    r.shape[0] = static_cast<int64_t>(r.steps.size());
  } else if (spec.form == Form::kVarying) {
    int64_t values = r.steps.empty() ? 0 : r.steps[0].count;
    if (is_missing && spec.has_default)
      values = static_cast<int64_t>(spec.type == FeatureType::kFloat ? spec.default_floats.size()
                                                                     : spec.default_ints.size());
    if (values % row != 0)
      throw SampleError("feature '" + spec.name + "' has " + std::to_string(values) +
                        " values, which make no whole rows of " + std::to_string(row));
    r.shape[0] = values / row;
  } else if (!is_missing && r.steps[0].count != row) {
    throw SampleError("feature '" + spec.name + "' has " + std::to_string(r.steps[0].count) +
                      " values; expected " + std::to_string(row));
  }
  r.bytes = volume(r.shape) * (spec.type == FeatureType::kFloat ? 4 : 8);
  return r;
}

namespace {

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
