// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "io/paths/path_list.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/test_data.h"
#include "base/testing.h"
#include "io/faults.h"

namespace stoker::io {
namespace {

namespace fs = std::filesystem;

// "path label" for each file.
std::vector<std::string> lines(const PathList& list) {
  std::vector<std::string> all;
  for (int64_t i = 0; i < list.size(); ++i)
    all.push_back(list.path(i) + " " + std::to_string(list.label(i)));
  return all;
}
using Lines = std::vector<std::string>;

std::string parse_error(std::string_view text) {
  return message<GraphError>([&] { PathList::parse(text, "list.txt", "r"); });
}
std::string build_error(const PathListSpec& spec) {
  return message<GraphError>([&] { PathList list(spec); });
}

TEST(PathListText, NamesAndLabels) {
  EXPECT_EQ(lines(PathList::parse("a.jpg 1\nsub/b.jpg 2\nsub/c.jpg\t-3", "l", "/r")),
            (Lines{"/r/a.jpg 1", "/r/sub/b.jpg 2", "/r/sub/c.jpg -3"}));
}

TEST(PathListText, NamesMayHoldBlanks) {
  EXPECT_EQ(lines(PathList::parse("my  holiday pictures/a b.jpg   7  \r\n", "l", "/r")),
            (Lines{"/r/my  holiday pictures/a b.jpg 7"}));
}

TEST(PathListText, EmptyLinesCountForNothing) {
  EXPECT_EQ(lines(PathList::parse("\n  \n\xef\xbb\xbf x 1\n\r\n\t\ny 2\n\n", "l", "")),
            (Lines{"\xef\xbb\xbf x 1", "y 2"}));
  EXPECT_EQ(lines(PathList::parse("\xef\xbb\xbfx 1", "l", "")), (Lines{"x 1"}));
}

TEST(PathListText, RootsAndAbsoluteNames) {
  EXPECT_EQ(lines(PathList::parse("/a/b 1\nc 2\nd/e 3", "l", "r/")),
            (Lines{"/a/b 1", "r/c 2", "r/d/e 3"}));
  EXPECT_EQ(lines(PathList::parse("/b 1\nc 2\nx/c 3\nc 4", "l", "")),
            (Lines{"/b 1", "c 2", "x/c 3", "c 4"}));
}

TEST(PathListText, WrongLinesAreNamed) {
  EXPECT_EQ(parse_error("a 1\n\nlonely\n"),
            "file list: list.txt:3: expected a name and a label, got 'lonely'");
  EXPECT_EQ(parse_error("a 1\nb two"),
            "file list: list.txt:2: the label 'two' is not a whole number of 32 bits; "
            "fn.readers.csv reads texts, got 'b two'");
  for (const char* label :
       {"1.5", "2147483648", "-2147483649", "0x10", "+1", "1,", "99999999999999999999"})
    EXPECT_NE(parse_error(std::string("a ") + label).find("is not a whole number of 32 bits"),
              std::string::npos)
        << label;
  EXPECT_EQ(lines(PathList::parse("a -2147483648\nb 2147483647", "l", "")).size(), 2u);
  EXPECT_EQ(parse_error("dir/ 1"),
            "file list: list.txt:1: the name is that of a folder, got 'dir/ 1'");
  EXPECT_EQ(parse_error(std::string_view("a\0b 1", 5)),
            "file list: list.txt:1: the name holds a zero byte, got 'a\\x00b 1'");
  EXPECT_EQ(
      parse_error(std::string(200, 'x')),
      "file list: list.txt:1: expected a name and a label, got '" + std::string(80, 'x') + "...'");
  EXPECT_EQ(
      parse_error(std::string(79, 'x') + "\xc3\xa9"),
      "file list: list.txt:1: expected a name and a label, got '" + std::string(79, 'x') + "...'");
  EXPECT_EQ(parse_error("caf\xe9"),
            "file list: list.txt:1: expected a name and a label, got 'caf\\xe9'");
  EXPECT_EQ(parse_error("\n \n"),
            "file list: list.txt names no files: all of its 2 lines are empty");
}

TEST(PathListText, IsHeldCompactly) {
  std::string text;
  for (int i = 0; i < 100000; ++i) {
    const std::string folder = "n" + std::to_string(10000000 + i / 100);
    text +=
        folder + "/" + folder + "_" + std::to_string(i) + ".JPEG " + std::to_string(i / 100) + "\n";
  }
  const PathList list = PathList::parse(text, "l", "/a/rather/long/path/to/the/data/set/train");
  EXPECT_EQ(list.size(), 100000);
  EXPECT_EQ(list.path(99999),
            "/a/rather/long/path/to/the/data/set/train/n10000999/n10000999_99999.JPEG");
  EXPECT_LT(list.bytes() / 100000, 48u);
}

class FileListFolder : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/stoker_list_XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    root_ = name;
  }
  void TearDown() override { fs::remove_all(root_); }
  void touch(const std::string& name, const std::string& text = "") {
    fs::create_directories(fs::path(root_ + "/" + name).parent_path());
    std::ofstream(root_ + "/" + name) << text;
  }
  PathListSpec spec() const {
    PathListSpec s;
    s.file_root = root_;
    return s;
  }
  Lines scan(const PathListSpec& s) {
    Lines all = lines(PathList(s));
    for (std::string& l : all) l = l.substr(root_.size() + 1);
    return all;
  }
  std::string root_;
};

TEST_F(FileListFolder, SubFoldersAreTheLabels) {
  for (const char* n : {"dog/2.jpg", "dog/10.JPG", "cat/a.png", "Zebra/z.jpeg", "cat/notes.txt",
                        "dog/deep/x.jpg", "loose.jpg"})
    touch(n);
  fs::create_directory(root_ + "/empty");
  EXPECT_EQ(scan(spec()), (Lines{"Zebra/z.jpeg 0", "cat/a.png 1", "dog/10.JPG 2", "dog/2.jpg 2"}));
  fs::create_directory(root_ + "/bear");  // an empty folder is a class as well
  EXPECT_EQ(scan(spec()), (Lines{"Zebra/z.jpeg 0", "cat/a.png 2", "dog/10.JPG 3", "dog/2.jpg 3"}));
}

TEST_F(FileListFolder, FiltersChoose) {
  for (const char* n : {"a1/x.jpg", "a1/X.JPG", "a1/x.npy", "b1/x.jpg"}) touch(n);
  PathListSpec s = spec();
  s.case_sensitive_filter = true;
  EXPECT_EQ(scan(s), (Lines{"a1/x.jpg 0", "b1/x.jpg 1"}));
  s.file_filters = {"*.npy", "X*"};
  EXPECT_EQ(scan(s), (Lines{"a1/X.JPG 0", "a1/x.npy 0"}));
  s = spec();
  s.dir_filters = {"B*"};
  EXPECT_EQ(scan(s), (Lines{"b1/x.jpg 0"}));
}

TEST_F(FileListFolder, LinksAreFollowed) {
  touch("real/x.jpg");
  fs::create_symlink(root_ + "/real", root_ + "/alias");
  fs::create_symlink(root_ + "/real/x.jpg", root_ + "/real/y.jpg");
  EXPECT_EQ(scan(spec()),
            (Lines{"alias/x.jpg 0", "alias/y.jpg 0", "real/x.jpg 1", "real/y.jpg 1"}));
}

TEST_F(FileListFolder, OrderIsThatOfBytes) {
  for (const char* n :
       {"\xc3\xa4/1.jpg", "z/1.jpg", "a b/1.jpg", "a/\xff.jpg", "a/B.jpg", "a/a.jpg"})
    touch(n);
  EXPECT_EQ(scan(spec()), (Lines{"a/B.jpg 0", "a/a.jpg 0", "a/\xff.jpg 0", "a b/1.jpg 1",
                                 "z/1.jpg 2", "\xc3\xa4/1.jpg 3"}));
}

class NestedFolders : public FileListFolder {
 protected:
  PathListSpec all() const {
    PathListSpec s = spec();
    s.recursive = true;
    return s;
  }
  std::string warning() { return PathList(spec()).warning(); }
};

TEST_F(NestedFolders, AreTakenInTheOrderOfTheirPaths) {
  for (const char* n : {"cat/z.jpg", "cat/sub/b.jpg", "cat/sub/a/c.jpg", "cat/sub b/d.jpg",
                        "cat/sub.d/e.jpg", "cat/B/deep/er/f.jpg", "cat/sub/a.jpg", "dog/g.jpg"})
    touch(n);
  EXPECT_EQ(scan(all()),
            (Lines{"cat/z.jpg 0", "cat/B/deep/er/f.jpg 0", "cat/sub/a.jpg 0", "cat/sub/b.jpg 0",
                   "cat/sub b/d.jpg 0", "cat/sub.d/e.jpg 0", "cat/sub/a/c.jpg 0", "dog/g.jpg 1"}));
  EXPECT_EQ(scan(spec()), (Lines{"cat/z.jpg 0", "dog/g.jpg 1"}));
  EXPECT_EQ(PathList(all()).warning(), "");
  EXPECT_NE(PathList(all()).fingerprint(), PathList(spec()).fingerprint());
}

TEST_F(NestedFolders, AreFilteredByFileNamesAndClasses) {
  for (const char* n : {"a/b/x.jpg", "a/b/x.txt", "b/a/y.JPG", "b/a/y.txt"}) touch(n);
  PathListSpec s = all();
  s.dir_filters = {"a"};
  EXPECT_EQ(scan(s), (Lines{"a/b/x.jpg 0"}));
  s.file_filters = {"*.txt"};
  s.dir_filters.clear();
  EXPECT_EQ(scan(s), (Lines{"a/b/x.txt 0", "b/a/y.txt 1"}));
  s = all();
  s.case_sensitive_filter = true;
  EXPECT_EQ(scan(s), (Lines{"a/b/x.jpg 0"}));
}

// Each class also links to itself, to its neighbour and to the root.
TEST_F(NestedFolders, AreNotSearchedWithinThemselves) {
  const Lines classes{"a", "b"};
  for (const std::string& c : classes) {
    touch(c + "/in/x.jpg");
    fs::create_symlink(".", root_ + "/" + c + "/self");
    fs::create_symlink("../..", root_ + "/" + c + "/in/up");
    fs::create_symlink(c == "a" ? "../b" : "../a", root_ + "/" + c + "/other");
  }
  EXPECT_EQ(scan(all()),
            (Lines{"a/in/x.jpg 0", "a/other/in/x.jpg 0", "b/in/x.jpg 1", "b/other/in/x.jpg 1"}));
  EXPECT_EQ(names_found(root_, {"*.jpg"}, "file_filter", false).names,
            (Lines{"a/in/x.jpg", "a/other/in/x.jpg", "b/in/x.jpg", "b/other/in/x.jpg"}));
  touch("a/y.jpg"), touch("b/y.jpg");
  EXPECT_EQ(warning(), "leaves out 6 files in 6 folders within those of the classes, such as '" +
                           root_ + "/a/in'; recursive=True takes them too");
}

TEST_F(NestedFolders, AreToldOfWhereTheyAreLeftOut) {
  touch("cat/a.jpg");
  touch("cat/notes/b.txt");
  fs::create_directory(root_ + "/cat/empty");
  EXPECT_EQ(warning(), "");
  touch("cat/sub/deep/c.jpg");
  EXPECT_EQ(warning(), "leaves out 1 file in 1 folder within those of the classes, such as '" +
                           root_ + "/cat/sub/deep'; recursive=True takes them too");
  touch("dog/more/d.jpg");
  touch("dog/more/e.jpg");
  EXPECT_EQ(warning(), "leaves out 3 files in 2 folders within those of the classes, such as '" +
                           root_ + "/cat/sub/deep'; recursive=True takes them too");
  PathListSpec s = spec();
  s.dir_filters = {"dog"};
  s.file_filters = {"d.*"};
  EXPECT_NE(build_error(s).find("; the reader leaves out 1 file in 1 folder within those of the "
                                "classes, such as '" +
                                root_ + "/dog/more'; recursive=True takes them too"),
            std::string::npos)
      << build_error(s);
}

TEST_F(NestedFolders, AreCountedOnlySoFar) {
  touch("cat/a.jpg");
  touch("dog/b.jpg");
  for (int i = 0; i < 1100; ++i)
    fs::create_symlink("../dog", root_ + "/cat/" + std::to_string(1000 + i));
  EXPECT_EQ(PathList(all()).size(), 1102);
  struct CountFolders : FaultInjector {
    int folders = 0;
    int on_open(const std::string&) override { return ++folders, 0; }
  } counter;
  const WithFaults with(counter);
  EXPECT_EQ(warning(),
            "leaves out at least 953 files in 953 folders within those of the classes, such as '" +
                root_ + "/cat/1000'; recursive=True takes them too");
  EXPECT_EQ(counter.folders, 956);
}

TEST_F(NestedFolders, ThatCannotBeReadMatterOnlyWhereTheyAreTaken) {
  for (const char* n : {"cat/a.jpg", "cat/closed/b.jpg", "cat/open/c.jpg"}) touch(n);
  struct Deny : FaultInjector {
    int on_open(const std::string& path) override { return path.ends_with("/closed") ? EACCES : 0; }
  } deny;
  const WithFaults with(deny);
  EXPECT_EQ(warning(),
            "leaves out at least 1 file in 1 folder within those of the classes, such as '" +
                root_ + "/cat/open'; recursive=True takes them too");
  EXPECT_EQ(build_error(all()),
            "file_root: cannot list the folder '" + root_ + "/cat/closed': Permission denied");
}

class HiddenFiles : public NestedFolders {};

TEST_F(HiddenFiles, AreLeftOutAndTold) {
  for (const char* n : {".ipynb_checkpoints/a.jpg", "__MACOSX/a.jpg", "cat/a.jpg", "cat/._a.jpg",
                        "cat/.DS_Store", "cat/Thumbs.db", "dog/b.jpg", "dog/.b.jpg"})
    touch(n);
  EXPECT_EQ(scan(spec()), (Lines{"cat/a.jpg 0", "dog/b.jpg 1"}));
  EXPECT_EQ(class_folders(spec()), (Lines{"cat", "dog"}));
  EXPECT_EQ(warning(),
            "leaves out 2 hidden folders ('.ipynb_checkpoints' and others), of which only "
            "dir_filters would make a class; leaves out 2 hidden files ('cat/._a.jpg' and others), "
            "which only file_filters of your own would take");
}

TEST_F(HiddenFiles, AreLeftOutBelowClasses) {
  for (const char* n : {"cat/a.jpg", "cat/.cache/b.jpg", "cat/in/@eaDir/c.jpg", "cat/in/d.jpg"})
    touch(n);
  EXPECT_EQ(warning(), "leaves out 1 file in 1 folder within those of the classes, such as '" +
                           root_ + "/cat/in'; recursive=True takes them too");
  EXPECT_EQ(scan(all()), (Lines{"cat/a.jpg 0", "cat/in/d.jpg 0"}));
  EXPECT_EQ(PathList(all()).warning(), "leaves out 2 hidden folders ('cat/.cache' and others)");
  const FoundNames found = names_found(root_, {"*.jpg"}, "file_filter", false);
  EXPECT_EQ(found.names, (Lines{"cat/a.jpg", "cat/in/d.jpg"}));
  EXPECT_EQ(found.warning, "leaves out 2 hidden folders ('cat/.cache' and others)");
}

TEST_F(HiddenFiles, AreTakenWherePatternsSaySo) {
  for (const char* n : {".old/a.jpg", "cat/a.jpg", "cat/.a.jpg"}) touch(n);
  PathListSpec s = spec();
  s.dir_filters = {".*", "c*"};
  EXPECT_EQ(scan(s), (Lines{".old/a.jpg 0", "cat/a.jpg 1"}));
  EXPECT_EQ(class_folders(s), (Lines{".old", "cat"}));
  s.file_filters = {"*.jpg"};
  EXPECT_EQ(scan(s), (Lines{".old/a.jpg 0", "cat/.a.jpg 1", "cat/a.jpg 1"}));
  EXPECT_EQ(PathList(s).warning(), "takes 1 hidden file ('cat/.a.jpg'), as file_filters says");
}

TEST_F(HiddenFiles, AreAllThatIsThere) {
  touch(".a/x.jpg");
  EXPECT_NE(build_error(spec()).find("; the reader leaves out 1 hidden folder ('.a')"),
            std::string::npos)
      << build_error(spec());
}

TEST_F(FileListFolder, WhatElseLiesThereIsTold) {
  for (const char* n :
       {"cat/a.jpg", "cat/b.HEIC", "dog/c.gif", "dog/d.jpg", "dog/e.txt", "loose.jpg", "list.txt"})
    touch(n);
  EXPECT_EQ(PathList(spec()).warning(),
            "leaves out 2 files ('cat/b.HEIC' and others), of formats that it takes only where "
            "file_filters names them; leaves out 1 file ('loose.jpg') in file_root itself, of no "
            "class");
  PathListSpec s = spec();
  s.file_filters = {"*.jpg"};
  s.dir_filters = {"*"};
  fs::remove(root_ + "/loose.jpg");
  EXPECT_EQ(PathList(s).warning(), "");
}

TEST_F(FileListFolder, ClassesThatAreNoneOfTheirOwnAreTold) {
  touch("cat/a.jpg");
  fs::create_directory(root_ + "/bear");
  fs::create_symlink("cat", root_ + "/dog");
  EXPECT_EQ(scan(spec()), (Lines{"cat/a.jpg 1", "dog/a.jpg 2"}));
  EXPECT_EQ(PathList(spec()).warning(),
            "counts 1 folder ('bear') as a class of its own, though no such file is in it; makes "
            "two classes of 1 folder ('cat' and 'dog') as a link leads there");
}

TEST_F(FileListFolder, NothingFoundSaysWhatWasLookedFor) {
  touch("a/x.txt");
  touch("a/y.txt");
  touch("loose.jpg");
  fs::create_directory(root_ + "/b");
  PathListSpec s = spec();
  s.file_filters = {"*.jpg", "*.png"};
  s.dir_filters = {"a*"};
  EXPECT_EQ(
      build_error(s),
      "file_root: no files in the sub-folders of '" + root_ +
          "'. Looked for *.jpg, *.png in sub-folders named a*; found 1 sub-folder with 2 other "
          "entries, 1 sub-folder of other names, 1 file outside of sub-folders");
}

TEST_F(FileListFolder, AFlatFolderSaysWhatToDo) {
  touch("a.jpg");
  touch("b.jpg");
  EXPECT_EQ(build_error(spec()), "file_root '" + root_ +
                                     "' holds 2 files but no folders. Put them into folders, one "
                                     "per class, or give files=");
}

TEST_F(FileListFolder, FoldersThatCannotBeReadAreNamed) {
  PathListSpec s = spec();
  s.file_root = root_ + "/none";
  EXPECT_EQ(build_error(s),
            "file_root: cannot list the folder '" + root_ + "/none': No such file or directory");
  touch("a/x.jpg");
  struct Deny : FaultInjector {
    int on_open(const std::string& path) override { return path.ends_with("/a") ? EACCES : 0; }
  } deny;
  const WithFaults with(deny);
  EXPECT_EQ(build_error(spec()),
            "file_root: cannot list the folder '" + root_ + "/a': Permission denied");
}

TEST_F(FileListFolder, ListFilesAreRelativeToTheirFolderOrTheRoot) {
  touch("lists/train.txt", "x.jpg 5\n");
  PathListSpec s;
  s.file_list = root_ + "/lists/train.txt";
  EXPECT_EQ(lines(PathList(s)), (Lines{root_ + "/lists/x.jpg 5"}));
  s.file_root = "/data";
  EXPECT_EQ(lines(PathList(s)), (Lines{"/data/x.jpg 5"}));
  EXPECT_EQ(PathList(s).root(), "/data");
  s.file_list += ".none";
  EXPECT_EQ(build_error(s), "file list: cannot open '" + root_ +
                                "/lists/train.txt.none': No such file or directory");
}

TEST(PathList, ExplicitFiles) {
  PathListSpec s;
  s.files = {"b.jpg", "a.jpg", "b.jpg"};
  EXPECT_EQ(lines(PathList(s)), (Lines{"b.jpg 0", "a.jpg 1", "b.jpg 2"}));
  s.file_root = "/r";
  s.labels = {7, 7, -1};
  EXPECT_EQ(lines(PathList(s)), (Lines{"/r/b.jpg 7", "/r/a.jpg 7", "/r/b.jpg -1"}));
  s.labels = {1, 2};
  EXPECT_EQ(build_error(s), "file list: one label per file is needed, got 2 labels for 3 files");
  s.labels.clear();
  s.files[1] = "";
  EXPECT_EQ(build_error(s), "file list: the name of file 1 is empty");
}

TEST(PathList, TwoLabelsOfOneFileAreTold) {
  PathListSpec s;
  s.files = {"b/a.jpg", "a.jpg", "b/a.jpg", "a.jpg", "a.jpg"};
  EXPECT_EQ(PathList(s).warning(), "");  // its labels are places
  s.labels = {7, 1, 7, 1, 1};
  EXPECT_EQ(PathList(s).warning(), "");
  s.labels = {7, 1, 7, 1, 2};
  EXPECT_EQ(PathList(s).warning(), "names 1 file ('a.jpg') again with another label");
  s.labels = {7, 1, 8, 2, 3};
  EXPECT_EQ(PathList(s).warning(), "names 3 files ('a.jpg' and others) again with another label");
}

TEST(PathList, ContradictionsAreRefused) {
  PathListSpec s;
  EXPECT_EQ(build_error(s), "file list: one of 'file_root', 'file_list' and 'files' is needed");
  s.labels = {1};
  EXPECT_EQ(build_error(s), "file list: 'labels' needs 'files'");
  s.files = {"a"};
  s.file_list = "b";
  EXPECT_EQ(build_error(s), "file list: 'files' and 'file_list' exclude each other");
}

TEST(PathList, RealDataSets) {
  const fs::path data = test::test_data();
  if (!fs::exists(data)) GTEST_SKIP() << "STOKER_TEST_DATA names no folder";
  PathListSpec tree;
  tree.file_root = data / "imagenet";
  const PathList images(tree);
  EXPECT_EQ(images.size(), 400);
  for (int64_t i = 0; i < images.size(); ++i) EXPECT_TRUE(fs::exists(images.path(i)));
  for (int64_t i = 1; i < images.size(); ++i) EXPECT_LE(images.label(i - 1), images.label(i));
  PathListSpec text;
  text.file_list = data / "coco_small/file_list.txt";
  text.file_root = data / "coco_small/images";
  const PathList coco(text);
  EXPECT_EQ(coco.size(), 62);
  for (int64_t i = 0; i < coco.size(); ++i) EXPECT_TRUE(fs::exists(coco.path(i))) << coco.path(i);
}

// Neither the ends of pieces nor a line longer than a piece may matter.
TEST_F(FileListFolder, ALongTextIsTheSameInPieces) {
  std::string text =
      "\xef\xbb\xbf"
      "first 1\n";
  for (int i = 0; text.size() < (3 << 20); ++i)
    text += "class " + std::to_string(i % 7) + "/" + std::string(i % 61, 'x') + ".jpg " +
            std::to_string(i) + (i % 5 ? "\n" : "\r\n\n");
  text += std::string(5 << 20, 'y') + ".jpg 3\nlast 4";
  touch("list.txt", text);
  PathListSpec s;
  s.file_list = root_ + "/list.txt";
  EXPECT_EQ(lines(PathList(s)), lines(PathList::parse(text, "list.txt", root_)));
  touch("list.txt", text + "\nno label here!\n");
  const auto number = std::to_string(std::count(text.begin(), text.end(), '\n') + 2);
  EXPECT_NE(build_error(s).find("list.txt:" + number + ": "), std::string::npos) << build_error(s);
}

}  // namespace
}  // namespace stoker::io
