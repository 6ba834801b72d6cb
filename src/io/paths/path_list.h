// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The files of a data set and their labels, from a folder of folders, a text file or a given list.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/paths/folder_search.h"

namespace stoker::io {

// `files` is used if it is given, else `file_list`, else everything in `file_root`.
struct PathListSpec {
  // The folder of folders. Relative names of the other two start from it.
  std::string file_root;
  // A text file with one file per line: name, blanks, label. Without a file_root, names start from
  // the folder of the text file.
  std::string file_list;
  std::vector<std::string> files;
  // The labels of `files`. When empty, a file's place in `files` is its label.
  std::vector<int32_t> labels;
  // What a scan takes: Note [Hidden files] (io/paths/folder_search.h). Without dir_filters, all
  // sub-folders that are not hidden.
  std::vector<std::string> file_filters = usual_patterns();
  std::vector<std::string> dir_filters;
  bool case_sensitive_filter = false;
  // Also takes files in folders below the sub-folders, at any depth, sorted by their folders and
  // then by their names. No folder within itself is entered, as links may lead there.
  bool recursive = false;
};

// Every folder is stored once, so a file takes 16 bytes and its name without the folder. Immutable.
class PathList {
 public:
  // Throws GraphError for a folder or list that cannot be read, a wrong line (named by file:line),
  // an empty list, or arguments that contradict each other.
  explicit PathList(const PathListSpec& spec);

  // Parses a list. `shown` is its name in errors, and names start from `root`. A line is a name,
  // blanks and a whole number. Names may hold blanks inside. Empty lines do not count.
  static PathList parse(std::string_view text, const std::string& shown, const std::string& root);

  int64_t size() const { return static_cast<int64_t>(labels_.size()); }
  // Requires: 0 <= i < size().
  int32_t label(int64_t i) const { return labels_[static_cast<size_t>(i)]; }
  std::string path(int64_t i) const;
  const std::string& root() const { return root_; }
  size_t bytes() const;  // memory held
  // A hash of all labels and names. Of folders only the part below the root counts, so that the set
  // may be moved.
  uint64_t fingerprint() const;
  // What a person would not expect, in words, or empty: what a scan took and left out, files that a
  // list gives several labels.
  const std::string& warning() const { return warning_; }

 private:
  class Builder;
  PathList() = default;

  std::string root_;
  std::vector<std::string> folders_;  // each with the root before it and a slash at its end
  std::string names_;  // all names, without folders
  std::vector<uint64_t> ends_;  // by file: end of its name in names_
  std::vector<uint32_t> folder_;  // by file: its number in folders_
  std::vector<int32_t> labels_;
  std::string warning_;
};

// The names in a text file, one a line, without blanks around them. Empty lines do not count.
// Throws GraphError where it cannot be read or names nothing.
std::vector<std::string> names_listed(const std::string& list);
// The folders of `file_root` that are classes, by label. Throws GraphError where it cannot be read.
std::vector<std::string> class_folders(const PathListSpec& spec);

}  // namespace stoker::io
