// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "io/paths/path_list.h"
#include "op/reader.h"
#include "op/type_of.h"

namespace stoker::ops::read {

namespace {

class FileStore final : public SampleStore {
 public:
  explicit FileStore(const io::PathListSpec& spec)
      : list_(spec), fingerprint_(list_.fingerprint()) {}

  int64_t size() const override { return list_.size(); }
  io::Place place(int64_t index) const override { return io::Place::at({list_.path(index)}); }
  std::string name(int64_t index) const override { return list_.path(index); }
  uint64_t fingerprint() const override { return fingerprint_; }
  std::string warning() const override { return list_.warning(); }
  void read(Reading& r) const override {
    r.share(0, r.parts[0]);
    r.give(1, {DType::kInt32, {}, {1}}, list_.label(r.index));
  }

 private:
  io::PathList list_;
  uint64_t fingerprint_;
};

}  // namespace

struct File : ReaderArguments {
  std::optional<std::string> file_root, file_list;
  std::optional<std::vector<std::string>> files, dir_filters;
  std::optional<Small<int32_t>> labels;
  std::vector<std::string> file_filters = io::PathListSpec().file_filters;
  bool case_sensitive_filter = false, recursive = false;

  static constexpr auto kIgnored = kIgnoredReaderArguments;
  static constexpr const char* kSkip = "reads files; its test stands beside it";
  static constexpr auto schema = describe(
      "readers.file",
      "Reads whole files and their labels.\n\n"
      "The files come from a folder of folders (file_root; a file's label is the number of its "
      "folder in byte order), from a text file (file_list) or from a list (files, labels). Hidden "
      "folders and files, whose names begin with a dot, and folders that systems make, as "
      "__MACOSX, are left out. Files in folders within those of the classes are taken only with "
      "recursive=True. A warning tells of all that a person would not expect: what is left out, "
      "classes without files, and folders that are two classes by a link. Outputs the bytes of a "
      "file, uint8 of shape (size,), and its label, int32 of "
      "shape (1,). A folder or list that cannot be read is an error when the pipeline is built; a "
      "file that cannot be read fails its sample.",
      ports(),
      ports({.name = "bytes", .help = "The file's bytes, uint8 of shape (size,)."},
            {.name = "label", .help = "The label, int32 of shape (1,)."}),
      arg(&File::file_root, "file_root",
          "The folder of folders. Relative names in file_list and files start from it."),
      arg(&File::files, "files", "The files. Excludes file_list."),
      arg(&File::labels, "labels", "One label for each of the files; default: 0, 1, 2 and so on."),
      arg(&File::file_list, "file_list",
          "Path of a text file, one 'name label' per line. Names may contain blanks and are "
          "relative to file_root, or else to the text file's folder. Excludes files."),
      arg(&File::file_filters, "file_filters",
          "Patterns for the names of the files that are taken when folders are searched. Patterns "
          "of your own also take hidden files."),
      arg(&File::dir_filters, "dir_filters",
          "Patterns for the names of the folders that are classes, also hidden ones. Default: all "
          "that are not hidden."),
      arg(&File::case_sensitive_filter, "case_sensitive_filter",
          "Whether patterns distinguish upper and lower case."),
      arg(&File::recursive, "recursive",
          "Whether files in folders within those of the classes are taken too, at any depth. Of a "
          "class come first those in its own folder, then those below it, sorted by the paths of "
          "their folders and then by their names, in byte order: the order of torchvision's "
          "ImageFolder. Links are followed, but no folder is searched within itself."),
      kReaderArguments);

  void check(Checker& c) const {
    check_reader(*this);
    require(files || file_list || file_root,
            "the files are missing: give file_root, file_list or files");
    require(
        !files || !files->empty(),
        "argument 'files' is an empty list, so there is nothing to read; was the pattern or the "
        "folder that it was made of the right one?");
    require(!files || !file_list, "arguments 'files' and 'file_list' exclude each other");
    require(files || !labels, "argument 'labels' needs 'files'");
    c.out({DType::kUint8, {}, {-1}});
    c.out({DType::kInt32, {}, {1}});
  }

  std::unique_ptr<SampleStore> open() const {
    io::PathListSpec s;
    s.file_root = file_root.value_or("");
    s.file_list = file_list.value_or("");
    s.files = files.value_or(std::vector<std::string>{});
    if (labels) s.labels.assign(labels->begin(), labels->end());
    s.file_filters = file_filters;
    s.dir_filters = dir_filters.value_or(std::vector<std::string>{});
    s.case_sensitive_filter = case_sensitive_filter;
    s.recursive = recursive;
    return std::make_unique<FileStore>(s);
  }
  io::OrderSpec order(const SampleStore& s) const { return order_of(*this, s); }
};

}  // namespace stoker::ops::read

STOKER_OPERATOR(stoker::ops::read::File)
