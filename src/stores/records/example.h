// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What a record of TFRecord holds: a tf.train.Example or a SequenceExample. Everything refers to
// the record's bytes. All functions throw SampleError, with an offset in the payload.
#pragma once
#include <optional>

#include "base/types.h"
#include "stores/ranges.h"

namespace stoker::stores {

// Features by name. Of equal names, the last one counts.
class Example {
 public:
  explicit Example(ByteSpan payload);
  ByteSpan payload() const { return payload_; }
  // An entry of the map: a feature, or a list of features with one for each step.
  std::optional<ByteSpan> feature(std::string_view name) const { return find(features_, name); }
  std::optional<ByteSpan> feature_list(std::string_view name) const { return find(lists_, name); }
  // For errors: "'a', 'b' and 3 more".
  std::string names() const;

 private:
  struct Entry {
    std::string_view name;
    ByteSpan bytes;
  };
  void add_entries(std::vector<Entry>& to, ByteSpan map) const;
  static std::optional<ByteSpan> find(const std::vector<Entry>& in, std::string_view name);

  ByteSpan payload_;
  std::vector<Entry> features_, lists_;
};

enum class FeatureType : uint8_t { kNone, kBytes, kFloat, kInt64 };
const char* name_of(FeatureType type);

// The values of a feature, or of the steps of a list.
struct FeatureValues {
  FeatureType type = FeatureType::kNone;
  std::vector<ByteSpan> lists;  // messages that hold values, which belong together
  int64_t count = 0;
};
FeatureValues parse_feature(ByteSpan entry, ByteSpan payload);
std::vector<FeatureValues> parse_feature_list(ByteSpan entry, ByteSpan payload);
// Requires: `to` has room for `count` values of this type.
void copy_values(const FeatureValues& v, ByteSpan payload, float* to);
void copy_values(const FeatureValues& v, ByteSpan payload, int64_t* to);
std::vector<ByteSpan> byte_values(const FeatureValues& v, ByteSpan payload);

// What the user wants of a feature.
struct FeatureSpec {
  enum class Form : uint8_t {
    kFixed,  // values of a known shape
    kVarying,  // any number of values, in rows of `shape`
    kSequence,  // of a list: values of `shape` in each step
  };
  std::string name;
  Form form = Form::kFixed;
  FeatureType type = FeatureType::kInt64;
  std::vector<int64_t> shape;
  // The value of a missing feature: all values, or one that is repeated.
  bool has_default = false;
  std::string default_bytes;
  std::vector<float> default_floats;
  std::vector<int64_t> default_ints;
  // Any number of byte strings, one behind the other; their sizes are an output of their own.
  bool many = false;

  DType dtype() const;
  int64_t row_values() const;  // in a value, row or step of `shape`
  int outputs() const { return many ? 2 : 1; }
  // The shape of the first output, with -1 for what depends on the sample.
  std::vector<int64_t> static_shape() const;
};
// Parses the text that an operator's argument holds. Blanks part its words: form, type, the shape
// as "2,3" or "-", "many" or "one", the default's bytes as hexadecimal digits or "-", and the name,
// which may hold blanks. Throws GraphError.
FeatureSpec parse_feature_spec(std::string_view text);

// A feature of one sample as it was wanted.
struct FeatureResult {
  std::vector<FeatureValues> steps;  // empty where the default counts
  std::vector<ByteSpan> strings;
  std::vector<int64_t> shape;  // of the first output
  int64_t bytes = 0;  // of the first output
};
FeatureResult resolve(const FeatureSpec& spec, const Example& example);
// Requires: `to` has room for r.bytes, and `sizes` for the number of strings where spec.many.
void copy_result(const FeatureSpec& spec, const FeatureResult& r, ByteSpan payload, uint8_t* to,
                 int64_t* sizes);

}  // namespace stoker::stores
