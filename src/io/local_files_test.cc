// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "io/local_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/testing.h"
#include "io/faults.h"

namespace stoker::io {
namespace {

namespace fs = std::filesystem;

class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/stoker_file_XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    root_ = name;
  }
  void TearDown() override { fs::remove_all(root_); }
  std::string write(const std::string& name, std::string_view text) {
    const std::string path = root_ + "/" + name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  std::string root_;
};

std::string text(const ByteBuffer& b) {
  return {reinterpret_cast<const char*>(b.data()), b.size()};
}
std::string numbers(size_t size) {
  std::string s(size, 0);
  for (size_t i = 0; i < size; ++i) s[i] = static_cast<char>(i * 7 + i / 256);
  return s;
}
std::string read_error(const std::string& path, int64_t offset = 0, int64_t length = -1) {
  return message<SampleError>([&] {
    ByteBuffer b;
    open(path)->read(b, offset, length);
  });
}

TEST_F(FileTest, ReadsWholeFilesAndParts) {
  for (size_t size : {0, 1, 4095, 4096, 4097, 300000}) {
    const std::string all = numbers(size);
    const auto file = open(write("f", all));
    EXPECT_EQ(file->size(), static_cast<int64_t>(size));
    ByteBuffer b;
    file->read(b);
    EXPECT_EQ(text(b), all);
    file->read(b, static_cast<int64_t>(size / 2));
    EXPECT_EQ(text(b), all.substr(size / 2));
    file->read(b, static_cast<int64_t>(size / 3), static_cast<int64_t>(size / 4));
    EXPECT_EQ(text(b), all.substr(size / 3, size / 4));
    file->read(b, static_cast<int64_t>(size) + 10);
    EXPECT_EQ(b.size(), 0u);
  }
}

TEST_F(FileTest, ZerosFollowTheData) {
  ByteBuffer b;
  for (size_t size : {5000, 100, 0, 4096}) {
    open(write("f", std::string(size, '\xff')))->read(b);
    for (size_t i = 0; i < kReadPadding; ++i) ASSERT_EQ(b.data()[size + i], std::byte{0});
  }
}

TEST_F(FileTest, BuffersAreUsedAgain) {
  ByteBuffer b;
  open(write("large", numbers(100000)))->read(b);
  const std::byte* const before = b.data();
  open(write("small", "abc"))->read(b);
  EXPECT_EQ(b.data(), before);
  EXPECT_EQ(text(b), "abc");
}

TEST_F(FileTest, ErrorsNamePathAndReason) {
  EXPECT_EQ(read_error(root_ + "/none"),
            "cannot open '" + root_ + "/none': No such file or directory");
  EXPECT_EQ(read_error(root_), "cannot read '" + root_ + "': it is a folder");
  const std::string pipe = root_ + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(read_error(pipe), "cannot read '" + pipe + "': it is not a regular file");
  const std::string path = write("f", "0123456789");
  EXPECT_EQ(read_error(path, 4, 7),
            "cannot read '" + path + "' at byte 10: it ends after 6 of 7 bytes wanted from byte 4");
  EXPECT_EQ(read_error(path, -1, 7),
            "cannot read '" + path + "': a negative offset or length was asked for");
  EXPECT_EQ(read_error(path + std::string("\0x", 2)),
            "cannot open '" + path + "': the name holds a zero byte");
}

TEST_F(FileTest, FilesWithoutPermissionAreNamed) {
  const std::string path = write("secret", "x");
  ASSERT_EQ(::chmod(path.c_str(), 0), 0);
  struct Deny : FaultInjector {  // as root may read everything, permissions alone cannot deny
    int on_open(const std::string&) override { return EACCES; }
  } deny;
  const WithFaults with(deny);
  EXPECT_EQ(read_error(path), "cannot open '" + path + "': Permission denied");
}

TEST_F(FileTest, LyingLengthsCostNoMemory) {
  const std::string path = write("f", "0123456789");
  ByteBuffer b;
  EXPECT_THROW(open(path)->read(b, 0, int64_t{1} << 60), SampleError);
  EXPECT_EQ(b.capacity(), 0u);
}

TEST_F(FileTest, MemoryThatIsNotThereIsABudgetError) {
  const std::string path = write("sparse", "");
  std::error_code failed;
  fs::resize_file(path, uint64_t{1} << 43, failed);
  if (failed) GTEST_SKIP() << "this file system has no sparse files of 8 TB";
  ByteBuffer b;
  EXPECT_THROW(open(path)->read(b), BudgetError);
}

TEST_F(FileTest, FilesThatGrowAreReadToTheirNewEnd) {
  const std::string path = write("f", "first");
  const auto file = open(path);
  std::ofstream(path, std::ios::app) << std::string(20000, 'x');
  ByteBuffer b;
  file->read(b);
  EXPECT_EQ(text(b), "first" + std::string(20000, 'x'));
  file->read(b, 3, 10);
  EXPECT_EQ(text(b), "stxxxxxxxx");
}

TEST_F(FileTest, FilesThatShrinkAreAnError) {
  const std::string path = write("f", numbers(1000));
  const auto file = open(path);
  fs::resize_file(path, 300);
  ByteBuffer b;
  EXPECT_EQ(message<SampleError>([&] { file->read(b); }),
            "cannot read '" + path +
                "' at byte 300: it became shorter while it was read: 1000 bytes, then 300");
  EXPECT_EQ(message<SampleError>([&] { file->read(b, 100, 300); }),
            "cannot read '" + path +
                "' at byte 300: it ends after 200 of 300 bytes wanted from byte 100");
}

TEST_F(FileTest, FilesThatVanishStayReadableOnceOpen) {
  const std::string path = write("f", "still here");
  const auto file = open(path);
  fs::remove(path);
  ByteBuffer b;
  file->read(b);
  EXPECT_EQ(text(b), "still here");
}

TEST_F(FileTest, ShortAndInterruptedReadsAreCompleted) {
  struct Slow : FaultInjector {
    int calls = 0;
    int on_open(const std::string&) override { return calls++ == 0 ? EINTR : 0; }
    int on_read(const std::string&, int64_t, size_t& count) override {
      if (++calls % 3 == 0) return EINTR;
      count = std::min<size_t>(count, 17);
      return 0;
    }
  } slow;
  const WithFaults with(slow);
  const std::string all = numbers(1000);
  const auto file = open(write("f", all));
  ByteBuffer b;
  file->read(b);
  EXPECT_EQ(text(b), all);
  file->read(b, 10, 500);
  EXPECT_EQ(text(b), all.substr(10, 500));
  EXPECT_GT(slow.calls, 1500 / 17);
}

TEST_F(FileTest, FaultsReachTheReader) {
  struct Fault : FaultInjector {
    int error = 0;
    int on_read(const std::string&, int64_t offset, size_t&) override {
      return offset >= 0 ? error : 0;
    }
    void on_bytes(const std::string& path, int64_t offset, std::byte* bytes,
                  size_t count) override {
      if (path.ends_with("bad") && offset == 0 && count > 2) bytes[2] ^= std::byte{1};
    }
  } fault;
  const std::string good = write("good", "abc"), bad = write("bad", "abc");
  ByteBuffer b;
  {
    const WithFaults with(fault);
    open(good)->read(b);
    EXPECT_EQ(text(b), "abc");
    open(bad)->read(b);
    EXPECT_EQ(text(b), "abb");
    fault.error = EIO;
    EXPECT_EQ(read_error(good), "cannot read '" + good + "' at byte 0: Input/output error");
  }
  EXPECT_EQ(faults(), nullptr);
  EXPECT_EQ(read_error(good), "nothing was thrown");
}

TEST_F(FileTest, ErrorsCarryTheOffset) {
  const std::string path = write("f", "0123456789");
  try {
    ByteBuffer b;
    open(path)->read(b, 4, 7);
    FAIL();
  } catch (const SampleError& e) {
    EXPECT_EQ(e.offset, 10);
  }
}

TEST_F(FileTest, FoldersAreListedThroughLinks) {
  fs::create_directory(root_ + "/sub");
  write("plain", "x");
  fs::create_symlink(root_ + "/sub", root_ + "/link_to_folder");
  fs::create_symlink(root_ + "/plain", root_ + "/link_to_file");
  fs::create_symlink(root_ + "/nothing", root_ + "/broken");
  fs::create_symlink("circle", root_ + "/circle");
  std::set<std::string> files, folders;
  list_folder(root_, [&](FolderEntry e) { (e.is_folder ? folders : files).insert(e.name); });
  EXPECT_EQ(folders, (std::set<std::string>{"sub", "link_to_folder"}));
  EXPECT_EQ(files, (std::set<std::string>{"plain", "link_to_file", "broken", "circle"}));
  EXPECT_EQ(message<SampleError>([&] { list_folder(root_ + "/plain", [](FolderEntry) {}); }),
            "cannot list the folder '" + root_ + "/plain': Not a directory");
}

TEST_F(FileTest, FoldersAreKnownAgainBehindLinks) {
  fs::create_directories(root_ + "/sub/inner");
  fs::create_symlink(root_ + "/sub", root_ + "/link");
  int count = 0;
  const auto id = [&](const std::string& name, int64_t most = INT64_MAX) {
    return list_folder(root_ + name, [&](const FolderEntry&) { ++count; }, most);
  };
  EXPECT_EQ(id("/sub"), id("/link"));
  EXPECT_EQ(id("/sub/inner/.."), id("/link"));
  EXPECT_FALSE(id("/sub") == id("/sub/inner"));
  for (const int most : {0, 1, 2, 9}) {
    count = 0;
    id("", most);
    EXPECT_EQ(count, std::min(most, 2));
  }
}

TEST(JoinPath, KeepsAbsoluteNames) {
  EXPECT_EQ(join_path("a", "b"), "a/b");
  EXPECT_EQ(join_path("a/", "b"), "a/b");
  EXPECT_EQ(join_path("", "b"), "b");
  EXPECT_EQ(join_path("a", "/b"), "/b");
}

}  // namespace
}  // namespace stoker::io
