// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/arrays/npy.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <string>
#include <string_view>

#include "base/content.h"
#include "base/error.h"
#include "base/foreign_bytes.h"
#include "base/text.h"

namespace stoker {
namespace {

// The header's text is a dict of Python's: {'descr': '<f4', 'fortran_order': False, 'shape': (3,)}.
class DictReader {
 public:
  DictReader(std::string_view text, size_t begins_at) : text_(text), begins_at_(begins_at) {}

  NpyHeader read() {
    NpyHeader h;
    bool has_descr = false, has_order = false, has_shape = false;
    expect('{');
    while (!skip('}')) {
      const std::string_view key = quoted();
      expect(':');
      if (key == "descr") has_descr = set_descr(h);
      else if (key == "fortran_order") has_order = set_order(h);
      else if (key == "shape") has_shape = set_shape(h);
      else fail("names '" + shortened(key, 40) + "', expected descr, fortran_order or shape");
      if (!skip(',')) {
        expect('}');
        break;
      }
    }
    if (!(has_descr && has_order && has_shape)) fail("lacks one of descr, fortran_order and shape");
    return h;
  }

 private:
  bool set_descr(NpyHeader& h) {
    struct Name {
      std::string_view code;
      DType dtype;
    };
    static constexpr Name kNames[] = {
        {"u1", DType::kUint8},   {"i1", DType::kInt8},    {"u2", DType::kUint16},
        {"i2", DType::kInt16},   {"u4", DType::kUint32},  {"i4", DType::kInt32},
        {"u8", DType::kUint64},  {"i8", DType::kInt64},   {"f2", DType::kFloat16},
        {"f4", DType::kFloat32}, {"f8", DType::kFloat64}, {"b1", DType::kBool}};
    skip_spaces();
    if (at_ < text_.size() && text_[at_] == '[') fail("is of a structured dtype");
    const std::string_view descr = quoted();
    for (const Name& n : kNames)
      if (descr.size() == 3 && descr.substr(1) == n.code &&
          std::string_view("<>|=").find(descr[0]) != std::string_view::npos) {
        h.dtype = n.dtype;
        const char other = std::endian::native == std::endian::little ? '>' : '<';
        h.is_swapped = descr[0] == other && size_of(n.dtype) > 1;
        return true;
      }
    fail("has the dtype '" + shortened(descr, 40) +
         "', expected a bool, or an integer or a float of up to 8 bytes");
  }
  bool set_order(NpyHeader& h) {
    skip_spaces();
    for (const std::string_view word : {"False", "True"})
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        h.is_fortran = word == "True";
        return true;
      }
    fail("has a fortran_order that is neither True nor False");
  }
  bool set_shape(NpyHeader& h) {
    expect('(');
    h.shape = {};
    while (!skip(')')) {
      if (h.shape.rank == kMaxRank) fail("has more than " + std::to_string(kMaxRank) + " axes");
      skip_spaces();
      int64_t extent = -1;
      const auto [end, error] =
          std::from_chars(text_.data() + at_, text_.data() + text_.size(), extent);
      if (error != std::errc() || extent < 0) fail("has an extent that is no whole number");
      at_ = static_cast<size_t>(end - text_.data());
      h.shape.push_back(extent);
      if (!h.shape.is_possible()) fail("claims the shape " + h.shape.str());
      if (!skip(',')) {
        expect(')');
        break;
      }
    }
    return true;
  }

  void skip_spaces() {
    while (at_ < text_.size() && std::string_view(" \t\n").find(text_[at_]) != text_.npos) ++at_;
  }
  bool skip(char c) {
    skip_spaces();
    const bool found = at_ < text_.size() && text_[at_] == c;
    at_ += found;
    return found;
  }
  void expect(char c) {
    if (!skip(c)) fail(std::string("has no '") + c + "' where one belongs");
  }
  std::string_view quoted() {
    skip_spaces();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    const size_t end = text_.find(quote, at_ + 1);
    if ((quote != '\'' && quote != '"') || end == text_.npos) fail("has no text where one belongs");
    const std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return inside;
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw SampleError("the header of the NumPy array " + what,
                      static_cast<int64_t>(begins_at_ + at_));
  }

  std::string_view text_;
  size_t begins_at_, at_ = 0;
};

constexpr size_t kVersionAt = 6, kSizeAt = 8;
// Where the text of the header begins, behind its size in two or four bytes.
size_t text_of_version(int version) { return kSizeAt + (version == 1 ? 2 : 4); }

constexpr ForeignBytes::Words kWords = {"the NumPy array is damaged",
                                        "the NumPy array ends in its header"};
ForeignBytes foreign(EncodedSpan bytes) { return {bytes, ByteOrder::kLittle, kWords}; }

}  // namespace

size_t npy_header_bytes(EncodedSpan bytes) {
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!all.starts_with("\x93NUMPY"))
    throw SampleError("not a NumPy array: expected NPY, found " + describe_content(bytes), 0);
  ForeignBytes b = foreign(bytes).from(kVersionAt);
  foreign(bytes).skip(kSizeAt + 2);  // of any version
  const int version = b.u8();
  if (version < 1 || version > 3)
    throw SampleError("the NumPy array has version " + std::to_string(version) +
                          " of the format, expected 1, 2 or 3",
                      kVersionAt);
  b.skip(1);
  const size_t size = version == 1 ? b.u16() : b.u32();
  constexpr size_t kMost = 1 << 20;
  if (size > kMost)
    throw SampleError("the header of the NumPy array claims " + std::to_string(size) + " bytes",
                      kSizeAt);
  return b.at() + size;
}

NpyHeader read_npy_header(EncodedSpan bytes) {
  const size_t end = npy_header_bytes(bytes);
  foreign(bytes).skip(end);  // it is there
  const size_t text_at = text_of_version(bytes[kVersionAt]);
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), end);
  NpyHeader h = DictReader(all.substr(text_at), text_at).read();
  h.data_at = end;
  return h;
}

void check_npy_size(EncodedSpan bytes, const NpyHeader& h) {
  if (bytes.size() - h.data_at != static_cast<size_t>(h.data_bytes()))
    throw SampleError("the NumPy array of shape " + h.shape.str() + " has " +
                          std::to_string(bytes.size() - h.data_at) + " bytes, expected " +
                          std::to_string(h.data_bytes()),
                      static_cast<int64_t>(bytes.size()));
}

View npy_array(EncodedSpan bytes, const NpyHeader& h, Arena& scratch) {
  check_npy_size(bytes, h);
  const int64_t element = size_of(h.dtype);
  const auto size = static_cast<size_t>(element), all = static_cast<size_t>(h.data_bytes());
  const uint8_t* data = bytes.data() + h.data_at;
  if (h.is_swapped || reinterpret_cast<uintptr_t>(data) % size) {
    uint8_t* to = scratch.array<uint8_t>(all);
    if (!h.is_swapped) std::copy_n(data, all, to);
    else
      for (size_t at = 0; at < all; at += size)
        std::reverse_copy(data + at, data + at + size, to + at);
    data = to;
  }
  View v = View::dense(const_cast<uint8_t*>(data), h.dtype, h.shape);
  if (h.is_fortran)
    for (int64_t a = 0, step = element; a < h.shape.rank; ++a) {
      v.strides[static_cast<int>(a)] = step;
      step *= h.shape[static_cast<int>(a)];
    }
  return v;
}

}  // namespace stoker
