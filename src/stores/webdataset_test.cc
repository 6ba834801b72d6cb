// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/webdataset.h"

#include <gtest/gtest.h>

#include <fstream>

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
  EXPECT_EQ(samples[0][1].place.offset, 1536);
  EXPECT_EQ(samples[0][1].place.size, 2);
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

// Takes a time that grows with the blanks, and not with their square.
TEST(WebdatasetIndex, WithManyBlanks) {
  const std::string name = "a" + std::string(1 << 20, ' ') + "b";
  const std::string text = "v1.2 1\njpg 512 7 " + name + " cls 1536 2 c";
  const auto samples = parse_webdataset_index(text, "a");
  ASSERT_EQ(samples[0].size(), 2u);
  EXPECT_EQ(samples[0][0].name, name);
  EXPECT_EQ(samples[0][1].name, "c");
}

// An archive of three bytes of a member, whose contents are missing.
std::vector<uint8_t> archive_of(std::string_view name) {
  std::vector<uint8_t> archive(512);
  const auto put = [&](size_t at, std::string_view text) {
    std::copy(text.begin(), text.end(), archive.begin() + static_cast<int64_t>(at));
  };
  put(0, name);
  put(124, "00000000003");
  put(148, "        ");
  put(156, "0");
  int sum = 0;
  for (const uint8_t byte : archive) sum += byte;
  char octal[12];
  std::snprintf(octal, sizeof octal, "%06o", sum);
  put(148, {octal, 7});  // with the zero that ends it
  return archive;
}

TEST(WebdatasetIndex, OfAnArchiveThatEndsTooSoon) {
  std::vector<uint8_t> archive = archive_of("a.txt");
  const auto index = [&] { return webdataset_index(MemoryRanges("a.tar", archive)); };
  EXPECT_EQ(message<SampleError>(index), "'a.tar' at byte 512: the archive ends within 'a.txt'");
  archive.resize(512 + 3);
  EXPECT_EQ(index(), "v1.2 1\ntxt 512 3 a.txt\n");
}

TEST(WebdatasetIndex, OfNamesThatItCannotHold) {
  for (const std::string name : {"a.x y", "a\nb.txt"}) {
    std::vector<uint8_t> archive = archive_of(name);
    archive.resize(512 + 3);
    EXPECT_EQ(message<SampleError>([&] { webdataset_index(MemoryRanges("a.tar", archive)); }),
              "'a.tar' at byte 512: no index can hold the name '" + name +
                  "': it has a blank in its ending, or a line break");
  }
}

// Anyone may have written it, with a checksum that is right.
TEST(WebdatasetTable, ThatWasKeptIsNotBelieved) {
  const std::string path = testing::TempDir() + "/kept.tar";
  size_t size = 0;
  const auto opened = [&](const std::vector<int64_t>& numbers) {
    std::ofstream(path) << std::string(++size, 'x');  // none is kept of another size
    const auto make = [&] {
      const auto owner = std::make_shared<const std::vector<int64_t>>(numbers);
      const auto* bytes = reinterpret_cast<const uint8_t*>(owner->data());
      return io::KeptBytes{owner, {bytes, numbers.size() * sizeof(int64_t)}};
    };
    io::kept_bytes(path, "webdataset 2", make);
    return WebdatasetTable::kept(path, []() -> WebdatasetTable { throw Error("searched again"); });
  };
  const auto refused = [&](const std::vector<int64_t>& numbers) {
    return message<SampleError>([&] {
      const WebdatasetTable table = opened(numbers);
      for (int64_t k = 0; k < table.members(0); ++k) (void)table.member(0, k);
    });
  };
  // samples, members, bytes of texts, of the archive, samples apart; first members; a member
  const std::vector<int64_t> good = {1, 1, 0, 99, 0, 0, 1, 512, 3, 0, 0};
  EXPECT_EQ(opened(good).member(0, 0).place, (RecordPlace{512, 3}));
  const std::string damaged = "the table that was kept of the archive '" + path + "' is damaged";
  for (size_t k = 0; k < good.size(); ++k)
    for (const int64_t wrong : {INT64_MIN, int64_t{-1}, INT64_MAX}) {
      const bool is_free = wrong > 0 && (k == 3 || k == 7 || k == 8);  // the archive tells
      if (is_free) continue;
      std::vector<int64_t> numbers = good;
      numbers[k] = wrong;
      EXPECT_EQ(refused(numbers), damaged) << "number " << k << " is " << wrong;
    }
}

// An archive of empty members.
std::vector<uint8_t> archive_of_all(const std::vector<std::string>& names) {
  std::vector<uint8_t> all;
  for (const std::string& name : names) {
    std::vector<uint8_t> member = archive_of(name);
    member.resize(1024);
    all.insert(all.end(), member.begin(), member.end());
  }
  return all;
}

std::vector<std::string> faults(const std::vector<std::string>& names) {
  const std::vector<uint8_t> archive = archive_of_all(names);
  const auto table = WebdatasetTable::searched(MemoryRanges("a.tar", archive));
  std::vector<std::string> all;
  for (int64_t i = 0; i < table.size(); ++i) {
    const std::string why = message<SampleError>([&] { table.require_together(i); });
    all.push_back(why == "nothing was thrown" ? "" : why);
  }
  return all;
}

TEST(WebdatasetTable, SamplesThatAreApartNameBothPlaces) {
  const std::vector<std::string> found = faults({"a.jpg", "b.jpg", "c.jpg", "c.cls", "a.cls"});
  ASSERT_EQ(found.size(), 4u);
  EXPECT_NE(found[0].find("others stand between 'a.jpg' at byte 512 and 'a.cls' at byte 4608"),
            std::string::npos)
      << found[0];
  EXPECT_NE(found[0].find("tar --sort=name"), std::string::npos);
  EXPECT_EQ(found[3], found[0]);
  EXPECT_EQ(found[1] + found[2], "");
}

TEST(WebdatasetTable, ASampleThatComesAgainIsApart) {
  const std::vector<std::string> found = faults({"a.jpg", "b.jpg", "a.jpg", "b.cls", "A.jpg"});
  ASSERT_EQ(found.size(), 5u);
  for (size_t i = 0; i < 4; ++i) EXPECT_NE(found[i], "") << i;
  EXPECT_EQ(found[4], "");
}

TEST(WebdatasetTable, MembersAreComparedWithTheArchive) {
  const std::vector<uint8_t> archive = archive_of_all({"a.jpg", "a.cls", "b.jpg"});
  const auto read_at = [&](int64_t at, std::span<uint8_t> into) {
    std::copy_n(archive.begin() + at, into.size(), into.begin());
    return into.size();
  };
  const auto key = [&](const std::string& line) {
    const auto table = WebdatasetTable::of_index("v1.2 1\n" + line, "a.idx", "a.tar");
    const WebdatasetMember m = table.member(0, 0);
    const auto begin = static_cast<size_t>(m.place.offset - 512);
    return table.require_there(m, ByteSpan(archive).subspan(begin, 512), read_at);
  };
  const auto refused = [&](const std::string& line) {
    return message<SampleError>([&] { key(line); });
  };
  EXPECT_EQ(key("cls 1536 3 a.cls"), "a");
  const std::string front = "'a.tar' at byte 1536: the index 'a.idx' has ",
                    back =
                        " here, and the archive has 'a.cls' of 3 bytes. The index is of another "
                        "archive: give its own, or no index_paths, as members are looked for "
                        "without them";
  EXPECT_EQ(refused("jpg 1536 3 a.jpg"), front + "'a.jpg' of 3 bytes" + back);
  EXPECT_EQ(refused("cls 1536 3 b.cls"), front + "'b.cls' of 3 bytes" + back);
  EXPECT_EQ(refused("cls 1536 4 a.cls"), front + "'a.cls' of 4 bytes" + back);
  EXPECT_NE(refused("cls 1024 3 a.cls").find("the archive has no member."), std::string::npos);
}

}  // namespace
}  // namespace stoker::stores
