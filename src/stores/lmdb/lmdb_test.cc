// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "stores/lmdb/lmdb.h"

#include <functional>

#include "stores/testing.h"

namespace stoker::stores {
namespace {

struct Value {
  std::string key;
  RecordPlace place;
};

struct Found {
  std::vector<Value> values;
  int64_t page_size = 0;
};

Found find(const std::string& path, const std::vector<uint8_t>& file) {
  Found f;
  f.page_size = find_lmdb_values(MemoryRanges(path, file), [&](ByteSpan key, RecordPlace place) {
    f.values.push_back({text_of(key), place});
  });
  return f;
}
std::string error_of(const std::vector<uint8_t>& file) {
  return message<SampleError>([&] { find("a.mdb", file); });
}

TEST(Lmdb, ValuesOfRealDatabases) {
  const Expected expected("lmdb");
  if (!expected.is_available()) GTEST_SKIP() << "without the data";
  int seen = 0, large = 0;
  for (const Json set : expected.json()["sets"].get_array()) {
    const std::string path = lmdb_file(expected.path(text_of(set["name"].value())));
    SCOPED_TRACE(path);
    const std::vector<uint8_t> file = read_file(path);
    const Found f = find(path, file);
    EXPECT_EQ(f.page_size, 4096);
    size_t i = 0;
    for (const Json record : set["records"].get_array()) {
      ASSERT_LT(i, f.values.size());
      const Value& v = f.values[i++];
      EXPECT_EQ(v.key, text_of(record["key"].value()));
      const ByteSpan value = lmdb_value(part(file, v.place), v.place, f.page_size, path);
      large += value.size() > 4096;
      if (text_of(set["layout"].value()) != "plain") continue;
      EXPECT_EQ(sha256(value), text_of(record["sha256"].value()));
      ++seen;
    }
    EXPECT_EQ(i, f.values.size());
  }
  EXPECT_GT(seen, 500);
  EXPECT_GT(large, 100);
}

TEST(Lmdb, DamagedDatabasesAreRefused) {
  const Expected expected("lmdb");
  if (!expected.is_available()) GTEST_SKIP() << "without the data";
  const std::string cut = expected.path("damaged_truncated/data.mdb");
  const std::string error = message<SampleError>([&] { find(cut, read_file(cut)); });
  EXPECT_TRUE(error.find("behind the end of the file") != std::string::npos) << error;
  EXPECT_TRUE(error.find("page ") != std::string::npos) << error;
  const std::string text = expected.path("damaged_not_lmdb/data.mdb");
  EXPECT_TRUE(message<SampleError>([&] { find(text, read_file(text)); }).starts_with("'" + text));
}

// Pages as LMDB writes them: two meta pages, and what a test adds.
class Database {
 public:
  explicit Database(size_t page_size) : page_size_(page_size) {
    meta(0, 1);
    meta(1, 2);
  }
  template <class T>
  void put(size_t page, size_t at, T value) {
    bytes_.resize(std::max(bytes_.size(), (page + 1) * page_size_));
    std::memcpy(&bytes_[page * page_size_ + at], &value, sizeof value);
  }
  void meta(size_t page, uint64_t transaction) {
    put<uint64_t>(page, 0, page);
    put<uint16_t>(page, 10, 0x08);
    put<uint32_t>(page, 16, 0xbeefc0de);
    put<uint32_t>(page, 20, 1);
    put<uint32_t>(page, 40, static_cast<uint32_t>(page_size_));
    put<uint64_t>(page, 128, ~uint64_t{0});
    put<uint64_t>(page, 144, transaction);
  }
  // Both meta pages say so.
  void tree(uint64_t root, uint16_t levels, uint64_t entries, uint16_t flags = 0) {
    for (size_t page : {0, 1}) {
      put<uint16_t>(page, 92, flags);
      put<uint16_t>(page, 94, levels);
      put<uint64_t>(page, 120, entries);
      put<uint64_t>(page, 128, root);
      put<uint64_t>(page, 136, bytes_.size() / page_size_ + 8);
    }
  }
  void head(size_t page, uint16_t flags) {
    put<uint64_t>(page, 0, page);
    put<uint16_t>(page, 10, flags);
    put<uint16_t>(page, 12, 16);
    put<uint16_t>(page, 14, static_cast<uint16_t>(page_size_));
  }
  void add(size_t page, uint32_t low, uint16_t flags, const std::string& key,
           const std::string& data) {
    uint16_t lower, upper;
    std::memcpy(&lower, &bytes_[page * page_size_ + 12], 2);
    std::memcpy(&upper, &bytes_[page * page_size_ + 14], 2);
    const size_t end = upper == 0 ? page_size_ : upper;  // 65536 does not fit
    const size_t at = end - (8 + key.size() + data.size() + 1) / 2 * 2;
    put<uint16_t>(page, lower, static_cast<uint16_t>(at));
    put<uint16_t>(page, 12, static_cast<uint16_t>(lower + 2));
    put<uint16_t>(page, 14, static_cast<uint16_t>(at));
    put<uint32_t>(page, at, low);
    put<uint16_t>(page, at + 4, flags);
    put<uint16_t>(page, at + 6, static_cast<uint16_t>(key.size()));
    const std::string both = key + data;
    std::copy(both.begin(), both.end(),
              bytes_.begin() + static_cast<ptrdiff_t>(page * page_size_ + at + 8));
  }
  void value(size_t page, const std::string& key, const std::string& data) {
    add(page, static_cast<uint32_t>(data.size()), 0, key, data);
  }
  void large(size_t page, const std::string& key, uint64_t target, uint32_t size) {
    add(page, size, 1, key, std::string(reinterpret_cast<const char*>(&target), 8));
  }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  size_t page_size_;
  std::vector<uint8_t> bytes_;
};

// A branch over two leaves, the second of which has a large value.
Database two_levels(size_t page_size) {
  Database d(page_size);
  d.head(2, 0x01);
  d.add(2, 3, 0, "", "");
  d.add(2, 4, 0, "m", "");
  d.head(3, 0x02);
  d.value(3, "a", "one");
  d.value(3, "b", "");
  d.head(4, 0x02);
  d.large(4, "m", 5, static_cast<uint32_t>(page_size));
  d.head(5, 0x04);
  d.put<uint32_t>(5, 12, 2);
  d.put<uint8_t>(6, page_size - 1, 0);
  d.tree(2, 2, 3);
  return d;
}

TEST(Lmdb, AllSizesOfPages) {
  for (const size_t page_size : {512, 4096, 8192, 16384, 32768, 65536}) {
    SCOPED_TRACE(page_size);
    const Database d = two_levels(page_size);
    const Found f = find("a.mdb", d.bytes());
    EXPECT_EQ(f.page_size, static_cast<int64_t>(page_size));
    ASSERT_EQ(f.values.size(), 3U);
    EXPECT_EQ(text_of(part(d.bytes(), f.values[0].place)), "one");
    EXPECT_EQ(f.values[1].key + f.values[2].key, "bm");
    const RecordPlace large = f.values[2].place;
    EXPECT_EQ(lmdb_value(part(d.bytes(), large), large, f.page_size, "a").size(), page_size);
  }
}

TEST(Lmdb, TheOtherMetaPageCountsWhereOneIsDamaged) {
  Database d = two_levels(8192);
  d.put<uint32_t>(0, 16, 0);
  EXPECT_EQ(find("a.mdb", d.bytes()).values.size(), 3U);
  d.put<uint32_t>(1, 16, 0);
  EXPECT_EQ(error_of(d.bytes()), "'a.mdb' at byte 0: this is no database of LMDB");
}

TEST(Lmdb, WrongPagesAreRefused) {
  using Change = std::function<void(Database&)>;
  const auto error = [](const Change& change) {
    Database d = two_levels(512);
    change(d);
    return error_of(d.bytes());
  };
  EXPECT_EQ(error([](Database& d) { d.tree(2, 2, 4); }),
            "'a.mdb' at byte 0: the meta page counts 4 values, and there are 3");
  EXPECT_EQ(error([](Database& d) { d.tree(2, 1, 3); }),
            "'a.mdb' at byte 1024: page 2 is a branch on level 1 of 1");
  EXPECT_EQ(error([](Database& d) { d.tree(2, 3, 3); }),
            "'a.mdb' at byte 1536: page 3 is a leaf on level 2 of 3");
  EXPECT_EQ(error([](Database& d) { d.tree(1, 2, 3); }),
            "'a.mdb' at byte 512: page 1 is no page of the database");
  EXPECT_EQ(error([](Database& d) { d.tree(2, 2, 3, 4); }),
            "'a.mdb' at byte 0: databases with several values for a key (DUPSORT) are not read");
  EXPECT_EQ(error([](Database& d) { d.put<uint64_t>(3, 0, 9); }),
            "'a.mdb' at byte 1536: page 3 says that it is page 9");
  EXPECT_EQ(error([](Database& d) { d.head(3, 0x10); }),
            "'a.mdb' at byte 1536: page 3 is neither a branch nor a leaf");
  EXPECT_EQ(error([](Database& d) { d.put<uint16_t>(3, 12, 600); }),
            "'a.mdb' at byte 1536: page 3 has a list of places that ends at byte 600");
  EXPECT_EQ(error([](Database& d) { d.put<uint16_t>(3, 16, 510); }),
            "'a.mdb' at byte 1536: page 3 has an entry at byte 510");
  EXPECT_EQ(error([](Database& d) {
              d.put<uint16_t>(3, 16, 500);
              d.put<uint32_t>(3, 500, 5);
            }),
            "'a.mdb' at byte 1536: page 3 has an entry that reaches beyond it, at byte 500");
  EXPECT_EQ(
      error([](Database& d) { d.large(4, "n", 6, 513); }),
      "'a.mdb' at byte 3072: page 6 and those behind it, with a value of 513 bytes, end behind "
      "the end of the file, which has 3584 bytes");
  EXPECT_EQ(
      error([](Database& d) { d.add(4, 1, 2, "n", "x"); }),
      "'a.mdb' at byte 2048: page 4 holds a named database or several values for a key, which "
      "are not read");
  EXPECT_EQ(error([](Database& d) {
              d.head(2, 1);
              d.add(2, 3, 0, "", "");
              d.add(2, 3, 0, "", "");
            }),
            "'a.mdb' at byte 1536: page 3 is in the tree twice");
  EXPECT_EQ(error([](Database& d) {
              d.head(2, 1);
              d.add(2, 2, 0, "", "");
            }),
            "'a.mdb' at byte 1024: page 2 is in the tree twice");
}

// LMDB puts the first value of a page at its end, and an empty one behind its last byte.
TEST(Lmdb, AnEmptyValueAtTheEndOfAPageIsNoLargeOne) {
  EXPECT_TRUE(lmdb_value({}, {1024, 0}, 512, "a.mdb").empty());
}

TEST(Lmdb, PagesOfLargeValuesAreChecked) {
  Database d = two_levels(512);
  const RecordPlace place = find("a.mdb", d.bytes()).values[2].place;
  const auto error = [&] {
    return message<SampleError>([&] { lmdb_value(part(d.bytes(), place), place, 512, "a.mdb"); });
  };
  EXPECT_EQ(error(), "nothing was thrown");
  d.put<uint32_t>(5, 12, 1);
  EXPECT_EQ(error(),
            "'a.mdb' at byte 2560: page 5 counts 1 pages, too few for a value of 512 bytes");
  d.head(5, 0x02);
  EXPECT_EQ(error(), "'a.mdb' at byte 2560: page 5 holds no large value");
}

}  // namespace
}  // namespace stoker::stores
