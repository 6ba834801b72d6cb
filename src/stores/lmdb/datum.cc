// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/lmdb/datum.h"

#include <algorithm>
#include <limits>

#include "base/content.h"
#include "stores/wire.h"

namespace stoker::stores {

namespace {

// The numbers of the fields.
enum DatumField : uint32_t {
  kChannels = 1,
  kHeight = 2,
  kWidth = 3,
  kData = 4,
  kLabel = 5,
  kFloatData = 6,
  kEncoded = 7,
};
enum ProtosField : uint32_t { kProtos = 1 };
enum TensorField : uint32_t {
  kDims = 1,
  kDataType = 2,
  kFloats = 3,
  kInts32 = 4,
  kByteData = 5,
  kStrings = 6,
  kDoubles = 9,
  kInts64 = 10,
};

// Throws where an extent is negative or the product of extents is absurdly large.
int64_t volume_of(std::span<const int64_t> shape, const char* of) {
  constexpr int64_t kMost = int64_t{1} << 40;
  int64_t n = 1;
  bool is_empty = false;
  for (const int64_t e : shape) {
    if (e < 0) throw SampleError(std::string(of) + " has an extent of " + std::to_string(e), 0);
    // Beside an extent of 0, too: strides are products of the others.
    if (e > kMost / n) throw SampleError(std::string(of) + " has extents that are too large", 0);
    n *= std::max<int64_t>(e, 1);
    is_empty = is_empty || e == 0;
  }
  return is_empty ? 0 : n;
}

void add_floats(std::vector<float>& to, Fields& f, ByteSpan whole) {
  if (f.is_fixed32()) to.push_back(std::bit_cast<float>(f.fixed32()));
  else if (f.is_bytes()) for_fixed<float>(f.bytes(), whole, [&](float x) { to.push_back(x); });
}
void add_doubles(std::vector<double>& to, Fields& f, ByteSpan whole) {
  if (f.is_fixed64()) to.push_back(std::bit_cast<double>(f.fixed64()));
  else if (f.is_bytes()) for_fixed<double>(f.bytes(), whole, [&](double x) { to.push_back(x); });
}
void add_ints(std::vector<int64_t>& to, Fields& f, ByteSpan whole) {
  if (f.is_varint()) to.push_back(f.varint());
  else if (f.is_bytes()) for_varints(f.bytes(), whole, [&](int64_t x) { to.push_back(x); });
}

bool is_picture(ByteSpan bytes) {
  const std::string content = describe_content(bytes);
  return content.ends_with(" image") || content.ends_with(" code stream");
}

// Whether a field has the kind that it has in a Datum. Of labels and floats there are variants.
bool has_own_kind(const Fields& f) {
  const uint32_t n = f.number();
  if (n == kData) return f.is_bytes();
  if (n == kChannels || n == kHeight || n == kWidth || n == kEncoded) return f.is_varint();
  return true;
}

[[noreturn]] void refuse_datum(ByteSpan value) {
  throw SampleError(
      "the value is no Datum of Caffe, which has its data as bytes in field 4 and its label as a "
      "number in field 5; the fields here: " +
          shown_fields(value),
      0);
}

// Checks pixels that are not encoded.
void check_pixels(const Datum& d) {
  const int64_t volume = volume_of(d.shape(), "the Datum");
  const auto there = static_cast<int64_t>(d.data.empty() ? d.floats.size() : d.data.size());
  if (volume == there) return;
  throw SampleError(
      "the Datum has " + std::to_string(d.channels) + " channels of " + std::to_string(d.height) +
          " x " + std::to_string(d.width) + " pixels, and " + std::to_string(there) + " values" +
          (is_picture(d.data)
               ? ", which are " + describe_content(d.data) + ": write it with encoded = true"
               : ""),
      0);
}

}  // namespace

Datum parse_datum(ByteSpan value) {
  Datum d;
  bool has_shape = false;
  for (Fields f(value, value); f.next();) {
    const uint32_t n = f.number();
    if (!has_own_kind(f)) refuse_datum(value);
    has_shape |= n == kChannels || n == kHeight || n == kWidth;
    d.has_pixels |= n == kFloatData || n == kData;
    if (n == kFloatData) {
      add_floats(d.floats, f, value);
    } else if (n == kData) {
      d.data = f.bytes();
    } else if (f.is_varint()) {
      // Of an int32, which may be stored with more bits, the lower 32 count.
      const int64_t x = f.varint();
      if (n == kChannels) d.channels = static_cast<int32_t>(x);
      else if (n == kHeight) d.height = static_cast<int32_t>(x);
      else if (n == kWidth) d.width = static_cast<int32_t>(x);
      else if (n == kLabel) d.label = static_cast<int32_t>(x), d.has_label = true;
      else if (n == kEncoded) d.encoded = x != 0;
    }
  }
  // As in Caffe, floats count only where there are no bytes.
  if (!d.data.empty()) d.floats.clear();
  if (!has_shape && !d.has_pixels && !d.has_label) refuse_datum(value);
  if (!has_shape && is_picture(d.data)) d.encoded = true;
  if (!d.encoded) check_pixels(d);
  return d;
}

DType TensorProto::dtype() const {
  switch (type) {
    case Type::kFloat: return DType::kFloat32;
    case Type::kInt32: return DType::kInt32;
    case Type::kBool: return DType::kBool;
    case Type::kInt8: return DType::kInt8;
    case Type::kUint16: return DType::kUint16;
    case Type::kInt16: return DType::kInt16;
    case Type::kInt64: return DType::kInt64;
    case Type::kFloat16: return DType::kFloat16;
    case Type::kDouble: return DType::kFloat64;
    default: return DType::kUint8;
  }
}

std::vector<int64_t> TensorProto::shape() const {
  if (is_string()) return {static_cast<int64_t>(strings[0].size())};
  return dims;
}

namespace {

TensorProto parse_tensor(ByteSpan message, ByteSpan value) {
  using Type = TensorProto::Type;
  TensorProto t;
  for (Fields f(message, value); f.next();) {
    switch (f.number()) {
      case kDims: add_ints(t.dims, f, value); break;
      case kFloats: add_floats(t.floats, f, value); break;
      case kDoubles: add_doubles(t.doubles, f, value); break;
      case kInts32:
      case kInts64: add_ints(t.ints, f, value); break;
      case kByteData:
        if (f.is_bytes()) t.bytes = f.bytes();
        break;
      case kStrings:
        if (f.is_bytes()) t.strings.push_back(f.bytes());
        break;
      case kDataType:
        if (f.is_varint()) {
          const int64_t type = f.varint();
          constexpr int64_t kHole = 11;
          if (type <= 0 || type == kHole || type > static_cast<int64_t>(Type::kDouble))
            throw SampleError("a tensor has the unknown type " + std::to_string(type),
                              message.data() - value.data());
          t.type = static_cast<Type>(type);
        }
        break;
      default: break;
    }
  }
  size_t there = t.ints.size();
  if (t.type == Type::kFloat) there = t.floats.size();
  else if (t.type == Type::kDouble) there = t.doubles.size();
  else if (t.type == Type::kByte) there = t.bytes.size();
  const int64_t at = message.data() - value.data();
  if (t.is_string() && t.strings.size() != 1)
    throw SampleError(
        "a tensor holds " + std::to_string(t.strings.size()) + " byte strings; expected one", at);
  if (!t.is_string() && t.dims.empty() && there > 0) t.dims = {static_cast<int64_t>(there)};
  const int64_t volume = t.is_string() ? 0 : volume_of(t.dims, "a tensor");
  if (!t.is_string() && volume != static_cast<int64_t>(there))
    throw SampleError("a tensor is to have " + std::to_string(volume) + " values, and has " +
                          std::to_string(there),
                      at);
  return t;
}

template <class T>
void copy_as(const std::vector<int64_t>& from, void* to) {
  auto* at = static_cast<T*>(to);
  // What does not fit wraps around, as in a cast of C.
  for (const int64_t x : from) *at++ = static_cast<T>(x);
}

}  // namespace

std::vector<TensorProto> parse_tensor_protos(ByteSpan value) {
  std::vector<TensorProto> all;
  for (Fields f(value, value); f.next();)
    if (f.number() == kProtos && f.is_bytes()) all.push_back(parse_tensor(f.bytes(), value));
  if (all.empty())
    throw SampleError(
        "the value is no TensorProtos of Caffe2, which has its tensors in field 1; "
        "the fields here: " +
            shown_fields(value),
        0);
  return all;
}

void copy_tensor(const TensorProto& t, void* to) {
  using Type = TensorProto::Type;
  const auto copy = [&](const void* from, size_t bytes) {
    if (bytes > 0) std::memcpy(to, from, bytes);
  };
  switch (t.type) {
    case Type::kFloat: return copy(t.floats.data(), t.floats.size() * sizeof(float));
    case Type::kDouble: return copy(t.doubles.data(), t.doubles.size() * sizeof(double));
    case Type::kString: return copy(t.strings[0].data(), t.strings[0].size());
    case Type::kByte: return copy(t.bytes.data(), t.bytes.size());
    case Type::kInt64: return copy(t.ints.data(), t.ints.size() * sizeof(int64_t));
    case Type::kInt32: return copy_as<int32_t>(t.ints, to);
    case Type::kInt8: return copy_as<int8_t>(t.ints, to);
    case Type::kInt16: return copy_as<int16_t>(t.ints, to);
    case Type::kUint16:
    case Type::kFloat16: return copy_as<uint16_t>(t.ints, to);  // the bits of the numbers
    case Type::kBool: {
      auto* at = static_cast<uint8_t*>(to);
      for (const int64_t x : t.ints) *at++ = x != 0;
      return;
    }
    default: return copy_as<uint8_t>(t.ints, to);
  }
}

std::vector<int32_t> tensor_ints(const TensorProto& t, const char* what) {
  using Type = TensorProto::Type;
  std::vector<int32_t> all;
  const auto add = [&](int64_t x) {
    if (x != static_cast<int32_t>(x))
      throw SampleError(std::string(what) + " holds " + std::to_string(x) +
                        ", which does not fit into int32");
    all.push_back(static_cast<int32_t>(x));
  };
  switch (t.type) {
    case Type::kFloat:
    case Type::kDouble:
    case Type::kFloat16:
    case Type::kString:
      throw SampleError(std::string(what) + " is to hold whole numbers, and is of " +
                        (t.is_string() ? "bytes" : info(t.dtype()).name));
    case Type::kByte:
      for (const uint8_t x : t.bytes) add(x);
      return all;
    default:
      for (const int64_t x : t.ints) add(x);
      return all;
  }
}

std::vector<float> tensor_floats(const TensorProto& t, const char* what) {
  using Type = TensorProto::Type;
  if (t.type == Type::kFloat) return t.floats;
  if (t.type == Type::kDouble) return {t.doubles.begin(), t.doubles.end()};
  const std::vector<int32_t> ints = tensor_ints(t, what);
  return {ints.begin(), ints.end()};
}

}  // namespace stoker::stores
