// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The Huffman codes of lossless JPEG (ITU-T T.81, annexes F and H), and the bits of a scan.
#pragma once
#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "base/error.h"
#include "codec/plain_jpeg/segments.h"

namespace stoker::lossless {

inline constexpr int kPadding = 8;  // bytes that writers may leave before a marker

[[noreturn]] inline void fail(const std::string& what, size_t at) {
  throw SampleError("JPEG data is damaged: " + what, static_cast<int64_t>(at));
}

// The codes of a Huffman table. A symbol is how many bits a difference has.
class Codes {
 public:
  // A difference that the next bits hold as a whole.
  struct Short {
    int16_t difference = 0;
    uint8_t bits = 0;  // with those of its code; 0: it is longer, or there is no such code
  };
  static constexpr int kShort = 12;

  bool is_there() const { return is_there_; }

  // Reads counts of the codes of 1 to 16 bits, and as many symbols.
  void read(EncodedSpan b, size_t at) {
    short_.fill({});
    int code = 0;
    size_t next = 0;
    for (int length = 1; length <= 16; ++length, code <<= 1) {
      first_[length] = static_cast<int>(next) - code;
      for (int i = 0; i < b[static_cast<size_t>(length) - 1]; ++i, ++code, ++next) {
        symbols_[next] = b[16 + next];
        if (symbols_[next] > 16) fail("a Huffman table has differences of over 16 bits", at);
        if (code >= 1 << length) fail("a Huffman table has more codes than there can be", at);
        add_short(code, length, symbols_[next]);
      }
      end_[length] = code;
    }
    is_there_ = true;
  }

  Short find_short(uint64_t bits) const { return short_[bits >> (64 - kShort)]; }

  // The symbol that begins with the highest of 16 bits, and its length times 256. 0: there is none.
  int find(uint32_t bits) const {
    for (int length = 1; length <= 16; ++length) {
      const int code = static_cast<int>(bits >> (16 - length));
      const int place = code + first_[length];
      if (code < end_[length]) return length << 8 | symbols_[static_cast<size_t>(place)];
    }
    return 0;
  }

  // The difference that the `size` bits behind a code stand for.
  static int difference_of(int bits, int size) {
    return bits < 1 << (size - 1) ? bits - (1 << size) + 1 : bits;
  }

 private:
  void add_short(int code, int length, int size) {
    const int bits = length + size, rest = kShort - bits;
    if (rest < 0) return;
    for (int v = 0; v < 1 << size; ++v) {
      const int difference = size == 0 ? 0 : difference_of(v, size);
      const size_t first = static_cast<size_t>(code) << size | static_cast<size_t>(v);
      std::fill_n(&short_[first << rest], 1 << rest,
                  Short{static_cast<int16_t>(difference), static_cast<uint8_t>(bits)});
    }
  }

  bool is_there_ = false;
  std::array<uint8_t, 256> symbols_;
  std::array<int, 17> first_, end_;  // by length: the first symbol less its code; behind the codes
  std::array<Short, 1 << kShort> short_;
};

// The bits of a scan up to the next marker.
class Bits {
 public:
  Bits(EncodedSpan file, size_t at) : file_(file), at_(at) {}
  size_t at() const { return at_ - static_cast<size_t>(held_ / 8); }  // near the next bit

  // The next difference of two samples.
  int difference(const Codes& codes) {
    if (held_ < 32) fill();
    const Codes::Short next = codes.find_short(bits_);
    if (next.bits > 0 && next.bits <= held_) {
      drop(next.bits);
      return next.difference;
    }
    return long_difference(codes);
  }

  int long_difference(const Codes& codes) {
    const int found = codes.find(static_cast<uint32_t>(bits_ >> 48));
    const int length = found >> 8, size = found & 255;
    if (length == 0 || length > held_) end_or(found == 0 && held_ >= 16);
    drop(length);
    if (size == 0) return 0;
    if (size == 16) return 32768;
    if (size > held_) end_or(false);
    const int v = static_cast<int>(bits_ >> (64 - size));
    drop(size);
    return Codes::difference_of(v, size);
  }

  // Passes over the restart marker of this number, 0 to 7.
  void restart(int number) {
    fill();
    if (held_ < 8 && at_ < file_.size()) {
      while (at_ + 1 < file_.size() && file_[at_ + 1] == 0xFF) ++at_;
      if (at_ + 1 < file_.size() && file_[at_ + 1] == kRst0 + number) {
        at_ += 2;
        bits_ = 0;
        held_ = 0;
        return;
      }
    }
    if (at_ >= file_.size()) end_or(false);
    fail("there is no restart marker where one should be", at());
  }

  // Judges what follows the last sample.
  void finish() {
    for (int i = 0; i <= kPadding; ++i) {
      fill();
      if (held_ < 8) return;
      drop(8);
    }
    fail("it goes on behind the picture", at());
  }

 private:
  void drop(int count) {
    bits_ <<= count;
    held_ -= count;
  }
  // Loads bits. Stops at markers and at the end of the file.
  void fill() {
    if (held_ <= 56 && file_.size() - at_ >= 8) {
      uint64_t next;
      std::memcpy(&next, file_.data() + at_, sizeof next);
      const uint64_t ones = ~next;
      if (!((ones - 0x0101010101010101) & ~ones & 0x8080808080808080)) {  // no byte is FF
        const int bytes = (64 - held_) / 8;
        const uint64_t kept = ~uint64_t{0} << (64 - 8 * bytes);
        bits_ |= (__builtin_bswap64(next) & kept) >> held_;
        held_ += 8 * bytes;
        at_ += static_cast<size_t>(bytes);
        return;
      }
    }
    for (; held_ <= 56 && at_ < file_.size(); held_ += 8) {
      const uint8_t byte = file_[at_];
      if (byte == 0xFF && (at_ + 1 == file_.size() || file_[at_ + 1] != 0)) return;
      bits_ |= uint64_t{byte} << (56 - held_);
      at_ += byte == 0xFF ? 2 : 1;
    }
  }
  [[noreturn]] void end_or(bool is_wrong_code) const {
    if (is_wrong_code) fail("a code stands for nothing", at());
    if (at_ + 1 >= file_.size())
      throw SampleError("JPEG data ends prematurely", static_cast<int64_t>(file_.size()));
    fail("it ends before the picture", at_);
  }

  EncodedSpan file_;
  size_t at_;
  uint64_t bits_ = 0;  // the next one is the highest
  int held_ = 0;
};

}  // namespace stoker::lossless
