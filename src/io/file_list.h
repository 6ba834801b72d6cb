// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// The files of a data set and their labels: from a folder of folders, a text file or an explicit
// list. Immutable; thread-safe.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stoker::io {

// What is given decides: `files`, else `file_list`, else all that `file_root` holds.
struct FileListSpec {
  // The folder of folders; the other two take relative names from it.
  std::string file_root;
  // A text file, a line per file: name, blanks, label. Without a file_root, names are relative to
  // its own folder.
  std::string file_list;
  std::vector<std::string> files;
  // Of `files`; empty: their positions.
  std::vector<int32_t> labels;
  // Of a scan. Sub-folders: empty means all.
  std::vector<std::string> file_filters = {"*.jpg",  "*.jpeg", "*.png",  "*.bmp", "*.tif",
                                           "*.tiff", "*.pnm",  "*.ppm",  "*.pgm", "*.pbm",
                                           "*.jp2",  "*.webp", "*.flac", "*.ogg", "*.wav"};
  std::vector<std::string> dir_filters;
  bool case_sensitive_filter = false;
};

// Names are held once, in one run of characters, and folders once each: 16 bytes a file, and its
// name without the folder.
class FileList {
 public:
  // Throws GraphError: a folder or list that cannot be read, a line that is wrong (file:line), no
  // files at all, arguments that contradict each other.
  explicit FileList(const FileListSpec& spec);

  // The list in `text`; `shown` is its name in errors, names are relative to `root`. A line is a
  // name, blanks and a whole number; names may hold blanks inside; empty lines count for nothing.
  static FileList parse(std::string_view text, const std::string& shown, const std::string& root);

  int64_t size() const { return static_cast<int64_t>(labels_.size()); }
  // Requires: 0 <= i < size().
  int32_t label(int64_t i) const { return labels_[static_cast<size_t>(i)]; }
  std::string path(int64_t i) const;
  const std::string& root() const { return root_; }
  size_t bytes() const;  // memory held
  // A hash of all names and labels. Of a file's folders those below the root count, so that the set
  // may move.
  uint64_t fingerprint() const;

 private:
  class Builder;
  FileList() = default;

  std::string root_;
  std::vector<std::string> folders_;  // joined to the root, with the slash at their end
  std::string names_;  // all of them, without the folders
  std::vector<uint64_t> ends_;  // of each file's name in names_
  std::vector<uint32_t> folder_;  // of each file, in folders_
  std::vector<int32_t> labels_;
};

}  // namespace stoker::io
