// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Blocks are coded bit by bit with random codes, and decoded by every SIMD target.
#include "kernels/jpeg/entropy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "kernels/jpeg/entropy_testing.h"
#include "kernels/jpeg/idct.h"
#include "kernels/jpeg/unstuff.h"
#include "kernels/jpeg/zigzag.h"

namespace stoker {
namespace {

using test::Bits;
using test::Block;
using test::bytes_of;
using test::Code;
using test::put;
using test::put_block;
using test::Tables;
class EntropyOnTarget : public test::WithCodes {};

// Four blocks in an MCU, of which one is in the second row and one is only passed over.
TEST_P(EntropyOnTarget, ReadsWhatWasCoded) {
  for (int round = 0; round < 60; ++round) {
    const Code dc = random_dc(round % 2), ac = random_ac(round % 3 == 0);
    const Tables tables(dc, ac);
    constexpr int64_t kMcus = 7;
    alignas(64) int16_t rows[2][4 * jpeg::kGroupSize] = {};
    int32_t predictors[2] = {3, -4};
    jpeg::Mcu mcu{.count = 4};
    mcu.blocks[0] = {tables.dc.get(), tables.ac.get(), &predictors[0], rows[0], 2, 0};
    mcu.blocks[1] = {tables.dc.get(), tables.ac.get(), &predictors[0], rows[0], 2, 1};
    mcu.blocks[2] = {tables.dc.get(), tables.ac.get(), &predictors[1], nullptr, 1, 0};
    mcu.blocks[3] = {tables.dc.get(), tables.ac.get(), &predictors[1], rows[1], 1, 0};
    std::vector<Block> blocks;
    const int begin = static_cast<int>(pick(0, 7));
    Bits bits(static_cast<size_t>(begin));
    int want[2] = {3, -4};
    for (int64_t b = 0; b < 4 * kMcus; ++b) {
      Block block = random_block(pick(0, 16), pick(1, jpeg::kLargestAc));
      const int difference = static_cast<int>(pick(-2047, 2047));
      put_block(bits, dc, ac, difference, block);
      block[0] = want[b % 4 / 2] += difference;
      blocks.push_back(block);
    }
    const auto data = bytes_of(bits);
    jpeg::BitReader reader = jpeg::bits_at(data.data(), begin);
    const jpeg::McusRead read = jpeg::read_mcus(mcu, 0, kMcus, data.data() + data.size(), reader);
    ASSERT_TRUE(read.is_good);
    ASSERT_EQ(read.end, kMcus);
    EXPECT_EQ(reader.left(data.data()), -static_cast<int64_t>(bits.size()));
    for (int64_t b = 0; b < 4 * kMcus; ++b) {
      if (b % 4 == 2) continue;
      const int64_t at = b % 4 == 3 ? b / 4 : b / 4 * 2 + b % 4;
      const int16_t* got = rows[b % 4 == 3] + at / 4 * jpeg::kGroupSize + at % 4 * 8;
      for (size_t k = 0; k < 64; ++k)
        ASSERT_EQ(got[jpeg::kZigzag[k] / 8 * 32 + jpeg::kZigzag[k] % 8],
                  static_cast<int16_t>(blocks[static_cast<size_t>(b)][k]))
            << "block " << b << ", position " << k;
    }
    EXPECT_EQ(predictors[0], want[0]);
    EXPECT_EQ(predictors[1], want[1]);
  }
}

TEST_P(EntropyOnTarget, PassesOverBlocks) {
  for (int round = 0; round < 60; ++round) {
    const Code dc = random_dc(round % 2), ac = random_ac(round % 3 == 0);
    const Tables tables(dc, ac);
    int32_t predictor = 0;
    jpeg::Mcu mcu{.count = 1};
    mcu.blocks[0] = {tables.dc.get(), tables.ac.get(), &predictor, nullptr, 1, 0};
    Bits bits;
    constexpr int kBlocks = 40;
    int sum = 0;
    for (int b = 0; b < kBlocks; ++b) {
      const int difference = static_cast<int>(pick(-100, 100));
      // Full blocks and those that end after 16 zeros, too.
      Block block = random_block(pick(0, 4) ? pick(0, 16) : 0, pick(1, 3));
      if (pick(0, 2) == 0) block[63] = 1;
      put_block(bits, dc, ac, difference, block);
      sum += difference;
    }
    const auto data = bytes_of(bits);
    jpeg::BitReader reader = jpeg::bits_at(data.data(), 0);
    ASSERT_TRUE(jpeg::read_mcus(mcu, 0, kBlocks, data.data() + data.size(), reader).is_good);
    EXPECT_EQ(reader.left(data.data()), -static_cast<int64_t>(bits.size()));
    EXPECT_EQ(predictor, sum);
  }
}

// Read as a block and passed over.
TEST_P(EntropyOnTarget, NoticesWhatIsNoBlock) {
  const Code dc({0, 1, 12}, {1, 2, 3}), ac({0x00, 0x01, 0xF0, 0x0B, 0xE1}, {2, 2, 3, 4, 12});
  const Tables tables(dc, ac);
  const auto is_good = [&](const Bits& bits, bool reads) {
    alignas(64) int16_t row[jpeg::kGroupSize] = {};
    int32_t predictor = 0;
    jpeg::Mcu mcu{.count = 1};
    mcu.blocks[0] = {tables.dc.get(), tables.ac.get(), &predictor, reads ? row : nullptr, 1, 0};
    const auto data = bytes_of(bits);
    jpeg::BitReader reader = jpeg::bits_at(data.data(), 0);
    return jpeg::read_mcus(mcu, 0, 1, data.data() + data.size(), reader).is_good;
  };
  const auto block = [&](const std::vector<int>& symbols) {
    Bits bits;
    dc.put_symbol(bits, 0);
    for (const int s : symbols) {
      ac.put_symbol(bits, s);
      put(bits, 1, s % 16);
    }
    return bits;
  };
  Bits bad_dc, large_dc, bad_ac;
  put(bad_dc, 7, 3);
  dc.put_symbol(large_dc, 12);
  dc.put_symbol(bad_ac, 0);
  put(bad_ac, 0xFFFF, 16);
  std::vector<int> full(63, 0x01), overfull(62, 0x01), zeros_at_end(47, 0x01);
  overfull.insert(overfull.end(), {0xE1});
  zeros_at_end.push_back(0xF0);
  std::vector<int> zeros_behind(48, 0x01);
  zeros_behind.push_back(0xF0);
  for (const bool reads : {false, true}) {
    EXPECT_TRUE(is_good(block({0x00}), reads));
    EXPECT_TRUE(is_good(block({0xE1, 0xE1, 0x00}), reads));
    EXPECT_TRUE(is_good(block(full), reads));
    EXPECT_TRUE(is_good(block(zeros_at_end), reads));
    EXPECT_FALSE(is_good(block(zeros_behind), reads));
    EXPECT_FALSE(is_good(block(overfull), reads));
    EXPECT_FALSE(is_good(block({0xF0, 0xF0, 0xF0, 0xF0}), reads));
    EXPECT_FALSE(is_good(block({0x0B, 0x00}), reads)) << "a value of 11 bits";
    EXPECT_FALSE(is_good(bad_dc, reads));
    EXPECT_FALSE(is_good(large_dc, reads));
    EXPECT_FALSE(is_good(bad_ac, reads));
  }
}

TEST_P(EntropyOnTarget, StopsAtTheLimit) {
  const Code dc({0, 1}, {1, 2}), ac({0x00, 0x01}, {1, 2});
  const Tables tables(dc, ac);
  int32_t predictor = 0;
  jpeg::Mcu mcu{.count = 1};
  mcu.blocks[0] = {tables.dc.get(), tables.ac.get(), &predictor, nullptr, 1, 0};
  const std::vector<uint8_t> zeros(4000);  // blocks of two bits
  jpeg::BitReader reader = jpeg::bits_at(zeros.data(), 0);
  const jpeg::McusRead read = jpeg::read_mcus(mcu, 0, 1 << 20, zeros.data() + 100, reader);
  EXPECT_TRUE(read.is_good);
  EXPECT_GE(read.end, 4 * (100 - 8));
  EXPECT_LE(read.end, 4 * (100 + 8));
  const jpeg::McusRead more = jpeg::read_mcus(mcu, read.end, 1 << 20, zeros.data() + 100, reader);
  EXPECT_EQ(more.end, read.end);
}

TEST_P(EntropyOnTarget, RandomBitsStayWithinBounds) {
  for (int round = 0; round < 300; ++round) {
    const Tables tables(random_dc(round % 2), random_ac(round % 3 == 0));
    alignas(64) int16_t row[jpeg::kGroupSize] = {};
    int32_t predictor = 0;
    jpeg::Mcu mcu{.count = 1};
    mcu.blocks[0] = {tables.dc.get(), tables.ac.get(), &predictor, round % 2 ? row : nullptr, 1, 0};
    const auto data = noise<uint8_t>(static_cast<size_t>(jpeg::kMostBytesOfMcu));
    jpeg::BitReader reader = jpeg::bits_at(data.data(), 0);
    jpeg::read_mcus(mcu, 0, 1, data.data(), reader);
    EXPECT_LE(-reader.left(data.data()), 8 * jpeg::kMostBytesOfBlock);
  }
}

TEST_P(EntropyOnTarget, DataLosesItsStuffing) {
  for (int round = 0; round < 400; ++round) {
    std::vector<uint8_t> plain, stuffed;
    const int64_t size = pick(0, 300), rarity = pick(1, 100);
    for (int64_t i = 0; i < size; ++i) {
      plain.push_back(static_cast<uint8_t>(pick(0, rarity) ? pick(0, 254) : 255));
      stuffed.push_back(plain.back());
      if (plain.back() == 255) stuffed.push_back(0);
    }
    const size_t data = stuffed.size();
    // A marker, an FF that is the last byte, or the end.
    if (round % 3 == 0) stuffed.insert(stuffed.end(), {0xFF, 0xD0, 1, 2, 0xFF, 0, 3});
    if (round % 3 == 1) stuffed.push_back(0xFF);
    const int64_t room = round % 2 ? 1000 : pick(0, size);
    std::vector<uint8_t> out(static_cast<size_t>(room + jpeg::kUnstuffSlack));
    const jpeg::Unstuffed got =
        jpeg::unstuff(stuffed.data(), static_cast<int64_t>(stuffed.size()), out.data(), room);
    ASSERT_GE(got.written, std::min(size, room));
    ASSERT_LE(got.written, std::min(size, room + jpeg::kUnstuffSlack));
    if (got.written == size) {
      EXPECT_EQ(got.read, static_cast<int64_t>(data));
    }
    EXPECT_TRUE(std::equal(plain.begin(), plain.begin() + got.written, out.begin()));
  }
}

TEST(HuffmanCode, IsValidUnlessItHasTooManyWordsOrOnesOnly) {
  uint8_t counts[16] = {1};
  const uint8_t symbols[256] = {};
  const jpeg::HuffmanCode code{counts, symbols};
  EXPECT_TRUE(code.is_valid());
  counts[0] = 2;
  EXPECT_FALSE(code.is_valid());
  counts[0] = 1, counts[1] = 1;
  EXPECT_TRUE(code.is_valid());
  counts[1] = 2;
  EXPECT_FALSE(code.is_valid());
  counts[1] = 0, counts[15] = 255;
  EXPECT_TRUE(code.is_valid());
  EXPECT_EQ(code.size(), 256);
  counts[14] = 1;
  EXPECT_FALSE(code.is_valid()) << "257 symbols";
}

// The symbol that a word of so many bits begins with; none if they do not tell it.
jpeg::Single first_of(const jpeg::AcTable& table, uint32_t word, uint32_t bits) {
  const uint32_t rest = word << (jpeg::kSingleBits - bits) & ((1U << jpeg::kSingleBits) - 1);
  const jpeg::Single s{table.singles[rest]};
  return s.length() <= bits ? s : jpeg::Single{0};
}

TEST_P(EntropyOnTarget, SkipsHaveUpToFourSymbols) {
  for (int round = 0; round < 20; ++round) {
    const Tables tables(random_dc(false), random_ac(round % 2));
    for (uint32_t word = 0; word < 1 << jpeg::kSkipBits; ++word) {
      uint32_t total = 0, advance = 0;
      for (int n = 0; n < 4 && total < jpeg::kSkipBits && advance < jpeg::kBadCode; ++n) {
        const jpeg::Single s = first_of(*tables.ac, word, jpeg::kSkipBits - total);
        if (s.bits == 0) break;
        total += s.total();
        advance += s.advance();
      }
      ASSERT_EQ(tables.ac->skips[word], total | advance << 8) << "word " << word;
    }
  }
}

TEST_P(EntropyOnTarget, PairsHaveTwoSymbolsWhereBothFit) {
  for (int round = 0; round < 20; ++round) {
    const Tables tables(random_dc(false), random_ac(round % 2));
    for (uint32_t word = 0; word < 1 << jpeg::kPairBits; ++word) {
      const jpeg::Pair pair{tables.ac->pairs[word]};
      const jpeg::Single a = first_of(*tables.ac, word, jpeg::kPairBits);
      const uint32_t left = jpeg::kPairBits - std::min<uint32_t>(a.total(), jpeg::kPairBits);
      const jpeg::Single b = first_of(*tables.ac, word, left);
      if (a.bits == 0 || b.bits == 0 || a.advance() >= jpeg::kBadCode || a.size() > 7) {
        ASSERT_EQ(pair.bits, a.bits == 0 ? 0 : jpeg::Pair::of(a).bits) << "word " << word;
        continue;
      }
      const int range = 1 << a.size(), value = static_cast<int>(word >> left) & (range - 1);
      ASSERT_EQ(pair.first(), 2 * value < range ? value + 1 - range : value) << "word " << word;
      ASSERT_EQ(pair.total(), a.total() + b.total());
      ASSERT_EQ(pair.second_at(), a.total() + b.length());
      ASSERT_EQ(pair.second_shift(), 63 - b.size());
      ASSERT_EQ(pair.first_advance(), a.advance());
      ASSERT_EQ(pair.first_total(), a.total());
      ASSERT_EQ(pair.advance(), a.advance() + b.advance());
    }
  }
}

// What is loaded and what lies in the file tell each other's size.
TEST_P(EntropyOnTarget, StuffingIsCounted) {
  for (size_t size = 0; size < 300; ++size) {
    std::vector<uint8_t> data, stuffed;
    for (const uint8_t v : noise<uint8_t>(size)) {
      data.push_back(v % 5 ? v : 0xFF);
      stuffed.push_back(data.back());
      if (data.back() == 0xFF) stuffed.push_back(0);
    }
    const auto count = std::count(data.begin(), data.end(), 0xFF);
    ASSERT_EQ(jpeg::count_stuffed(data.data(), static_cast<int64_t>(size)), count);
    ASSERT_EQ(jpeg::count_stuffed(stuffed.data(), static_cast<int64_t>(stuffed.size())), count);
    std::vector<uint8_t> loaded(size + jpeg::kUnstuffSlack);
    const auto all = static_cast<int64_t>(stuffed.size());
    const jpeg::Unstuffed got =
        jpeg::unstuff(stuffed.data(), all, loaded.data(), static_cast<int64_t>(size));
    ASSERT_EQ(got.read, got.written + count);
    loaded.resize(size);
    ASSERT_EQ(loaded, data);
  }
}

INSTANTIATE_TEST_SUITE_P(All, EntropyOnTarget, ::testing::ValuesIn(test::all_instructions()),
                         [](const auto& p) { return p.param.name(); });

}  // namespace
}  // namespace stoker
