// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace stoker {
namespace {

TEST(Text, TellsUtf8FromOtherBytes) {
  for (const char* text : {"", "caf\xc3\xa9", "\xe2\x82\xac", "\xef\xbf\xbf", "\xf0\x9f\x98\x80",
                           "\xf4\x8f\xbf\xbf", "\x7f", "\xed\x9f\xbf", "\xee\x80\x80"}) {
    EXPECT_TRUE(is_utf8(text)) << text;
    EXPECT_EQ(valid_utf8(text), text);
  }
  // A lone byte, a cut character, overlong forms, a surrogate, and what lies above the last one.
  for (const char* text : {"\x80", "caf\xe9", "\xe2\x82", "\xc0\xaf", "\xe0\x9f\xbf",
                           "\xf0\x8f\xbf\xbf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff"})
    EXPECT_FALSE(is_utf8(text)) << valid_utf8(text);
}

TEST(Text, EscapesOnlyWhatIsNotUtf8) {
  EXPECT_EQ(valid_utf8("caf\xe9 \xc3\xa9.jpg"), "caf\\xe9 \xc3\xa9.jpg");
  EXPECT_EQ(valid_utf8("\xe2\x82z"), "\\xe2\\x82z");
  EXPECT_EQ(valid_utf8(std::string_view("a\0b", 3)), "a\\x00b");
}

TEST(Text, ShortensBetweenCharacters) {
  EXPECT_EQ(shortened("abc", 3), "abc");
  EXPECT_EQ(shortened("abcd", 3), "abc...");
  EXPECT_EQ(shortened("ab\xc3\xa9", 4), "ab\xc3\xa9");
  EXPECT_EQ(shortened("ab\xc3\xa9", 3), "ab...");
  EXPECT_EQ(shortened("ab\xe9", 5), "ab...");
}

TEST(Text, MessagesAreUtf8) {
  EXPECT_STREQ(GraphError("no file 'caf\xe9'").what(), "no file 'caf\\xe9'");
  EXPECT_STREQ(SampleError("no file 'caf\xe9'", 3).what(), "no file 'caf\\xe9'");
}

}  // namespace
}  // namespace stoker
