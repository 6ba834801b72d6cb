// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The fields of a message of Protocol Buffers, by protozero.
//
// As in protobuf's own classes, a reader takes a field of another kind than its own for an unknown
// one, and leaves it out. Groups, which newer messages do not have, are refused.
#pragma once
#include <algorithm>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <vector>

#include "stores/ranges.h"

namespace stoker::stores {

class Fields {
  bool is(protozero::pbf_wire_type type) const { return reader_.wire_type() == type; }
  template <class F>
  auto take(F f) {
    is_pending_ = false;
    return guarded(f);
  }
  template <class F>
  auto guarded(F f) {
    try {
      return f();
    } catch (const protozero::exception&) {
      const auto* at = reinterpret_cast<const uint8_t*>(reader_.data().data());
      throw SampleError("the record is no message of Protocol Buffers", at - whole_.data());
    }
  }

 public:
  // Offsets in errors are counted from the beginning of `whole`.
  Fields(ByteSpan message, ByteSpan whole)
      : reader_(reinterpret_cast<const char*>(message.data()), message.size()), whole_(whole) {}

  // All of these throw SampleError.
  bool next() {
    return guarded([&] {
      if (is_pending_) reader_.skip();
      return is_pending_ = reader_.next();
    });
  }
  uint32_t number() const { return reader_.tag(); }
  bool is_bytes() const { return is(protozero::pbf_wire_type::length_delimited); }
  bool is_varint() const { return is(protozero::pbf_wire_type::varint); }
  bool is_fixed32() const { return is(protozero::pbf_wire_type::fixed32); }
  bool is_fixed64() const { return is(protozero::pbf_wire_type::fixed64); }

  // Requires: the field is of this kind. Each is called once at most.
  ByteSpan bytes() {
    return take([&] {
      const protozero::data_view v = reader_.get_view();
      return ByteSpan(reinterpret_cast<const uint8_t*>(v.data()), v.size());
    });
  }
  int64_t varint() {
    return take([&] { return reader_.get_int64(); });
  }
  uint32_t fixed32() {
    return take([&] { return reader_.get_fixed32(); });
  }
  uint64_t fixed64() {
    return take([&] { return reader_.get_fixed64(); });
  }

 private:
  protozero::pbf_reader reader_;
  ByteSpan whole_;
  bool is_pending_ = false;
};

// The fields of a message, for the error where it is of another schema: "1 (bytes), 2 (number)".
// Throws SampleError.
inline std::string shown_fields(ByteSpan message) {
  constexpr size_t kShown = 8;
  std::vector<std::string> all;
  for (Fields f(message, message); f.next() && all.size() <= kShown;) {
    const char* const kind = f.is_bytes()     ? " (bytes)"
                             : f.is_varint()  ? " (number)"
                             : f.is_fixed32() ? " (32 bits)"
                                              : " (64 bits)";
    std::string shown = std::to_string(f.number()) + kind;
    if (std::ranges::find(all, shown) == all.end()) all.push_back(std::move(shown));
  }
  if (all.empty()) return "none";
  std::string text = all[0];
  for (size_t i = 1; i < std::min(all.size(), kShown); ++i) text += ", " + all[i];
  return all.size() > kShown ? text + " and more" : text;
}

// Calls f(value) for every number of a packed list. Throws SampleError.
template <class F>
void for_varints(ByteSpan packed, ByteSpan whole, F f) {
  const char* at = reinterpret_cast<const char*>(packed.data());
  const char* const end = at + packed.size();
  while (at != end) {
    uint64_t value = 0;
    try {
      value = protozero::decode_varint(&at, end);
    } catch (const protozero::exception&) {
      throw SampleError("a list of numbers is damaged",
                        reinterpret_cast<const uint8_t*>(at) - whole.data());
    }
    f(static_cast<int64_t>(value));
  }
}
// The same for numbers of type T that are stored as they are.
template <class T, class F>
void for_fixed(ByteSpan packed, ByteSpan whole, F f) {
  if (packed.size() % sizeof(T) != 0)
    throw SampleError("a list of numbers has " + std::to_string(packed.size()) +
                          " bytes, and each number takes " + std::to_string(sizeof(T)),
                      packed.data() - whole.data());
  for (size_t at = 0; at < packed.size(); at += sizeof(T)) f(number_at<T>(packed, at));
}

}  // namespace stoker::stores
