// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/webdataset.h"

#include <gtest/gtest.h>

#include "base/testing.h"

namespace stoker::stores {
namespace {

std::string refusal(std::string_view text) {
  return message<SampleError>([&] { parse_webdataset_index(text, "a"); });
}

TEST(WebdatasetIndex, WithNamesThatHoldBlanks) {
  const auto samples =
      parse_webdataset_index("v1.2 2\njpg 512 7 a 1.jpg cls 1536 2 a 1.cls\n\ntxt 2560 0 b\n", "a");
  ASSERT_EQ(samples.size(), 2u);
  ASSERT_EQ(samples[0].size(), 2u);
  EXPECT_EQ(samples[0][0].name, "a 1.jpg");
  EXPECT_EQ(samples[0][1].name, "a 1.cls");
  EXPECT_EQ(samples[0][1].offset, 1536);
  EXPECT_EQ(samples[0][1].size, 2);
  EXPECT_EQ(samples[1][0].ending, "txt");
}

TEST(WebdatasetIndex, WithoutNames) {
  const auto samples = parse_webdataset_index("v1.1 1\r\njpg 512 7 cls 1536 2\r\n", "a");
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_EQ(samples[0][1].ending, "cls");
  EXPECT_EQ(samples[0][1].name, "");
}

TEST(WebdatasetIndex, WhatIsWrongNamesTheLine) {
  EXPECT_EQ(refusal("v1.3 1\n"),
            "the index 'a', line 1: expected the version v1.1 or v1.2, got 'v1.3'");
  EXPECT_EQ(refusal("v1.1 2\njpg 512 7\n"),
            "the index 'a', line 2: it promises 2 samples and has 1");
  for (const char* line : {"jpg", "jpg 512", "jpg 513 7", "jpg -512 7", "jpg 512 -7", "jpg 512 7x",
                           "jpg 512 99999999999999999999"})
    EXPECT_EQ(refusal(std::string("v1.1 1\n") + line),
              "the index 'a', line 2: expected an ending, an offset and a size, got 'jpg'")
        << line;
}

}  // namespace
}  // namespace stoker::stores
