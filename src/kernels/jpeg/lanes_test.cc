// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows are read in lanes and by read_mcus(), which is the reference.
#include "kernels/jpeg/lanes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "kernels/jpeg/entropy_testing.h"
#include "kernels/jpeg/idct.h"

namespace stoker {
namespace {

using test::Bits;
using test::Code;
using test::Tables;

// Blocks of each component in an MCU: across and down.
struct Sampling {
  std::vector<std::array<int64_t, 2>> components;
};
const std::vector<Sampling> kSamplings = {
    {{{1, 1}}},
    {{{1, 1}, {1, 1}, {1, 1}}},
    {{{2, 1}, {1, 1}, {1, 1}}},
    {{{1, 2}, {1, 1}, {1, 1}}},
    {{{2, 2}, {1, 1}, {1, 1}}},
    {{{4, 1}, {1, 1}, {1, 1}}},
    {{{1, 1}, {2, 2}, {1, 1}}},
    {{{2, 1}, {2, 1}, {2, 1}}},
};

// What became of a row: whether it was read to its end, within its data, and how many bits are
// left.
struct Outcome {
  bool is_whole = false;
  int64_t left = 0;
  std::vector<int16_t> coefficients;

  bool operator==(const Outcome& other) const {
    if (!is_whole || !other.is_whole) return is_whole == other.is_whole;
    return left == other.left && coefficients == other.coefficients;
  }
};

// Rows of MCUs, each as bits that begin within a byte.
class Picture {
 public:
  Picture(const Sampling& sampling, const std::vector<Tables>& tables, int64_t mcus)
      : mcus_(mcus), predictors_(sampling.components.size()) {
    int64_t at = jpeg::kGroupSize;
    for (size_t c = 0; c < sampling.components.size(); ++c) {
      const auto [across, down] = sampling.components[c];
      const Tables& of = tables[c % tables.size()];
      for (int64_t y = 0; y < down; ++y) {
        for (int64_t x = 0; x < across; ++x) {
          mcu_.blocks[mcu_.count] = {of.dc.get(), of.ac.get(), &predictors_[c], nullptr, across, x};
          places_[mcu_.count++] = at;
        }
        at += (mcus * across + 3) / jpeg::kBlocksInGroup * jpeg::kGroupSize;
      }
    }
    size_ = at - jpeg::kGroupSize;
    coefficients_.resize(static_cast<size_t>(jpeg::kGroupSize + jpeg::kLanes * size_));
  }

  void add_row(const Bits& bits, int begin) {
    const std::vector<uint8_t> bytes = test::bytes_of(bits);
    rows_.push_back({data_.size(), data_.size() + (bits.size() + 7) / 8, begin});
    data_.insert(data_.end(), bytes.begin(), bytes.end());
    data_.resize(data_.size() + 64);
  }
  void flip(size_t row, size_t bit) {
    const size_t size = 8 * (rows_[row].end - rows_[row].begin);
    uint8_t& byte = data_[rows_[row].begin + bit % size / 8];
    byte = static_cast<uint8_t>(byte ^ 1 << bit % 8);
  }

  const jpeg::Mcu& place(int64_t offset) {
    for (int b = 0; b < mcu_.count; ++b)
      mcu_.blocks[b].row = coefficients_.data() + places_[b] + offset;
    std::fill(predictors_.begin(), predictors_.end(), 0);
    return mcu_;
  }
  std::vector<Outcome> read_one_by_one() {
    std::vector<Outcome> all;
    for (const Row& row : rows_) {
      clear(0);
      jpeg::BitReader reader = reader_of(row);
      const jpeg::McusRead read = jpeg::read_mcus(place(0), 0, mcus_, limit_of(row), reader);
      all.push_back(outcome(read.is_good && read.end == mcus_, row, reader, 0));
    }
    return all;
  }
  // Lanes read the MCUs up to `part`, if that is not 0, and then the others.
  std::vector<Outcome> read_in_lanes(int64_t part = 0) {
    std::vector<Outcome> all(rows_.size());
    const auto lanes = std::make_unique<jpeg::Lanes>();
    jpeg::make_lanes(place(0), coefficients_.data(), data_.data(), *lanes);
    size_t next = 0, row_of[jpeg::kLanes] = {};
    bool goes_on[jpeg::kLanes] = {};
    const auto start = [&](int lane) {
      if (next == rows_.size()) return;
      clear(lane * size_);
      jpeg::start_lane(lane, reader_of(rows_[next]), limit_of(rows_[next]), 0,
                       part > 0 ? part : mcus_, lane * size_, *lanes);
      row_of[lane] = next++;
      goes_on[lane] = part > 0;
    };
    for (int lane = 0; lane < jpeg::kLanes; ++lane) start(lane);
    for (size_t done = 0; done < rows_.size();) {
      const uint32_t stopped = jpeg::run_lanes(*lanes);
      EXPECT_NE(stopped, 0u);
      if (stopped == 0) break;
      for (int lane = 0; lane < jpeg::kLanes; ++lane) {
        if ((stopped >> lane & 1) == 0) continue;
        if (goes_on[lane] && lanes->is_good(lane)) {
          goes_on[lane] = false;
          jpeg::start_lane(lane, lanes->reader(lane), limit_of(rows_[row_of[lane]]), part, mcus_,
                           lane * size_, *lanes);
          continue;
        }
        jpeg::add_differences(place(lane * size_), 0, mcus_);
        all[row_of[lane]] =
            outcome(lanes->is_good(lane), rows_[row_of[lane]], lanes->reader(lane), lane * size_);
        ++done;
        start(lane);
      }
    }
    return all;
  }

 private:
  struct Row {
    size_t begin, end;
    int bit;
  };

  jpeg::BitReader reader_of(const Row& row) const {
    return jpeg::bits_at(data_.data() + row.begin, row.bit);
  }
  // 8 bytes may be loaded ahead.
  const uint8_t* limit_of(const Row& row) const { return data_.data() + row.end + 8; }
  void clear(int64_t offset) {
    std::fill_n(coefficients_.begin() + jpeg::kGroupSize + offset, size_, int16_t{0});
  }
  Outcome outcome(bool is_good, const Row& row, const jpeg::BitReader& reader, int64_t offset) {
    const auto from = coefficients_.begin() + jpeg::kGroupSize + offset;
    const int64_t left = reader.left(data_.data() + row.end);
    return {is_good && left >= 0, left, {from, from + size_}};
  }

  int64_t mcus_, size_ = 0;
  std::vector<int32_t> predictors_;
  jpeg::Mcu mcu_;
  int64_t places_[jpeg::kMostBlocksOfMcu] = {};
  std::vector<int16_t> coefficients_;
  std::vector<uint8_t> data_;
  std::vector<Row> rows_;
};

class LanesOnTarget : public test::WithCodes {
 protected:
  // A picture of random rows, which have as many MCUs each.
  Picture random_picture(const Sampling& sampling, int64_t mcus, int64_t rows) {
    codes_.clear();
    tables_.clear();
    for (int64_t i = pick(1, 3); i > 0; --i) {
      codes_.push_back({random_dc(pick(0, 1)), random_ac(pick(0, 2) == 0)});
      tables_.emplace_back(codes_.back().dc, codes_.back().ac);
    }
    Picture picture(sampling, tables_, mcus);
    const int64_t fullness = pick(0, 16);
    for (int64_t row = 0; row < rows; ++row) {
      const int begin = static_cast<int>(pick(0, 7));
      Bits bits(static_cast<size_t>(begin));
      for (int64_t x = 0; x < mcus; ++x)
        for (size_t c = 0; c < sampling.components.size(); ++c)
          for (int64_t b = sampling.components[c][0] * sampling.components[c][1]; b > 0; --b) {
            test::Block block = random_block(fullness, pick(1, jpeg::kLargestAc));
            if (pick(0, 3) == 0) block[63] = 1;  // a block that ends without a symbol
            const Codes& of = codes_[c % codes_.size()];
            put_block(bits, of.dc, of.ac, static_cast<int>(pick(-2047, 2047)), block);
          }
      picture.add_row(bits, begin);
    }
    return picture;
  }
  bool has_lanes() {
    Picture picture = random_picture(kSamplings[1], 1, 1);
    return jpeg::can_use_lanes(picture.place(0));
  }

  struct Codes {
    Code dc, ac;
  };
  std::vector<Codes> codes_;
  std::vector<Tables> tables_;
};

TEST_P(LanesOnTarget, AreThereWithFullAvx512) {
  EXPECT_EQ(has_lanes(), HWY_ARCH_X86 && GetParam().target <= HWY_AVX3);
  jpeg::Mcu many{.count = 7};
  EXPECT_FALSE(jpeg::can_use_lanes(many));
  Picture picture = random_picture(kSamplings[1], 1, 1);
  jpeg::Mcu mcu = picture.place(0);
  mcu.blocks[2].across = 3;
  EXPECT_FALSE(jpeg::can_use_lanes(mcu));
  mcu = picture.place(0);
  mcu.blocks[2].row = nullptr;
  EXPECT_FALSE(jpeg::can_use_lanes(mcu));
}

TEST_P(LanesOnTarget, ReadWhatIsReadOneByOne) {
  if (!has_lanes()) return;
  for (int round = 0; round < 80; ++round) {
    const Sampling& sampling = kSamplings[static_cast<size_t>(round) % kSamplings.size()];
    Picture picture = random_picture(sampling, pick(1, 21), pick(1, 20));
    const std::vector<Outcome> want = picture.read_one_by_one(), got = picture.read_in_lanes();
    for (size_t row = 0; row < want.size(); ++row) {
      EXPECT_TRUE(want[row].is_whole) << "row " << row;
      EXPECT_TRUE(got[row] == want[row]) << "round " << round << ", row " << row;
    }
  }
}

// A lane may begin at any MCU with which a group of blocks begins.
TEST_P(LanesOnTarget, ReadRowsInTwoParts) {
  if (!has_lanes()) return;
  for (int round = 0; round < 40; ++round) {
    const Sampling& sampling = kSamplings[static_cast<size_t>(round) % kSamplings.size()];
    const int64_t mcus = pick(5, 40);
    Picture picture = random_picture(sampling, mcus, pick(1, 20));
    const int64_t part = jpeg::kBlocksInGroup * pick(1, (mcus - 1) / jpeg::kBlocksInGroup);
    EXPECT_TRUE(picture.read_in_lanes(part) == picture.read_one_by_one()) << "round " << round;
  }
}

TEST_P(LanesOnTarget, ReadLongRows) {
  if (!has_lanes()) return;
  for (const size_t sampling : {0, 4}) {
    Picture picture = random_picture(kSamplings[sampling], jpeg::kMostMcusInLanes, 2);
    EXPECT_TRUE(picture.read_in_lanes() == picture.read_one_by_one());
  }
}

// A row is found bad in a lane where it is found bad by itself, and its neighbours stay good.
TEST_P(LanesOnTarget, NoticeDamage) {
  if (!has_lanes()) return;
  int bad = 0, good = 0;
  for (int round = 0; round < 400; ++round) {
    const Sampling& sampling = kSamplings[static_cast<size_t>(round) % kSamplings.size()];
    Picture picture = random_picture(sampling, pick(1, 8), 9);
    for (size_t row = 0; row < 9; row += 2)
      for (int64_t flips = pick(1, 4); flips > 0; --flips)
        picture.flip(row, static_cast<size_t>(pick(0, 1 << 20)));
    const std::vector<Outcome> want = picture.read_one_by_one(), got = picture.read_in_lanes();
    for (size_t row = 0; row < want.size(); ++row) {
      EXPECT_TRUE(got[row] == want[row]) << "round " << round << ", row " << row;
      ++(want[row].is_whole ? good : bad);
    }
  }
  EXPECT_GT(bad, 100);
  EXPECT_GT(good, 100);
}

INSTANTIATE_TEST_SUITE_P(All, LanesOnTarget, ::testing::ValuesIn(test::all_instructions()),
                         [](const auto& p) { return p.param.name(); });

}  // namespace
}  // namespace stoker
