// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// What Caffe and Caffe2 keep in LMDB: a Datum, or tensors in a row. All functions throw
// SampleError, with an offset in the value.
#pragma once
#include "base/types.h"
#include "stores/ranges.h"

namespace stoker::stores {

// A picture with its label: encoded, or pixels channel by channel. What the message does not say
// has no value.
struct Datum {
  int64_t channels = 0, height = 0, width = 0;
  int32_t label = 0;
  bool encoded = false, has_label = false, has_pixels = false;  // pixels: encoded or not
  ByteSpan data;  // of the value: encoded bytes, or uint8 pixels
  std::vector<float> floats;  // the pixels where there are no data
  std::vector<int64_t> shape() const { return {channels, height, width}; }
};
// Checks that there are as many pixels as the shape says. A picture without a shape is an encoded
// one, even where the message does not say so.
Datum parse_datum(ByteSpan value);

struct TensorProto {
  enum class Type : uint8_t {
    kUndefined = 0,
    kFloat = 1,
    kInt32 = 2,
    kByte = 3,
    kString = 4,
    kBool = 5,
    kUint8 = 6,
    kInt8 = 7,
    kUint16 = 8,
    kInt16 = 9,
    kInt64 = 10,
    kFloat16 = 12,
    kDouble = 13,
  };
  Type type = Type::kFloat;
  std::vector<int64_t> dims;
  // Only those that belong to the type count.
  std::vector<ByteSpan> strings;
  ByteSpan bytes;
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<int64_t> ints;

  bool is_string() const { return type == Type::kString; }
  DType dtype() const;  // uint8 of a string
  // The bytes of the string, or the dims.
  std::vector<int64_t> shape() const;
};
// At least one. Checks that each has as many values as its dims say, or exactly one string.
std::vector<TensorProto> parse_tensor_protos(ByteSpan value);
// Writes the values as elements of dtype(). Requires: room for the shape, aligned to the type.
void copy_tensor(const TensorProto& t, void* to);
// The values as whole numbers or as float32. Throws SampleError for a string and, for the first,
// where the tensor has fractions or numbers that do not fit. `what` names it in the message.
std::vector<int32_t> tensor_ints(const TensorProto& t, const char* what);
std::vector<float> tensor_floats(const TensorProto& t, const char* what);

}  // namespace stoker::stores
