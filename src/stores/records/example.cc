// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/records/example.h"

#include <algorithm>
#include <bit>

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

// Adds what one message of a feature says.
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
  if (features_.empty() && lists_.empty())
    throw SampleError(
        "the record is no Example and no SequenceExample with features, which are in "
        "fields 1 and 2; the fields here: " +
            shown_fields(payload),
        0);
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

}  // namespace stoker::stores
