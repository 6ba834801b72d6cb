// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "io/record_table.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
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

  std::shared_ptr<const RecordTable> open(const std::vector<std::string>& files,
                                          const std::string& kind = "test 1") {
    return RecordTable::of(
        data_, kind,
        [&] {
          ++found_;
          return std::vector<RecordPlace>{{0, 3}, {3, 7}};
        },
        files);
  }

  fs::path folder_;
  std::string data_;
  int found_ = 0;
};

TEST_F(Index, IsMadeOnceAndKept) {
  const std::string file = data_ + ".stoker-index";
  for (int i = 0; i < 3; ++i) {
    const auto index = open({file});
    EXPECT_TRUE(index->is_kept());
    ASSERT_EQ(index->places().size(), 2U);
    EXPECT_EQ(index->places()[1], (RecordPlace{3, 7}));
  }
  EXPECT_EQ(found_, 1);
  // Nothing but the index is left.
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 2);
}

TEST_F(Index, IsNotMissedOnceItIsOpen) {
  const std::string file = data_ + ".stoker-index";
  open({file});
  const auto index = open({file});
  for (const int cut : {80, 64, 0}) {
    fs::resize_file(file, static_cast<uintmax_t>(cut));
    EXPECT_EQ(index->places()[1], (RecordPlace{3, 7}));
  }
  const auto other = open({file});  // is made again
  fs::remove(file);
  EXPECT_EQ(other->places()[1], (RecordPlace{3, 7}));
  EXPECT_EQ(found_, 2);
}

// A large one is mapped.
TEST_F(Index, StaysWhileAnotherTakesItsPlace) {
  const std::string file = data_ + ".stoker-index";
  const auto of = [&](const std::string& kind, int64_t size) {
    return RecordTable::of(data_, kind,
                           [&] {
                             return std::vector<RecordPlace>(kMostCopied / sizeof(RecordPlace) + 1,
                                                             RecordPlace{0, size});
                           },
                           {file});
  };
  const auto before = of("test 1", 3);
  EXPECT_TRUE(before->is_kept());
  const auto after = of("test 2", 4);
  EXPECT_EQ(before->places().back(), (RecordPlace{0, 3}));
  EXPECT_EQ(after->places().back(), (RecordPlace{0, 4}));
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

TEST_F(Index, IsKeptOfAFileFromAnyTime) {
  const std::string file = data_ + ".stoker-index";
  for (const int64_t year : {1930, 2300, 2400}) {
    constexpr int64_t kYear = 31'556'952;
    const timespec time{(year - 1970) * kYear, 0};
    const timespec both[] = {time, time};
    ASSERT_EQ(::utimensat(AT_FDCWD, data_.c_str(), both, 0), 0);
    found_ = 0;
    open({file});
    EXPECT_TRUE(open({file})->is_kept());
    EXPECT_EQ(found_, 1) << year;
  }
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
    EXPECT_EQ(open({file})->places().size(), 2U);
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
  EXPECT_TRUE(open({nowhere, cache})->is_kept());
  EXPECT_TRUE(fs::exists(cache));
  EXPECT_TRUE(open({nowhere, cache})->is_kept());
  EXPECT_EQ(found_, 1);
  EXPECT_FALSE(open({nowhere})->is_kept());
  EXPECT_EQ(open({nowhere})->places().size(), 2U);
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
