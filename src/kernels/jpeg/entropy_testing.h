// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// For tests only: random Huffman codes, and blocks that are coded bit by bit. One thread at a time.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "kernels/jpeg/entropy.h"
#include "kernels/rows/rows_testing.h"

namespace stoker::test {

using Bits = std::vector<bool>;
using Block = std::vector<int>;  // 64 coefficients in zigzag order

inline void put(Bits& to, uint32_t value, int count) {
  for (int i = count - 1; i >= 0; --i) to.push_back(value >> i & 1);
}

// A code for some symbols, as a file defines it, and what it codes.
struct Code {
  std::vector<uint8_t> counts = std::vector<uint8_t>(16), symbols;
  uint32_t words[256] = {};
  int lengths[256] = {};

  // Requires: the lengths, which ascend, leave a word of ones free.
  Code(const std::vector<uint8_t>& symbols, const std::vector<int>& of_symbols) : symbols(symbols) {
    uint32_t word = 0;
    for (size_t i = 0; i < symbols.size(); ++i) {
      if (i > 0) word = (word + 1) << (of_symbols[i] - of_symbols[i - 1]);
      words[symbols[i]] = word;
      lengths[symbols[i]] = of_symbols[i];
      ++counts[static_cast<size_t>(of_symbols[i] - 1)];
    }
  }
  jpeg::HuffmanCode defined() const { return {counts.data(), symbols.data()}; }
  void put_symbol(Bits& to, int symbol) const { put(to, words[symbol], lengths[symbol]); }
};

inline int size_of(int value) {
  int size = 0;
  for (int v = std::abs(value); v > 0; v /= 2) ++size;
  return size;
}
inline void put_value(Bits& to, int value, int size) {
  put(to, static_cast<uint32_t>(value < 0 ? value + (1 << size) - 1 : value), size);
}

inline void put_block(Bits& to, const Code& dc, const Code& ac, int difference,
                      const Block& block) {
  dc.put_symbol(to, size_of(difference));
  put_value(to, difference, size_of(difference));
  int zeros = 0;
  for (size_t k = 1; k < 64; ++k) {
    if (block[k] == 0) {
      ++zeros;
      continue;
    }
    for (; zeros > 15; zeros -= 16) ac.put_symbol(to, 0xF0);
    ac.put_symbol(to, zeros * 16 + size_of(block[k]));
    put_value(to, block[k], size_of(block[k]));
    zeros = 0;
  }
  if (zeros > 0) ac.put_symbol(to, 0);
}

struct Tables {
  std::unique_ptr<jpeg::DcTable> dc = std::make_unique<jpeg::DcTable>();
  std::unique_ptr<jpeg::AcTable> ac = std::make_unique<jpeg::AcTable>();

  Tables(const Code& dc_code, const Code& ac_code) {
    dc->build(dc_code.defined());
    ac->build(ac_code.defined());
    ac->build_skips();
  }
};

// The bits as bytes, with zeros behind them.
inline std::vector<uint8_t> bytes_of(const Bits& bits) {
  std::vector<uint8_t> bytes(bits.size() / 8 + 1 + static_cast<size_t>(jpeg::kMostBytesOfMcu));
  for (size_t i = 0; i < bits.size(); ++i)
    if (bits[i]) bytes[i / 8] = static_cast<uint8_t>(bytes[i / 8] | 0x80 >> i % 8);
  return bytes;
}

// Makes random codes and blocks.
class WithCodes : public OnTarget {
 protected:
  // Lengths of all kinds: `steep` codes have short words, and words of 16 bits.
  Code random_code(std::vector<uint8_t> symbols, bool steep) {
    std::shuffle(symbols.begin(), symbols.end(), rng_);
    std::vector<int> lengths;
    int length = steep ? 1 : 2, free = 1 << length;
    for (size_t left = symbols.size(); left > 0; --left) {
      // Longer words from here on, until there are enough of them, and one to spare.
      while (length < 16 && (free < 2 || pick(0, 2) == 0 ||
                             (int64_t{free} - 1) << (16 - length) <= static_cast<int64_t>(left)))
        ++length, free *= 2;
      lengths.push_back(length);
      --free;
    }
    return Code(symbols, lengths);
  }
  Code random_dc(bool steep) {
    std::vector<uint8_t> symbols;
    for (uint8_t s = 0; s <= jpeg::kLargestDc; ++s) symbols.push_back(s);
    return random_code(symbols, steep);
  }
  Code random_ac(bool steep) {
    std::vector<uint8_t> symbols = {0, 0xF0};
    for (int zeros = 0; zeros < 16; ++zeros)
      for (int size = 1; size <= jpeg::kLargestAc; ++size)
        symbols.push_back(static_cast<uint8_t>(zeros * 16 + size));
    return random_code(symbols, steep);
  }
  // Values of at most `most` bits, a share of them zeros.
  Block random_block(int64_t zeros_of_16, int64_t most) {
    Block block(64);
    for (size_t k = 1; k < 64; ++k) {
      const int64_t range = int64_t{1} << pick(1, most);
      if (pick(0, 15) >= zeros_of_16) block[k] = static_cast<int>(pick(1 - range, range - 1));
    }
    return block;
  }
};

}  // namespace stoker::test
