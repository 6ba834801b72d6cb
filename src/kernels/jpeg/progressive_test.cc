// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Every SIMD target reads the bands of scans that were coded bit by bit, and reads any bits as a
// plain loop over coefficients does.
#include "kernels/jpeg/progressive.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "kernels/jpeg/entropy_testing.h"
#include "kernels/jpeg/idct.h"
#include "kernels/jpeg/zigzag.h"

namespace stoker {
namespace {

using test::Bits;
using test::Block;
using test::bytes_of;
using test::Code;
using test::put;
using test::put_value;
using test::size_of;

constexpr int kMostBlocks = 50;

struct Scan {
  int first, last, shift;
  bool refines;
};

// A value without so many lower bits.
int upper(int value, int shift) {
  const int size = std::abs(value) >> shift;
  return value < 0 ? -size : size;
}

// Codes the blocks of a scan one after the other.
class Coder {
 public:
  Coder(const Code& code, const Scan& scan, Bits& to) : code_(code), scan_(scan), to_(to) {}

  void put_block(const Block& block) {
    int newest = 0;
    for (int k = scan_.first; k <= scan_.last; ++k)
      if (begins(block, k)) newest = k;
    int zeros = 0;
    Bits more;  // of coefficients that were not zero before, since the last symbol
    for (int k = scan_.first; k <= scan_.last; ++k) {
      const int value = value_of(block, k);
      if (value != 0 && !begins(block, k)) {
        more.push_back(value % 2 != 0);
      } else if (value == 0) {
        if (++zeros < 16 || k > newest) continue;
        put_symbol(0xF0, 0, more);
        zeros = 0;
      } else {
        put_symbol(zeros * 16 + size_of(value), value, more);
        zeros = 0;
      }
    }
    if (zeros == 0 && more.empty()) return;
    ++run_;
    after_run_.insert(after_run_.end(), more.begin(), more.end());
  }
  void end_run() {
    if (run_ == 0) return;
    const int size = size_of(run_) - 1;
    code_.put_symbol(to_, size * 16);
    put(to_, static_cast<uint32_t>(run_ - (1 << size)), size);
    to_.insert(to_.end(), after_run_.begin(), after_run_.end());
    after_run_.clear();
    run_ = 0;
  }

 private:
  int value_of(const Block& block, int k) const {
    return upper(block[static_cast<size_t>(k)], scan_.shift);
  }
  bool begins(const Block& block, int k) const {
    const int value = std::abs(value_of(block, k));
    return scan_.refines ? value == 1 : value != 0;
  }
  void put_symbol(int symbol, int value, Bits& more) {
    end_run();
    code_.put_symbol(to_, symbol);
    put_value(to_, value, symbol & 15);
    to_.insert(to_.end(), more.begin(), more.end());
    more.clear();
  }

  const Code& code_;
  const Scan scan_;
  Bits& to_;
  int run_ = 0;
  Bits after_run_;
};

// Reads blocks one bit and one coefficient after the other.
class PlainReader {
 public:
  PlainReader(const Code& code, const Scan& scan, const std::vector<uint8_t>& data)
      : code_(code), scan_(scan), data_(data) {}

  // Returns false at what no block has.
  bool read(Block& block) {
    int k = scan_.first;
    while (run_ == 0 && k <= scan_.last) {
      const int symbol = next_symbol(), size = symbol & 15, zeros = symbol >> 4;
      if (symbol < 0 || (scan_.refines && size > 1)) return false;
      if (size == 0 && zeros < 15) {
        run_ = (1 << zeros) + next(zeros);
        break;
      }
      int value = next(size);
      if (value < 1 << size >> 1) value -= (1 << size) - 1;
      if (!pass(block, k, zeros)) return false;
      if (size > 0) at(block, k) = static_cast<int>(static_cast<unsigned>(value) << scan_.shift);
      ++k;
    }
    if (run_ == 0) return true;
    --run_;
    for (; k <= scan_.last; ++k) refine(at(block, k));
    return true;
  }
  int64_t used() const { return static_cast<int64_t>(used_); }

 private:
  static int& at(Block& block, int k) { return block[static_cast<size_t>(k)]; }

  // Goes to the zero behind so many others.
  bool pass(Block& block, int& k, int zeros) {
    for (; k <= scan_.last; ++k) {
      if (at(block, k) != 0 && scan_.refines) refine(at(block, k));
      else if (zeros-- == 0) return true;
    }
    return false;
  }
  void refine(int& value) {
    if (scan_.refines && value != 0 && next(1)) value += (value < 0 ? -1 : 1) * (1 << scan_.shift);
  }
  int next(int count) {
    int value = 0;
    for (; count > 0; --count, ++used_)
      value = 2 * value + (used_ / 8 < data_.size() ? data_[used_ / 8] >> (7 - used_ % 8) & 1 : 0);
    return value;
  }
  int next_symbol() {
    uint32_t word = 0;
    for (int length = 1; length <= 16; ++length) {
      word = word * 2 + static_cast<uint32_t>(next(1));
      for (const uint8_t s : code_.symbols)
        if (code_.lengths[s] == length && code_.words[s] == word) return s;
    }
    return -1;
  }

  const Code& code_;
  const Scan scan_;
  const std::vector<uint8_t>& data_;
  size_t used_ = 0;  // bits
  int run_ = 0;
};

class BandOnTarget : public test::WithCodes {
 protected:
  Code random_band_code(bool refines, bool steep) {
    std::vector<uint8_t> symbols;
    for (int zeros = 0; zeros < 16; ++zeros)
      for (int size = 0; size <= (refines ? 1 : jpeg::kLargestAc); ++size)
        symbols.push_back(static_cast<uint8_t>(zeros * 16 + size));
    return random_code(symbols, steep);
  }
  static std::unique_ptr<jpeg::BandTable> table_of(const Code& code, bool refines) {
    auto table = std::make_unique<jpeg::BandTable>();
    table->build(code.defined(), refines);
    return table;
  }

  // Reads a row in random parts, which also end where the data that may be used does.
  bool read(const Scan& scan, const jpeg::BandTable& table, const std::vector<uint8_t>& data,
            int64_t count, jpeg::BitReader& reader) {
    int32_t run = 0;
    const jpeg::Band band{&table, scan.first, scan.last, scan.shift, &run, row_};
    const uint8_t* const last_limit = data.data() + data.size() - jpeg::kMostBytesOfMcu;
    const uint8_t* limit = data.data();
    for (int64_t x = 0; x < count && reader.next <= last_limit;) {
      const jpeg::McusRead got = jpeg::read_band(band, x, pick(x + 1, count), limit, reader);
      if (!got.is_good) return false;
      x = got.end;
      limit = std::min(limit + pick(1, 100), last_limit);
    }
    return reader.next <= last_limit;
  }
  int16_t value(int64_t block, int k) const { return row_[64 * block + 63 - k]; }

  alignas(64) int16_t row_[64 * kMostBlocks];
};

TEST_P(BandOnTarget, ReadsWhatWasCoded) {
  for (int round = 0; round < 60; ++round) {
    const int64_t count = pick(1, kMostBlocks);
    const int first = static_cast<int>(pick(1, 63)), last = static_cast<int>(pick(first, 63));
    const int64_t zeros = pick(0, 16);
    std::vector<Block> blocks;
    for (int64_t b = 0; b < count; ++b)
      blocks.push_back(pick(0, 2) ? random_block(zeros, pick(1, jpeg::kLargestAc)) : Block(64));
    std::fill_n(row_, 64 * count, int16_t{0});
    const int most = static_cast<int>(pick(0, 3));
    for (int shift = most; shift >= 0; --shift) {
      const Scan scan{first, last, shift, shift < most};
      const Code code = random_band_code(scan.refines, round % 3 == 0);
      Bits bits;
      Coder coder(code, scan, bits);
      for (const Block& block : blocks) {
        coder.put_block(block);
        if (pick(0, 3) == 0) coder.end_run();
      }
      coder.end_run();
      auto data = bytes_of(bits);
      data.resize(data.size() + 8);  // a reader is that much ahead
      jpeg::BitReader reader = jpeg::bits_at(data.data(), 0);
      ASSERT_TRUE(read(scan, *table_of(code, scan.refines), data, count, reader));
      EXPECT_EQ(reader.left(data.data()), -static_cast<int64_t>(bits.size()));
      for (int64_t b = 0; b < count; ++b)
        for (int k = 1; k < 64; ++k) {
          const int want =
              k < first || k > last
                  ? 0
                  : upper(blocks[static_cast<size_t>(b)][static_cast<size_t>(k)], shift);
          ASSERT_EQ(value(b, k), want * (1 << shift)) << "block " << b << ", position " << k;
        }
    }
  }
}

TEST_P(BandOnTarget, ReadsAnyBitsAsAPlainLoop) {
  int good = 0;
  for (int round = 0; round < 600; ++round) {
    const bool refines = round % 2;
    const int first = static_cast<int>(pick(1, 40)), last = static_cast<int>(pick(first, 63));
    const Scan scan{first, last, static_cast<int>(pick(0, 3)), refines};
    const Code code = random_band_code(refines, round % 3 == 0);
    const int64_t count = pick(1, 12);
    std::vector<Block> blocks(static_cast<size_t>(count), Block(64));
    std::fill_n(row_, 64 * count, int16_t{0});
    for (int64_t b = 0; b < count && refines; ++b)
      for (int k = 1; k < 64; ++k) {
        if (pick(0, 2)) continue;
        blocks[static_cast<size_t>(b)][static_cast<size_t>(k)] = static_cast<int>(pick(-3, 3)) * 16;
        row_[64 * b + 63 - k] =
            static_cast<int16_t>(blocks[static_cast<size_t>(b)][static_cast<size_t>(k)]);
      }
    auto data = noise<uint8_t>(4000);
    data.resize(data.size() + static_cast<size_t>(jpeg::kMostBytesOfMcu));
    PlainReader plain(code, scan, data);
    const bool want =
        std::all_of(blocks.begin(), blocks.end(), [&](Block& b) { return plain.read(b); });
    jpeg::BitReader reader = jpeg::bits_at(data.data(), 0);
    ASSERT_EQ(read(scan, *table_of(code, refines), data, count, reader), want);
    if (!want) continue;
    ++good;
    EXPECT_EQ(reader.left(data.data()), -plain.used());
    for (int64_t b = 0; b < count; ++b)
      for (int k = 1; k < 64; ++k)
        ASSERT_EQ(value(b, k),
                  static_cast<int16_t>(blocks[static_cast<size_t>(b)][static_cast<size_t>(k)]));
  }
  EXPECT_GT(good, 50);
}

// Two blocks of an MCU lie in one row, and one in another.
TEST_P(BandOnTarget, ReadsDcCoefficientsAndTheirLowerBits) {
  for (int shift = 0; shift < 4; ++shift) {
    const Code code = random_dc(shift % 2);
    jpeg::DcTable table;
    table.build(code.defined());
    constexpr int64_t kMcus = 9;
    int16_t rows[2][2 * kMcus] = {};
    int32_t predictors[2] = {};
    jpeg::Mcu mcu{.count = 3};
    mcu.blocks[0] = {&table, nullptr, &predictors[0], rows[0], 2, 0};
    mcu.blocks[1] = {&table, nullptr, &predictors[0], rows[0], 2, 1};
    mcu.blocks[2] = {&table, nullptr, &predictors[1], rows[1], 1, 0};
    Bits bits, lower;
    std::vector<int> want;
    int last[2] = {};
    for (int64_t b = 0; b < 3 * kMcus; ++b) {
      const int difference = static_cast<int>(pick(-1000, 1000)),
                bit = static_cast<int>(pick(0, 1));
      code.put_symbol(bits, size_of(difference));
      put_value(bits, difference, size_of(difference));
      put(lower, static_cast<uint32_t>(bit), 1);
      last[b % 3 / 2] += difference;
      want.push_back(last[b % 3 / 2] * 2 + bit);
    }
    const auto data = bytes_of(bits), more = bytes_of(lower);
    jpeg::BitReader reader = jpeg::bits_at(data.data(), 0);
    const uint8_t* const limit = data.data() + data.size();
    const jpeg::McusRead read = jpeg::read_dc(mcu, shift + 1, 0, kMcus, limit, reader);
    ASSERT_TRUE(read.is_good && read.end == kMcus);
    EXPECT_EQ(reader.left(data.data()), -static_cast<int64_t>(bits.size()));
    reader = jpeg::bits_at(more.data(), 0);
    ASSERT_EQ(jpeg::refine_dc(mcu, shift, 0, kMcus, more.data() + more.size(), reader).end, kMcus);
    EXPECT_EQ(reader.left(more.data()), -3 * kMcus);
    for (int64_t x = 0; x < kMcus; ++x) {
      const auto at = [&](int64_t b) {
        return static_cast<int16_t>(want[static_cast<size_t>(3 * x + b)] * (1 << shift));
      };
      EXPECT_EQ(rows[0][2 * x], at(0));
      EXPECT_EQ(rows[0][2 * x + 1], at(1));
      EXPECT_EQ(rows[1][x], at(2));
    }
  }
}

TEST_P(BandOnTarget, MakesGroups) {
  constexpr int64_t kBlocks = 8;
  const auto values = noise<int16_t>(64 * kBlocks), dc = noise<int16_t>(kBlocks);
  std::copy(values.begin(), values.end(), row_);
  for (int64_t i = 0; i < 64 * kBlocks; ++i)
    if (pick(0, 1)) row_[i] = 0;
  alignas(64) int16_t groups[64 * kBlocks];
  std::fill_n(groups, 64 * kBlocks, int16_t{77});
  jpeg::make_groups(row_, dc.data(), kBlocks, groups);
  for (int64_t b = 0; b < kBlocks; ++b)
    for (int k = 0; k < 64; ++k) {
      const int place = jpeg::kZigzag[k];
      EXPECT_EQ(groups[b / 4 * jpeg::kGroupSize + place / 8 * 32 + b % 4 * 8 + place % 8],
                k == 0 ? dc[static_cast<size_t>(b)] : value(b, k));
    }
}

INSTANTIATE_TEST_SUITE_P(All, BandOnTarget, ::testing::ValuesIn(test::all_instructions()),
                         [](const auto& p) { return p.param.name(); });

}  // namespace
}  // namespace stoker
