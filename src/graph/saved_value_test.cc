// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/saved_value.h"

#include <gtest/gtest.h>

#include "base/testing.h"

namespace stoker {
namespace {

std::string damage_of(const std::string& text) {
  return message<Damage>([&] { return parse_saved(text); });
}

std::string nested(int levels) { return std::string(levels, '[') + std::string(levels, ']'); }

std::string object_of(int entries) {
  std::string s = "{";
  for (int i = 0; i < entries; ++i)
    s += std::string(i ? "," : "") + "\"" + std::to_string(i) + "\":[{\"a\":1}]";
  return s + "}";
}

TEST(SavedValue, BoundsWhatIsParsed) {
  EXPECT_EQ(damage_of(nested(64)), "nothing was thrown");
  EXPECT_EQ(damage_of(nested(65)),
            "its lists and objects stand within each other more than 64 deep");
  EXPECT_NE(damage_of(std::string(10'000'000, '[')), "nothing was thrown");
  EXPECT_EQ(damage_of(object_of(4096)), "nothing was thrown");
  EXPECT_EQ(damage_of(object_of(4097)), "it has an object of more than 4096 entries");
}

TEST(SavedValue, SaysInItsOwnWordsWhatIsNoJson) {
  EXPECT_EQ(damage_of(R"({"a": 1)"), "it is no JSON from byte 8 on");
  EXPECT_EQ(damage_of("\"caf\xe9\""), "it is no JSON from byte 6 on");
  EXPECT_EQ(damage_of("1e999"), "it holds a number that is too large");
}

TEST(SavedValue, NamesThePlaceOfWhatIsWrong) {
  const Json json = parse_saved(R"({"a": [1, {"b": "x"}], "c": true, "d": 2.5, "e": -3})");
  const SavedValue v(json);
  const SavedValue b = v.at("a").element(1).at("b");
  EXPECT_EQ(b.text(), "x");
  EXPECT_TRUE(v.at("c").flag());
  EXPECT_EQ(v.at("d").number(), 2.5);
  EXPECT_EQ(v.at("e").whole<int>(), -3);
  EXPECT_EQ(v.at("a").count(), 2u);
  EXPECT_EQ(v.entries()[1].first, "c");
  EXPECT_EQ(message<Damage>([&] { return b.flag(); }), "a[1].b expects true or false, got \"x\"");
  EXPECT_EQ(message<Damage>([&] { return v.at("x"); }), "it has no x");
  EXPECT_EQ(message<Damage>([&] { return v.at("a").element(1).at("x"); }), "it has no a[1].x");
  EXPECT_EQ(message<Damage>([&] { return v.count(); }).substr(0, 24), "it expects a list, got {");
  EXPECT_EQ(message<Damage>([&] { return v.at("c").text(); }), "c expects a text, got true");
  EXPECT_EQ(message<Damage>([&] { return v.at("c").number(); }), "c expects a number, got true");
  EXPECT_EQ(message<Damage>([&] { return v.at("e").has("x"); }), "e expects an object, got -3");
}

TEST(SavedValue, TakesWholeNumbersOnlyWithinTheirRange) {
  const Json json = parse_saved("[7, -1, 2.0, true, 18446744073709551615, 1e30, \"7\"]");
  const SavedValue v(json);
  EXPECT_EQ(v.element(0).whole<int>(0, 7), 7);
  EXPECT_EQ(message<Damage>([&] { return v.element(0).whole<int>(0, 6); }),
            "[0] expects a whole number from 0 to 6, got 7");
  EXPECT_EQ(v.element(1).whole<int64_t>(), -1);
  EXPECT_EQ(v.element(4).whole<uint64_t>(), UINT64_MAX);
  EXPECT_NE(message<Damage>([&] { return v.element(1).whole<uint64_t>(); }), "nothing was thrown");
  EXPECT_NE(message<Damage>([&] { return v.element(4).whole<int64_t>(); }), "nothing was thrown");
  for (const size_t other : {2, 3, 5, 6})
    EXPECT_NE(message<Damage>([&] { return v.element(other).whole<int64_t>(); }),
              "nothing was thrown")
        << other;
}

TEST(SavedValue, ShowsLittleOfWhatIsLarge) {
  const Json json = parse_saved("{\"a\": \"" + std::string(100'000, 'x') + "\"}");
  EXPECT_LT(message<Damage>([&] { return SavedValue(json).at("a").flag(); }).size(), 200u);
}

}  // namespace
}  // namespace stoker
