// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "codec/sound/data_chunk.h"

#include <gtest/gtest.h>

#include <string>

namespace stoker {
namespace {

EncodedSpan span_of(const std::string& s) {
  return {reinterpret_cast<const uint8_t*>(s.data()), s.size()};
}

std::string number(uint32_t n) {
  std::string s;
  for (int i = 0; i < 4; ++i) s += static_cast<char>(n >> (8 * i));
  return s;
}

std::string wav(uint32_t all, uint32_t samples, const std::string& behind) {
  return "RIFF" + number(all) + "WAVE" + "fmt " + number(2) + "xx" + "data" + number(samples) +
         behind;
}

TEST(DataChunk, SizeIsAPromiseOrNotKnown) {
  const auto known = find_data_chunk(span_of(wav(26, 4, "abcd")));
  ASSERT_TRUE(known);
  EXPECT_EQ(known->begin, 30U);
  EXPECT_EQ(known->size, 4U);
  EXPECT_FALSE(known->patch);
  for (const uint32_t size : {0U, 0xFFFFFFFFU, 0x7FFFF000U}) {
    const std::string file = wav(size, size, "abcd");
    const auto found = find_data_chunk(span_of(file));
    ASSERT_TRUE(found && found->patch) << size;
    EXPECT_FALSE(found->size);
    BytesAsFile patched{.bytes = span_of(file), .patch = &*found->patch};
    std::string seen(file.size(), '\0');
    EXPECT_EQ(patched.read(seen.data(), 29), 29);  // in two parts, as libraries read
    patched.read(seen.data() + 29, 5);
    EXPECT_EQ(seen, wav(size, 4, "abcd"));
  }
}

TEST(DataChunk, WhatFollowsMayContradictTheSize) {
  const auto is_amid_others = [](const std::string& file) {
    return find_data_chunk(span_of(file))->is_amid_others;
  };
  EXPECT_TRUE(is_amid_others(wav(38, 4, "abcdefgh\1\2\3\4mnop")));
  EXPECT_TRUE(is_amid_others(wav(0, 4, "abcdefgh\1\2\3\4mnop")));
  EXPECT_FALSE(is_amid_others(wav(26, 4, "abcdefgh\1\2\3\4mnop")));  // behind all chunks
  EXPECT_FALSE(is_amid_others(wav(38, 4, "abcdLIST" + number(4) + "INFO")));
  EXPECT_FALSE(is_amid_others(wav(37, 3, "abcLIST" + number(4) + "INFO")));  // not padded
  EXPECT_FALSE(is_amid_others(wav(38, 4, "abcd" + std::string(12, '\0'))));
}

TEST(DataChunk, NothingIsFoundInOtherBytes) {
  for (const std::string& file : {std::string(), std::string("RIFF"), wav(0, 0, "").substr(0, 28),
                                  std::string("fLaC and more"), std::string(".snd")})
    EXPECT_FALSE(find_data_chunk(span_of(file))) << file;
}

}  // namespace
}  // namespace stoker
