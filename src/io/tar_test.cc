// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "io/tar.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "base/error.h"
#include "base/testing.h"

namespace stoker::io {
namespace {

// Writes archives by hand, also wrong ones.
class Archive {
 public:
  Archive& add(const std::string& name, const std::string& data, char type = '0',
               const std::string& size = "", const char* magic = "ustar") {
    std::string h(512, '\0');
    h.replace(0, std::min<size_t>(name.size(), 100), name.substr(0, 100));
    char octal[13];
    std::snprintf(octal, sizeof octal, "%011zo", data.size());
    const std::string stored = size.empty() ? std::string(octal) : size;
    h.replace(124, stored.size(), stored);
    h[156] = type;
    h.replace(257, std::strlen(magic), magic);
    if (std::string(magic) == "ustar") h.replace(263, 2, "00");
    std::fill_n(h.begin() + 148, 8, ' ');
    int sum = 0;
    for (const char c : h) sum += static_cast<unsigned char>(c);
    std::snprintf(octal, sizeof octal, "%06o", sum);
    h.replace(148, 7, std::string(octal, 7));
    bytes += h + data;
    bytes.resize((bytes.size() + 511) / 512 * 512);
    return *this;
  }
  Archive& end() {
    bytes.resize(bytes.size() + 1024);
    return *this;
  }
  std::vector<TarMember> members() const {
    TarReader tar("a.tar", [&](int64_t offset, std::span<uint8_t> into) {
      const size_t at = std::min(static_cast<size_t>(offset), bytes.size());
      const size_t n = std::min(into.size(), bytes.size() - at);
      std::memcpy(into.data(), bytes.data() + at, n);
      return n;
    });
    std::vector<TarMember> all;
    while (std::optional<TarMember> m = tar.next()) all.push_back(*m);
    return all;
  }
  std::string error() const {
    return message<SampleError>([&] { (void)members(); });
  }
  std::string bytes;
};

std::string pax(const std::string& key, const std::string& value) {
  const std::string rest = " " + key + "=" + value + "\n";
  size_t size = rest.size();
  while (std::to_string(size).size() + rest.size() != size)
    size = std::to_string(size).size() + rest.size();
  return std::to_string(size) + rest;
}

TEST(Tar, FindsMembers) {
  Archive a;
  a.add("one", "1").add("folder/", "", '5').add("link", "", '2').add("two", std::string(513, '2'));
  a.add("three", "", '\0').end();
  const auto all = a.members();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].name, "one");
  EXPECT_EQ(all[0].offset, 512);
  EXPECT_EQ(all[1].size, 513);
  EXPECT_EQ(a.bytes.substr(static_cast<size_t>(all[1].offset), 513), std::string(513, '2'));
  EXPECT_EQ(all[2].name, "three");
  a.bytes.resize(a.bytes.size() - 1024);  // the end need not be marked
  EXPECT_EQ(a.members().size(), 3u);
  EXPECT_TRUE(Archive().members().empty());
}

TEST(Tar, LongNames) {
  const std::string name(300, 'n');
  Archive gnu, posix;
  gnu.add("././@LongLink", name + '\0', 'L', "", "ustar  ")
      .add(name, "data")
      .add("next", "x")
      .end();
  posix.add("x", pax("path", name) + pax("mtime", "1.5"), 'x').add("short", "data");
  posix.add("next", "x").end();
  for (const Archive& a : {gnu, posix}) {
    const auto all = a.members();
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].name, name);
    EXPECT_EQ(all[0].size, 4);
    EXPECT_EQ(all[1].name, "next");
  }
}

TEST(Tar, LargeSizes) {
  std::string binary(12, '\0');
  binary[0] = static_cast<char>(0x80);
  binary[7] = 1;  // 2^32
  Archive a;
  a.add("large", "", '0', binary);
  EXPECT_EQ(a.members().at(0).size, int64_t{1} << 32);
  Archive p;
  p.add("x", pax("size", "8589934592"), 'x').add("larger", "");
  EXPECT_EQ(p.members().at(0).size, int64_t{1} << 33);
}

// The member at each place, whatever headers say its name and size.
TEST(Tar, MembersByTheirPlaces) {
  const std::string deep = "folder/" + std::string(90, 'x') + "/" + std::string(700, 'y') + ".jpg";
  Archive a;
  a.add("one", "1").add("folder/", "", '5').add("L", deep, 'L').add(deep, "22");
  a.add("x", pax("path", "three") + pax("size", "3"), 'x').add("other", "333", '0', "00000000000");
  a.add("four", "").end();
  const auto read_at = [&](int64_t offset, std::span<uint8_t> into) {
    const size_t n = std::min(into.size(), a.bytes.size() - static_cast<size_t>(offset));
    std::memcpy(into.data(), a.bytes.data() + offset, n);
    return n;
  };
  for (const TarMember& wanted : a.members()) {
    const auto is_right = [&](const TarMember& m) {
      return m.name == wanted.name && m.size == wanted.size;
    };
    const auto found = tar_member_at(wanted.offset, read_at, is_right);
    ASSERT_TRUE(found && is_right(*found)) << wanted.name;
    // Where nothing is right, it is what the header itself says.
    const auto other = tar_member_at(wanted.offset, read_at, [](const auto&) { return false; });
    const auto header =
        std::as_bytes(std::span(a.bytes)).subspan(static_cast<size_t>(wanted.offset) - 512, 512);
    const std::span block(reinterpret_cast<const uint8_t*>(header.data()), header.size());
    const bool is_alone = wanted.name.size() < 100 && wanted.name != "three";
    EXPECT_EQ(is_tar_header(block, wanted.name, wanted.size), is_alone) << wanted.name;
    EXPECT_FALSE(is_tar_header(block, wanted.name, wanted.size + 1));
    EXPECT_FALSE(is_tar_header(block, wanted.name + "x", wanted.size));
    EXPECT_EQ(other.value().name, wanted.name == "three" ? "other" : wanted.name.substr(0, 100));
  }
  for (const int64_t nowhere : {int64_t{0}, int64_t{1024}, int64_t{a.members()[1].offset - 512}})
    EXPECT_FALSE(tar_member_at(nowhere, read_at, [](const auto&) { return true; })) << nowhere;
}

TEST(Tar, DamageIsNamed) {
  Archive a;
  a.add("one", "1").add("two", "2").end();
  Archive sum = a, part = a, size, name, length;
  sum.bytes[1024] = 'x';
  EXPECT_EQ(sum.error(),
            "the archive 'a.tar' is damaged at byte 1024: the checksum of a header is wrong");
  sum.bytes.replace(0, 1024, std::string(1024, 'x'));
  EXPECT_TRUE(sum.error().find("unless this is no tar archive: found text that begins with \"xx") !=
              std::string::npos);
  part.bytes.resize(1100);
  EXPECT_NE(part.error().find("at byte 1024: it ends after 76 bytes of a header"),
            std::string::npos);
  size.add("one", "", '0', "12x45");
  EXPECT_NE(size.error().find("no number"), std::string::npos);
  size.bytes.clear();
  size.add("one", "", '0', std::string("\x80") + std::string(11, '\x7f'));
  EXPECT_NE(size.error().find("no number"), std::string::npos);
  name.add("L", "", 'L', "77777777777");
  EXPECT_NE(name.error().find("a long name claims"), std::string::npos);
  for (const char* record :
       {"99 path=x\n", "3 x\n", "x", "12 path=wrong", "9 pathxx\n", "0 a=b\n"}) {
    Archive wrong;
    wrong.add("x", record, 'x').add("y", "");
    EXPECT_NE(wrong.error().find("pax"), std::string::npos) << record;
  }
}

TEST(Tar, AnyBytesEndInMembersOrAnError) {
  std::mt19937 rng(1);
  Archive good;
  good.add("x", pax("path", "long/name") + pax("size", "3"), 'x').add("short", "abc");
  good.add("L", "other", 'L').add("y", "").end();
  for (int n = 0; n < 20000; ++n) {
    Archive a = good;
    for (int k = static_cast<int>(rng() % 4); k >= 0; --k)
      a.bytes[rng() % a.bytes.size()] = static_cast<char>(rng());
    if (n % 3 == 0) a.bytes.resize(rng() % a.bytes.size());
    // Right checksums lead further in.
    for (size_t at = 0; n % 2 && at + 512 <= a.bytes.size(); at += 512) {
      int sum = 8 * ' ';
      for (size_t i = 0; i < 512; ++i)
        sum += i < 148 || i >= 156 ? static_cast<unsigned char>(a.bytes[at + i]) : 0;
      char octal[16];
      std::snprintf(octal, sizeof octal, "%06o", sum);
      std::memcpy(a.bytes.data() + at + 148, octal, 7);
    }
    try {
      for (const TarMember& m : a.members()) {
        EXPECT_GE(m.size, 0);
        EXPECT_GE(m.offset, 512);
      }
    } catch (const SampleError& e) {
      EXPECT_NE(std::string(e.what()).find("a.tar"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace stoker::io
