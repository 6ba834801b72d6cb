// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/boxes.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace stoker {
namespace {

using std::string_literals::operator""s;

constexpr ForeignBytes::Words kWords = {"the file is damaged"};

ForeignBytes foreign(const std::string& s) {
  return {{reinterpret_cast<const uint8_t*>(s.data()), s.size()}, ByteOrder::kBig, kWords};
}

// The boxes as "type:begin of data+size of data", with a ! behind cut ones; then require_end().
std::string walked(const std::string& file) {
  Boxes boxes(foreign(file));
  std::string all;
  for (Box box; boxes.next(box);)
    all += std::string(box.type) + ":" + std::to_string(box.data.at()) + "+" +
           std::to_string(box.data.left()) + (box.is_whole ? " " : "! ");
  try {
    boxes.require_end();
  } catch (const SampleError& e) {
    all += std::string(e.what()) + " @ " + std::to_string(e.offset);
  }
  return all;
}

TEST(Boxes, HaveSizesOfThreeKinds) {
  EXPECT_EQ(walked(""), "");
  EXPECT_EQ(walked("\0\0\0\x08"s + "free"), "free:8+0 ");
  EXPECT_EQ(walked("\0\0\0\x0A"s + "ftyp" + "ab" + "\0\0\0\x09"s + "meta" + "c"),
            "ftyp:8+2 meta:18+1 ");
  EXPECT_EQ(walked("\0\0\0\1"s + "mdat" + "\0\0\0\0\0\0\0\x12"s + "ab" + "\0\0\0\x08"s + "free"),
            "mdat:16+2 free:26+0 ");
  EXPECT_EQ(walked("\0\0\0\0"s + "mdat" + "abcdef"), "mdat:8+6 ");
  EXPECT_EQ(walked("\0\0\0\1"s + "mdat" + "\0\0\0\0\0\0\0\0"s + "ab"), "mdat:16+2 ");
}

TEST(Boxes, MayBeCut) {
  EXPECT_EQ(walked("\0\0\0\x0A"s + "mdat" + "a"), "mdat:8+1! ");
  EXPECT_EQ(walked("\xFF\xFF\xFF\xFF"s + "mdat"), "mdat:8+0! ");
  EXPECT_EQ(walked("\0\0\0\1"s + "mdat" + "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"s + "ab"),
            "mdat:16+2! ");
  for (const std::string& cut : {"\0"s, "\0\0\0\x08"s, "\0\0\0\x08"s + "fre"}) {
    Boxes boxes(foreign(cut));
    Box box;
    EXPECT_FALSE(boxes.next(box));
    EXPECT_TRUE(boxes.ends_in_head());
    EXPECT_THROW(boxes.require_end(), SampleError);
  }
  EXPECT_EQ(walked("\0\0\0\1"s + "mdat" + "\0\0\0\0\0\0\0"s),
            "the file is damaged: expected 8 more bytes, found 7 @ 15");
}

TEST(Boxes, AreNoSmallerThanTheirHeads) {
  EXPECT_EQ(walked("\0\0\0\x08"s + "free" + "\0\0\0\x07"s + "meta" + "abcdefgh"),
            "free:8+0 the file is damaged: a box is smaller than its head @ 16");
  EXPECT_EQ(walked("\0\0\0\1"s + "mdat" + "\0\0\0\0\0\0\0\x0F"s + "ab"),
            "the file is damaged: a box is smaller than its head @ 16");
  const std::string file = "\0\0\0\2"s + "meta" + "\0\0\0\x08"s + "free";
  Boxes boxes(foreign(file));
  Box box;
  EXPECT_FALSE(boxes.next(box));
  EXPECT_FALSE(boxes.next(box)) << "nothing is known of what follows";
  EXPECT_FALSE(boxes.ends_in_head());
}

TEST(Boxes, MayHaveATypeOfSixteenBytes) {
  const std::string file =
      "\0\0\0\x1A"s + "uuid" + "0123456789abcdef" + "xy" + "\0\0\0\x0A"s + "uuid" + "zz";
  Boxes boxes(foreign(file));
  Box box;
  ASSERT_TRUE(boxes.next(box));
  EXPECT_EQ(take_uuid(box.data), "0123456789abcdef");
  EXPECT_EQ(box.data.text(2), "xy");
  EXPECT_EQ(box.data.left(), 0u);
  ASSERT_TRUE(boxes.next(box));
  EXPECT_THROW(take_uuid(box.data), SampleError) << "two bytes are no type";
}

TEST(Boxes, HoldBoxesBehindVersionAndFlags) {
  const std::string inner = "\0\0\0\x0A"s + "pitm" + "ab";
  const std::string file = "\0\0\0\x16"s + "meta" + "\1\0\2\3"s + inner + "\0\0\0\x08"s + "free";
  Boxes outer(foreign(file));
  Box meta, item;
  ASSERT_TRUE(outer.next(meta));
  const FullBoxHead head = take_full_box_head(meta.data);
  EXPECT_EQ(head.version, 1);
  EXPECT_EQ(head.flags, 0x000203u);
  Boxes boxes(meta.data);
  ASSERT_TRUE(boxes.next(item));
  EXPECT_EQ(item.type, "pitm");
  EXPECT_EQ(item.at, 12u) << "places are those of the file";
  EXPECT_FALSE(boxes.next(item));
  const std::string cut = "\1\0\2"s;
  ForeignBytes part = foreign(cut);
  EXPECT_THROW(take_full_box_head(part), SampleError);
}

}  // namespace
}  // namespace stoker
