// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "io/origin.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>

#include "base/error.h"
#include "base/testing.h"
#include "io/paths/folder_search.h"
#include "io/paths/path_list.h"
#include "io/record_table.h"
#include "io/store.h"

namespace stoker::io {
namespace {

class Kept final : public Object {
 public:
  Kept(std::string path, std::string bytes) : path_(std::move(path)), bytes_(std::move(bytes)) {}
  const std::string& path() const override { return path_; }
  int64_t size() const override { return static_cast<int64_t>(bytes_.size()); }
  void append(ByteBuffer& into, int64_t offset, int64_t length) const override {
    const auto count = static_cast<size_t>(length < 0 ? size() - offset : length);
    const size_t before = into.size();
    into.reserve(before + count);
    read_to({into.data() + before, count}, offset);
    into.resize(before + count);
  }
  void read_to(std::span<std::byte> into, int64_t offset) const override {
    if (static_cast<size_t>(offset) + into.size() > bytes_.size())
      throw SampleError("'" + path_ + "' ends", size());
    std::memcpy(into.data(), bytes_.data() + offset, into.size());
  }

 private:
  const std::string path_, bytes_;
};

// Objects by their names, as a bucket has them.
class Bucket final : public Origin {
 public:
  std::map<std::string, std::string> objects;

  std::string_view scheme() const override { return "bucket://"; }
  std::shared_ptr<const Object> open(const std::string& path) const override {
    const auto at = objects.find(path);
    if (at == objects.end()) throw SampleError("cannot open '" + path + "': no such object");
    return std::make_shared<const Kept>(path, at->second);
  }
  FolderId list(const std::string& path, const std::function<void(FolderEntry)>& found,
                int64_t /*most*/) const override {
    std::set<std::string> folders;
    const std::string begin = path.ends_with('/') ? path : path + "/";
    for (const auto& [name, bytes] : objects) {
      if (!name.starts_with(begin)) continue;
      const std::string rest = name.substr(begin.size());
      const size_t slash = rest.find('/');
      if (slash == rest.npos) found({rest, false});
      else if (folders.insert(rest.substr(0, slash)).second) found({rest.substr(0, slash), true});
    }
    return {1, std::hash<std::string>()(begin)};
  }
  PathInfo look_up(const std::string& path) const override {
    const auto at = objects.find(path);
    if (at != objects.end()) return {false, static_cast<int64_t>(at->second.size()), 7};
    const auto next = objects.lower_bound(path + "/");
    if (next != objects.end() && next->first.starts_with(path + "/")) return {true, 0, 0};
    throw SampleError("cannot look up '" + path + "': no such object");
  }
};

class OriginTest : public testing::Test {
 protected:
  OriginTest() {
    bucket_.objects = {{"bucket://set/cat/a.jpg", "first"},
                       {"bucket://set/cat/b.jpg", "second"},
                       {"bucket://set/dog/c.jpg", "third"},
                       {"bucket://set/list.txt", "bucket://set/dog/c.jpg 4\ncat/a.jpg 5\n"}};
  }
  Bucket bucket_;
  const WithOrigin with_{bucket_};
};

TEST_F(OriginTest, SchemeDecides) {
  EXPECT_EQ(&origin_of("bucket://set/a"), &bucket_);
  EXPECT_EQ(origin_of("/set/a").scheme(), "");
  EXPECT_EQ(origin_of("other://set/a").scheme(), "") << "a folder may have such a name";
  EXPECT_EQ(text_of("bucket://set/cat/b.jpg"), "second");
  EXPECT_TRUE(is_folder("bucket://set/cat"));
  EXPECT_FALSE(is_folder("bucket://set/cat/b.jpg"));
  EXPECT_FALSE(is_folder("bucket://set/none"));
  EXPECT_EQ(look_up("bucket://set/dog/c.jpg").size, 5);
}

TEST_F(OriginTest, PathsWithASchemeAreWhole) {
  EXPECT_EQ(join_path("bucket://set", "cat/a.jpg"), "bucket://set/cat/a.jpg");
  EXPECT_EQ(join_path("/data", "bucket://set/a.jpg"), "bucket://set/a.jpg");
  EXPECT_EQ(join_path("/data", "other://a.jpg"), "/data/other://a.jpg");
}

TEST_F(OriginTest, FoldersOfClassesAreFound) {
  PathListSpec spec;
  spec.file_root = "bucket://set";
  const PathList list(spec);
  ASSERT_EQ(list.size(), 3);
  EXPECT_EQ(list.path(2), "bucket://set/dog/c.jpg");
  EXPECT_EQ(list.label(1), 0);
  EXPECT_EQ(list.label(2), 1);
  ByteBuffer bytes;
  std::vector<Part> parts;
  OpenExtents({{list.path(0)}, {list.path(2), 1, 3}}).read(bytes, parts);
  EXPECT_EQ(std::string(parts[0].begin(), parts[0].end()), "first");
  EXPECT_EQ(std::string(parts[1].begin(), parts[1].end()), "hir");
}

TEST_F(OriginTest, ListsMayNameIt) {
  PathListSpec spec;
  spec.file_list = "bucket://set/list.txt";
  spec.file_root = "bucket://set";
  const PathList list(spec);
  ASSERT_EQ(list.size(), 2);
  EXPECT_EQ(list.path(0), "bucket://set/dog/c.jpg");
  EXPECT_EQ(list.path(1), "bucket://set/cat/a.jpg");
}

TEST_F(OriginTest, PatternsAreMatchedInIt) {
  const FoundNames found = names_found("bucket://set", {"*.jpg"}, "file_filter", true);
  EXPECT_EQ(found.names, (std::vector<std::string>{"cat/a.jpg", "cat/b.jpg", "dog/c.jpg"}));
}

TEST_F(OriginTest, TablesAreKeptOfItElsewhere) {
  char folder[] = "/tmp/stoker_origin_XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  ::setenv("STOKER_INDEX_DIR", folder, 1);
  int searches = 0;
  const auto find = [&] {
    ++searches;
    return std::vector<RecordPlace>{{0, 2}, {2, 3}};
  };
  const std::string path = "bucket://set/cat/a.jpg";
  for (int i = 0; i < 2; ++i) {
    const auto table = RecordTable::of(path, "test 1", find);
    EXPECT_TRUE(table->is_kept());
    EXPECT_EQ(table->places()[1].size, 3);
  }
  EXPECT_EQ(searches, 1);
  bucket_.objects[path] = "changed";
  RecordTable::of(path, "test 1", find);
  EXPECT_EQ(searches, 2);
  ::unsetenv("STOKER_INDEX_DIR");
  std::filesystem::remove_all(folder);
}

TEST_F(OriginTest, FailuresAreItsOwn) {
  EXPECT_EQ(message<SampleError>([] { open("bucket://set/none"); }),
            "cannot open 'bucket://set/none': no such object");
}

}  // namespace
}  // namespace stoker::io
