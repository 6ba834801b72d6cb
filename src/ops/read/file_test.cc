// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "op/testing.h"
#include "op/type_of.h"

namespace stoker {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "stoker_file_XXXXXX").string();
    if (!mkdtemp(pattern.data())) throw std::runtime_error("mkdtemp");
    root_ = pattern;
    write("b/one.jpg", "11");
    write("b/two.JPG", "222");
    write("b/notes.txt", "no picture");
    write("a/zero.png", "0");
    write("list.txt", "b/two.JPG 7\na/zero.png -1\n");
  }
  ~Folder() { fs::remove_all(root_); }
  std::string path(const std::string& name = "") const {
    return name.empty() ? root_.string() : (root_ / name).string();
  }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }

 private:
  fs::path root_;
};

const OperatorType& type() { return operator_named("readers.file"); }

std::unique_ptr<SampleStore> opened(const Arguments& a) {
  return type().reads->open(*type().make(a));
}

void check(const Arguments& a) {
  Checker c{{}, {}, {}, {}};
  type().make(a)->check(c);
  ASSERT_EQ(c.outputs.size(), 2u);
  EXPECT_EQ(c.outputs[0], (TensorType{DType::kUint8, {}, {-1}}));
  EXPECT_EQ(c.outputs[1], (TensorType{DType::kInt32, {}, {1}}));
}

int32_t label(const SampleStore& s, int64_t index) {
  const uint8_t bytes[3] = {1, 2, 3};
  const io::Part parts[] = {bytes};
  View outputs[2];
  Arena scratch;
  Reading r{s, index, parts, outputs, scratch};
  s.read(r);
  EXPECT_EQ(outputs[0].data, bytes);
  EXPECT_EQ(outputs[0].shape, Shape{3});
  return *outputs[1].as<int32_t>();
}

TEST(ReadersFile, SearchesFolders) {
  const Folder folder;
  const auto store = opened({{"file_root", folder.path()}});
  ASSERT_EQ(store->size(), 3);
  EXPECT_EQ(store->name(0), folder.path("a/zero.png"));
  const io::Place place = store->place(1);
  ASSERT_EQ(place.extents.size(), 1u);
  EXPECT_EQ(place.extents[0].path, folder.path("b/one.jpg"));
  EXPECT_EQ(place.extents[0].length, -1);
  EXPECT_EQ(label(*store, 0), 0);
  EXPECT_EQ(label(*store, 2), 1);
  EXPECT_EQ(opened({{"file_root", folder.path()}, {"case_sensitive_filter", true}})->size(), 2);
  EXPECT_EQ(opened({{"file_root", folder.path()}, {"file_filters", std::string("*.txt")}})->size(),
            1);
  EXPECT_EQ(opened({{"file_root", folder.path()}, {"dir_filters", std::string("a*")}})->size(), 1);
}

TEST(ReadersFile, TakesNestedFoldersOrTellsOfThem) {
  const Folder folder;
  const auto flat = opened({{"file_root", folder.path()}});
  EXPECT_EQ(flat->warning(), "");
  folder.write("b/more/three.jpg", "33");
  const auto nested = opened({{"file_root", folder.path()}, {"recursive", true}});
  ASSERT_EQ(nested->size(), 4);
  EXPECT_EQ(nested->name(3), folder.path("b/more/three.jpg"));
  EXPECT_EQ(label(*nested, 3), 1);
  EXPECT_EQ(nested->warning(), "");
  EXPECT_NE(nested->fingerprint(), flat->fingerprint());
  const auto left_out = opened({{"file_root", folder.path()}});
  EXPECT_EQ(left_out->size(), 3);
  EXPECT_EQ(left_out->fingerprint(), flat->fingerprint());
  EXPECT_EQ(left_out->warning(),
            "leaves out 1 file in 1 folder within those of the classes, such as '" +
                folder.path("b/more") + "'; recursive=True takes them too");
}

TEST(ReadersFile, TakesLists) {
  const Folder folder;
  auto store = opened({{"file_list", folder.path("list.txt")}});
  ASSERT_EQ(store->size(), 2);
  EXPECT_EQ(store->name(0), folder.path("b/two.JPG"));
  EXPECT_EQ(label(*store, 0), 7);
  EXPECT_EQ(label(*store, 1), -1);
  const std::vector<std::string> files{"x.jpg", "y.jpg"};
  store = opened({{"files", files}, {"file_root", std::string("/r")}});
  EXPECT_EQ(store->name(1), "/r/y.jpg");
  EXPECT_EQ(label(*store, 1), 1);
  store = opened({{"files", files}, {"labels", std::vector<int64_t>{5, 6}}});
  EXPECT_EQ(label(*store, 1), 6);
}

TEST(ReadersFile, SaysWhatIsWrong) {
  const Folder folder;
  check({{"file_root", folder.path()}});
  const Value files = std::vector<std::string>{"x.jpg"};
  EXPECT_THROW(check({}), GraphError);
  EXPECT_THROW(check({{"files", files}, {"file_list", folder.path("list.txt")}}), GraphError);
  EXPECT_THROW(check({{"file_root", folder.path()}, {"labels", std::vector<int64_t>{1}}}),
               GraphError);
  EXPECT_THROW(check({{"files", files}, {"shard_id", int64_t{1}}}), GraphError);
  EXPECT_THROW(opened({{"file_root", folder.path("none")}}), GraphError);
  EXPECT_THROW(opened({{"files", files}, {"labels", std::vector<int64_t>{1, 2}}}), GraphError);
}

TEST(ReadersFile, GivesItsOrder) {
  Arguments a{{"files", std::vector<std::string>{"x.jpg", "y.jpg"}},
              {"random_shuffle", true},
              {"seed", int64_t{9}}};
  const auto order = [&] { return type().reads->order(*type().make(a), *opened(a)); };
  EXPECT_EQ(order().size, 2);
  EXPECT_EQ(order().key, 9u);
  EXPECT_TRUE(order().shuffle);
  EXPECT_EQ(order().blocks, nullptr);
  a["shuffle_by"] = std::string("block");
  EXPECT_EQ(order().blocks->count(), 1);
  EXPECT_EQ(order().window, 1024);
}

}  // namespace
}  // namespace stoker
