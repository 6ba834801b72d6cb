// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "io/index.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/testing.h"
#include "io/crc32c.h"

namespace stoker::io {
namespace {

namespace fs = std::filesystem;

class Index : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "/index.XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    data_ = (folder_ / "data").string();
    std::ofstream(data_) << "some bytes";
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::shared_ptr<const RecordIndex> open(const std::vector<std::string>& files,
                                          const std::string& kind = "test 1") {
    return RecordIndex::of(
        data_, kind,
        [&] {
          ++found_;
          return std::vector<IndexEntry>{{0, 3}, {3, 7}};
        },
        files);
  }

  fs::path folder_;
  std::string data_;
  int found_ = 0;
};

TEST_F(Index, IsMadeOnceAndMapped) {
  const std::string file = data_ + ".stoker-index";
  for (int i = 0; i < 3; ++i) {
    const auto index = open({file});
    EXPECT_TRUE(index->is_mapped());
    ASSERT_EQ(index->entries().size(), 2U);
    EXPECT_EQ(index->entries()[1], (IndexEntry{3, 7}));
  }
  EXPECT_EQ(found_, 1);
  // Nothing but the index is left.
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 2);
}

TEST_F(Index, IsMadeAgainForAnotherFile) {
  const std::string file = data_ + ".stoker-index";
  open({file});
  std::ofstream(data_) << "other bytes now";
  open({file});
  EXPECT_EQ(found_, 2);
  fs::last_write_time(data_, fs::file_time_type::clock::now() + std::chrono::hours(1));
  open({file});
  EXPECT_EQ(found_, 3);
  open({file}, "test 2");
  EXPECT_EQ(found_, 4);
}

TEST_F(Index, IsMadeAgainWhereItIsDamaged) {
  const std::string file = data_ + ".stoker-index";
  open({file});
  const auto size = static_cast<int>(fs::file_size(file));
  for (int at = 0; at < size; at += 5) {
    std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekg(at);
    const auto old = static_cast<char>(bytes.get());
    bytes.seekp(at);
    bytes.put(static_cast<char>(old ^ 1));
    bytes.close();
    found_ = 0;
    EXPECT_EQ(open({file})->entries().size(), 2U);
    EXPECT_EQ(found_, 1) << at;
  }
  for (const int cut : {0, 1, 63, 64, 80, size - 1}) {
    fs::resize_file(file, static_cast<uintmax_t>(cut));
    found_ = 0;
    open({file});
    EXPECT_EQ(found_, 1) << cut;
  }
}

TEST_F(Index, GoesElsewhereWhereTheFolderCannotBeWritten) {
  const std::string nowhere = (fs::path("/proc/none") / "index").string();
  const std::string cache = (folder_ / "cache" / "stoker" / "index").string();
  EXPECT_TRUE(open({nowhere, cache})->is_mapped());
  EXPECT_TRUE(fs::exists(cache));
  EXPECT_TRUE(open({nowhere, cache})->is_mapped());
  EXPECT_EQ(found_, 1);
  EXPECT_FALSE(open({nowhere})->is_mapped());
  EXPECT_EQ(open({nowhere})->entries().size(), 2U);
  EXPECT_EQ(found_, 3);
}

TEST_F(Index, NeedsTheFile) {
  fs::remove(data_);
  EXPECT_EQ(message<SampleError>([&] { open({}); }),
            "cannot look up '" + data_ + "': No such file or directory");
}

TEST(Crc32c, ByInstructionAndByTables) {
  std::vector<uint8_t> bytes(300);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 37 + (i >> 3));
  // As the checksum's definition lists it.
  const std::string digits = "123456789";
  EXPECT_EQ(crc32c({reinterpret_cast<const uint8_t*>(digits.data()), digits.size()}), 0xe3069283U);
  for (size_t begin = 0; begin < 9; ++begin)
    for (size_t end = begin; end < bytes.size(); end += 7) {
      const std::span<const uint8_t> part(bytes.data() + begin, end - begin);
      EXPECT_EQ(crc32c(part), detail::crc32c_by_tables(part));
    }
}

}  // namespace
}  // namespace stoker::io
