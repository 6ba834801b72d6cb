// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/chunks.h"

#include <gtest/gtest.h>

namespace stoker {
namespace {

using std::string_literals::operator""s;

// The chunks as "type:size=data", with a ! behind those that are not whole.
std::string walked(const std::string& s, const ChunkShape& shape, size_t at = 0) {
  const std::span<const uint8_t> file(reinterpret_cast<const uint8_t*>(s.data()), s.size());
  std::string all;
  Chunks chunks(file, at, shape);
  for (Chunk c; chunks.next(c);) {
    const std::string data(c.data.begin(), c.data.end());
    all +=
        std::string(c.type) + ":" + std::to_string(c.size) + "=" + data + (c.is_whole ? " " : "! ");
  }
  return all;
}

TEST(Chunks, OfRiffArePaddedAndLittleEndian) {
  EXPECT_EQ(
      walked("RIFF\x1F\0\0\0WAVE"s + "fmt \3\0\0\0abc\0"s + "data\2\0\0\0xy"s, kRiffChunk, 12),
      "fmt :3=abc data:2=xy ");
  EXPECT_EQ(walked("data\3\0\0\0xyz"s, kRiffChunk), "data:3=xyz ") << "padding may be missing";
  EXPECT_EQ(walked("data\0\1\0\0xy"s, kRiffChunk), "data:256=xy! ");
  EXPECT_EQ(walked("a   \0\0\0\0b   \xFF\xFF\xFF\xFF"s, kRiffChunk), "a   :0= b   :4294967295=! ");
}

TEST(Chunks, OfIffAreBigEndian) {
  EXPECT_EQ(walked("COMM\0\0\0\1x\0"s + "SSND\0\0\0\2yz"s, kIffChunk), "COMM:1=x SSND:2=yz ");
}

TEST(Chunks, OfPngBeginWithTheirSizeAndEndWithAChecksum) {
  EXPECT_EQ(walked("\0\0\0\3gAMAabcSUM4\0\0\0\0IENDSUM4"s, kPngShape), "gAMA:3=abc IEND:0= ");
  EXPECT_EQ(walked("\0\0\0\3IDATabcSUM"s, kPngShape), "IDAT:3=abc! ");
  EXPECT_EQ(walked("\xFF\xFF\xFF\xFFIDATab"s, kPngShape), "IDAT:4294967295=ab! ");
}

TEST(Chunks, AreNoneWhereTheFileEndsBefore) {
  EXPECT_EQ(walked("data\0\0\0"s, kRiffChunk), "");
  EXPECT_EQ(walked("data\0\0\0\0"s, kRiffChunk, 1), "");
  EXPECT_EQ(walked("data\0\0\0\0"s, kRiffChunk, SIZE_MAX), "");
}

}  // namespace
}  // namespace stoker
