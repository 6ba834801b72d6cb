// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Numbers and pieces of bytes that others wrote, such as the headers of files. No other place puts
// a number together from bytes, so one rule holds where bytes end too soon.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace stoker {

enum class ByteOrder : uint8_t { kLittle, kBig };

// The number at a place, which need not be aligned: for arrays whose size was checked. Requires: it
// lies within the bytes.
template <class T>
T number_at(std::span<const uint8_t> bytes, size_t at, ByteOrder order = ByteOrder::kLittle) {
  T v;
  std::memcpy(&v, bytes.data() + at, sizeof v);
  if ((order == ByteOrder::kLittle) == (std::endian::native == std::endian::little)) return v;
  if constexpr (sizeof(T) == 2)
    return std::bit_cast<T>(__builtin_bswap16(std::bit_cast<uint16_t>(v)));
  else if constexpr (sizeof(T) == 4)
    return std::bit_cast<T>(__builtin_bswap32(std::bit_cast<uint32_t>(v)));
  else if constexpr (sizeof(T) == 8)
    return std::bit_cast<T>(__builtin_bswap64(std::bit_cast<uint64_t>(v)));
  else return v;
}

// The bytes of a file, or of a part of it, read from a place on. Places are those of the file, also
// in a part. Whatever is asked for beyond the end is refused by a SampleError with the offset of
// the end, and nothing is read. Valid as long as the bytes.
//
//   constexpr ForeignBytes::Words kWords = {"PNG header is damaged"};
//   ForeignBytes b(file, ByteOrder::kBig, kWords);
//   b.skip(16);
//   const uint32_t width = b.u32();   // "PNG header is damaged: expected 4 more bytes, found 3"
class ForeignBytes {
 public:
  // What errors say. Requires: they live as long as the process.
  struct Words {
    const char* damaged = "the data is damaged";  // what is wrong follows, behind a colon
    const char* ended = nullptr;  // where the end comes too soon, if not as in the example
  };
  static const Words kAnyWords;

  ForeignBytes() = default;
  ForeignBytes(std::span<const uint8_t> file, ByteOrder order, const Words& words = kAnyWords)
      : file_(file.data()), end_(file.size()), words_(&words), order_(order) {}
  ForeignBytes(std::span<const uint8_t>, ByteOrder, Words&&) = delete;  // they would not live

  size_t at() const { return at_; }
  size_t end() const { return end_; }
  size_t left() const { return end_ - at_; }
  bool has(uint64_t size) const { return size <= left(); }
  // The same bytes from another place on. None is left behind the end.
  ForeignBytes from(uint64_t place) const {
    return {file_, static_cast<size_t>(std::min<uint64_t>(place, end_)), end_, words_, order_};
  }

  uint8_t u8() { return take<uint8_t>(); }
  uint16_t u16() { return take<uint16_t>(); }
  uint32_t u24() { return static_cast<uint32_t>(number(3)); }
  uint32_t u32() { return take<uint32_t>(); }
  uint64_t u64() { return take<uint64_t>(); }
  // A number of 1 to 8 bytes.
  uint64_t number(size_t size) {
    const std::span<const uint8_t> b = bytes(size);
    uint64_t v = 0;
    for (size_t i = 0; i < size; ++i) v = v << 8 | b[order_ == ByteOrder::kBig ? i : size - 1 - i];
    return v;
  }
  std::span<const uint8_t> bytes(uint64_t size) {
    const uint8_t* const begin = file_ + at_;
    skip(size);
    return {begin, static_cast<size_t>(size)};
  }
  std::string_view text(uint64_t size) {
    const std::span<const uint8_t> b = bytes(size);
    return {reinterpret_cast<const char*>(b.data()), b.size()};
  }
  void skip(uint64_t size) {
    if (!has(size)) fail_at_end(size);
    at_ += static_cast<size_t>(size);
  }
  // The next bytes by themselves: fewer where the end comes before.
  ForeignBytes part(uint64_t size) {
    const size_t begin = at_;
    at_ += static_cast<size_t>(std::min<uint64_t>(size, left()));
    return {file_, begin, at_, words_, order_};
  }
  // All that is left, without taking it.
  std::span<const uint8_t> rest() const { return {file_ + at_, left()}; }

  // Throws SampleError, such as "BMP header is damaged: its size is 7", with the offset.
  [[noreturn]] void fail(const std::string& what, size_t at) const { refuse(*words_, what, at); }
  [[noreturn]] void fail(const std::string& what) const { fail(what, at_); }
  // Says that the end comes before so many bytes.
  [[noreturn]] void fail_at_end(uint64_t wanted) const { refuse(*words_, wanted, left(), end_); }

 private:
  ForeignBytes(const uint8_t* file, size_t at, size_t end, const Words* words, ByteOrder order)
      : file_(file), at_(at), end_(end), words_(words), order_(order) {}

  template <class T>
  T take() {
    if (!has(sizeof(T))) fail_at_end(sizeof(T));
    const T v = number_at<T>({file_ + at_, sizeof(T)}, 0, order_);
    at_ += sizeof(T);
    return v;
  }

  // Takes values alone, so that those of a reader may stay in registers.
  [[noreturn]] static void refuse(const Words& words, const std::string& what, size_t at);
  [[noreturn]] static void refuse(const Words& words, uint64_t wanted, size_t left, size_t end);

  const uint8_t* file_ = nullptr;
  size_t at_ = 0, end_ = 0;
  const Words* words_ = &kAnyWords;
  ByteOrder order_ = ByteOrder::kLittle;
};

inline constexpr ForeignBytes::Words ForeignBytes::kAnyWords;

}  // namespace stoker
