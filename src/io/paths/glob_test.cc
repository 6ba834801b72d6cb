// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "io/paths/glob.h"

#include <gtest/gtest.h>

namespace stoker::io {
namespace {

bool match(const char* pattern, std::string_view name, bool case_sensitive = true) {
  return Glob(pattern, case_sensitive).matches(name);
}

TEST(Glob, Literals) {
  EXPECT_TRUE(match("abc", "abc"));
  EXPECT_FALSE(match("abc", "ab"));
  EXPECT_FALSE(match("abc", "abcd"));
  EXPECT_TRUE(match("", ""));
  EXPECT_FALSE(match("", "a"));
}

TEST(Glob, StarsAndQuestionMarks) {
  EXPECT_TRUE(match("*", ""));
  EXPECT_TRUE(match("*.jpg", "a.b.jpg"));
  EXPECT_TRUE(match("*.jpg", ".jpg"));
  EXPECT_FALSE(match("*.jpg", "jpg"));
  EXPECT_FALSE(match("*.jpg", "a.jpgx"));
  EXPECT_TRUE(match("a*b*c", "a__b_b__c"));
  EXPECT_FALSE(match("a*b*c", "a__c__b"));
  EXPECT_TRUE(match("**x", "x"));
  EXPECT_TRUE(match("?x?", "axb"));
  EXPECT_FALSE(match("?", ""));
  EXPECT_TRUE(match("n0*", "n01440764"));
}

TEST(Glob, Sets) {
  EXPECT_TRUE(match("[abc]x", "bx"));
  EXPECT_FALSE(match("[abc]x", "dx"));
  EXPECT_TRUE(match("[a-f0-9]", "e"));
  EXPECT_TRUE(match("[!a-f]", "g"));
  EXPECT_FALSE(match("[!a-f]", "c"));
  EXPECT_TRUE(match("[]]", "]"));
  EXPECT_TRUE(match("[a-]", "-"));
  EXPECT_TRUE(match("[open", "[open"));
  EXPECT_TRUE(match("[!", "[!"));
  EXPECT_TRUE(match("*[0-9].png", "a7.png"));
  EXPECT_TRUE(match("[\x80-\xff]", "\xc3"));
}

TEST(Glob, Case) {
  EXPECT_TRUE(match("*.jpg", "A.JPG", false));
  EXPECT_FALSE(match("*.jpg", "A.JPG", true));
  EXPECT_TRUE(match("[a-c]?X", "BqX", false));
  EXPECT_TRUE(match("ABC", "abc", false));
  EXPECT_FALSE(match("[", "{", false));  // no letters, so they have no case
}

TEST(Glob, ManyStarsAreFast) {
  const std::string name(2000, 'a');
  EXPECT_FALSE(match("*a*a*a*a*a*a*a*a*a*a*b?", name));
}

}  // namespace
}  // namespace stoker::io
