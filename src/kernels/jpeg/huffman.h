// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Tables that decode the Huffman codes of JPEG files of 8 bits.
//
// Note [Symbols]
// A code stands for a symbol, whose lower four bits are the size of a value; that many bits follow
// the code. The upper four bits of an AC symbol count the zeros before the value. An AC symbol
// without a value ends the block, or stands for 16 zeros. A block is read by positions in zigzag
// order: an AC symbol advances by its zeros and itself, the end of a block by kEndOfBlock, and what
// no file of 8 bits holds by kBadCode. So the position behind the last symbol tells what became of
// the block.
//
// Note [Tables of symbols]
// The next bits of the data are the index of an entry. `singles` have one symbol each. `pairs` have
// two where both codes and the value of the first fit into the index. `skips` have up to four
// symbols, without their values. An entry of 0 means that the code is bad or longer than the index:
// find_symbol() knows.
#pragma once
#include <cstdint>

namespace stoker::jpeg {

inline constexpr int kSingleBits = 11, kPairBits = 10, kSkipBits = kSingleBits;
inline constexpr uint32_t kEndOfBlock = 128, kBadCode = 64;
// The most bits that values of files of 8 bits have.
inline constexpr int kLargestDc = 11, kLargestAc = 10, kLongestCode = 16;

// A code as a file defines it: how many codes have 1 to 16 bits, and their symbols by length.
struct HuffmanCode {
  const uint8_t* counts = nullptr;
  const uint8_t* symbols = nullptr;

  int size() const;
  // Whether it is a code in which no word consists of ones only.
  bool is_valid() const;
};

struct Single {
  uint32_t bits;

  static constexpr Single of(uint32_t length, uint32_t size, uint32_t advance) {
    return {(length + size) | length << 8 | size << 16 | advance << 24};
  }
  constexpr uint32_t total() const { return bits & 255; }  // bits of the code and the value
  constexpr uint32_t length() const { return bits >> 8 & 255; }  // of the code
  constexpr uint32_t size() const { return bits >> 16 & 255; }  // of the value
  constexpr uint32_t advance() const { return bits >> 24; }
};

// One or two symbols, in 64 bits. One alone stands at the second place; the first value is then 0
// and goes to the same position.
struct Pair {
  uint64_t bits;

  static constexpr Pair of(Single s) {
    const uint64_t total = s.bits & 255, advance = s.bits >> 24;
    return {total | uint64_t{s.length()} << 8 | uint64_t{63 - s.size()} << 16 | advance << 32 |
            total << 48 | advance << 56};
  }
  uint8_t total() const { return static_cast<uint8_t>(bits); }  // bits of all
  uint64_t second_at() const { return bits >> 8 & 63; }  // where the bits of its value begin
  uint64_t second_shift() const { return bits >> 16 & 63; }  // 63 less their number
  uint64_t first_advance() const { return bits >> 32 & 255; }
  int16_t first() const { return static_cast<int8_t>(bits >> 40); }  // its value
  uint8_t first_total() const { return static_cast<uint8_t>(bits >> 48); }
  uint64_t advance() const { return bits >> 56; }  // of both
};

// The symbols of a code by their words, for words of any length.
struct LongCodes {
  uint32_t ends[kLongestCode + 1];  // behind the last word of a length, as the upper bits of 16
  int32_t offsets[kLongestCode + 1];  // of the symbols of a length, less their first word
  uint8_t symbols[256];
};

struct DcTable {
  alignas(64) uint32_t singles[1 << kSingleBits];
  LongCodes longs;

  void build(const HuffmanCode& code);  // Requires: code.is_valid()
};
struct AcTable {
  alignas(64) uint64_t pairs[1 << kPairBits];
  alignas(64) uint32_t singles[1 << kSingleBits];
  alignas(64) uint16_t skips[1 << kSkipBits];  // bits of all | their advance << 8
  LongCodes longs;

  void build(const HuffmanCode& code);  // all but `skips`; requires: code.is_valid()
  void build_skips();
};

// Of a scan of some AC coefficients: Note [Bands] of progressive.h. The end of a block has
// kEndOfBlock as its advance, and a value that says how many blocks end.
struct BandTable {
  alignas(64) uint32_t singles[1 << kSingleBits];
  LongCodes longs;
  bool refines;  // all values are one bit

  void build(const HuffmanCode& code, bool is_refinement);  // Requires: code.is_valid()
};

Single find_symbol(const DcTable& table, uint64_t bits);
Single find_symbol(const AcTable& table, uint64_t bits);
Single find_symbol(const BandTable& table, uint64_t bits);

}  // namespace stoker::jpeg
