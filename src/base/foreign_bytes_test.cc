// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "base/foreign_bytes.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/error.h"

namespace stoker {
namespace {

constexpr ByteOrder kLittle = ByteOrder::kLittle, kBig = ByteOrder::kBig;
constexpr ForeignBytes::Words kAbc = {"ABC is damaged"}, kAbcEnds = {"", "ABC ends"};
const std::vector<uint8_t> kEight = {1, 2, 3, 4, 5, 6, 7, 0x88};

// "message @ offset" of the SampleError that `f` throws.
template <class F>
std::string refusal(const F& f) {
  try {
    f();
  } catch (const SampleError& e) {
    return std::string(e.what()) + " @ " + std::to_string(e.offset);
  }
  return "";
}

TEST(ForeignBytes, ReadsBothByteOrders) {
  ForeignBytes big(kEight, kBig), little(kEight, kLittle);
  EXPECT_EQ(big.from(0).u8(), 1);
  EXPECT_EQ(big.from(0).u16(), 0x0102);
  EXPECT_EQ(little.from(0).u16(), 0x0201);
  EXPECT_EQ(big.from(1).u24(), 0x020304u);
  EXPECT_EQ(little.from(1).u24(), 0x040302u);
  EXPECT_EQ(big.from(4).u32(), 0x05060788u);
  EXPECT_EQ(little.from(4).u32(), 0x88070605u);
  EXPECT_EQ(big.u64(), 0x0102030405060788u);
  EXPECT_EQ(little.u64(), 0x8807060504030201u);
  EXPECT_EQ(big.left(), 0u);
}

TEST(ForeignBytes, ReadsNumbersOfAnySize) {
  for (size_t size = 1; size <= 8; ++size) {
    uint64_t big = 0, little = 0;
    for (size_t i = 0; i < size; ++i) {
      big = big * 256 + kEight[i];
      little = little * 256 + kEight[size - 1 - i];
    }
    EXPECT_EQ(ForeignBytes(kEight, kBig).number(size), big) << size;
    EXPECT_EQ(ForeignBytes(kEight, kLittle).number(size), little) << size;
  }
}

TEST(ForeignBytes, ReadsElementsOfArrays) {
  EXPECT_EQ(number_at<int16_t>(kEight, 6), static_cast<int16_t>(0x8807));
  EXPECT_EQ(number_at<int16_t>(kEight, 6, kBig), 0x0788);
  const std::vector<uint8_t> one = {0, 0x3f, 0x80, 0, 0, 0, 0, 0x80, 0x3f};
  EXPECT_EQ(number_at<float>(one, 1, kBig), 1.0f);
  EXPECT_EQ(number_at<float>(one, 5), 1.0f);
}

TEST(ForeignBytes, TakesOneAfterTheOther) {
  ForeignBytes b(kEight, kBig);
  EXPECT_EQ(b.u8(), 1);
  EXPECT_EQ(b.bytes(2)[1], 3);
  EXPECT_EQ(b.text(2), std::string_view("\4\5"));
  b.skip(1);
  EXPECT_EQ(b.at(), 6u);
  EXPECT_EQ(b.left(), 2u);
  EXPECT_TRUE(b.has(2));
  EXPECT_FALSE(b.has(3));
  EXPECT_EQ(b.rest().size(), 2u);
  EXPECT_EQ(b.u16(), 0x0788);
}

TEST(ForeignBytes, RefusesWhatIsBehindTheEnd) {
  const ForeignBytes all(kEight, kBig, kAbc);
  const auto missing = [](int wanted, int found) {
    return "ABC is damaged: expected " + std::to_string(wanted) + " more bytes, found " +
           std::to_string(found) + " @ 8";
  };
  EXPECT_EQ(refusal([&] { all.from(8).u8(); }), missing(1, 0));
  EXPECT_EQ(refusal([&] { all.from(7).u16(); }), missing(2, 1));
  EXPECT_EQ(refusal([&] { all.from(6).u24(); }), missing(3, 2));
  EXPECT_EQ(refusal([&] { all.from(5).u32(); }), missing(4, 3));
  EXPECT_EQ(refusal([&] { all.from(1).u64(); }), missing(8, 7));
  EXPECT_EQ(refusal([&] { all.from(900).u8(); }), missing(1, 0));
  EXPECT_EQ(refusal([&] { all.from(UINT64_MAX).skip(1); }), missing(1, 0));
  EXPECT_EQ(refusal([&] { all.from(2).bytes(UINT64_MAX); }),
            "ABC is damaged: expected 18446744073709551615 more bytes, found 6 @ 8");
  EXPECT_EQ(refusal([&] { ForeignBytes(kEight, kBig, kAbcEnds).from(5).u32(); }), "ABC ends @ 8");
  EXPECT_EQ(refusal([&] { ForeignBytes().u8(); }),
            "the data is damaged: expected 1 more bytes, found 0 @ 0");
}

TEST(ForeignBytes, StaysWhereItWasAfterARefusal) {
  ForeignBytes b = ForeignBytes(kEight, kBig).from(5);
  EXPECT_THROW(b.u32(), SampleError);
  EXPECT_THROW(b.bytes(4), SampleError);
  EXPECT_EQ(b.at(), 5u);
  EXPECT_EQ(b.u24(), 0x060788u);
}

TEST(ForeignBytes, CountsAPartFromTheFile) {
  ForeignBytes all(kEight, kBig, kAbc);
  all.skip(2);
  ForeignBytes part = all.part(3);
  EXPECT_EQ(all.at(), 5u);
  EXPECT_EQ(part.at(), 2u);
  EXPECT_EQ(part.left(), 3u);
  EXPECT_EQ(part.u16(), 0x0304);
  EXPECT_EQ(refusal([&] { part.u16(); }), "ABC is damaged: expected 2 more bytes, found 1 @ 5");
  EXPECT_EQ(refusal([&] { part.fail("its colour is 9"); }), "ABC is damaged: its colour is 9 @ 4");
  EXPECT_EQ(part.from(7).left(), 0u);
  // A part that claims too much is as long as there is.
  EXPECT_EQ(all.part(UINT64_MAX).left(), 3u);
  EXPECT_EQ(all.left(), 0u);
}

}  // namespace
}  // namespace stoker
