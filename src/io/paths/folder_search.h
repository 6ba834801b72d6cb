// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds the files of a data set in folders, and counts what it leaves out.
//
// Note [Hidden files]
// A name that begins with a dot is hidden, and so are folders that systems make, such as __MACOSX.
// A search leaves them out unless the user's own patterns match them, because nobody sees them and
// a hidden folder would be a class. What a person would not expect is counted and told in one
// warning.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "io/origin.h"
#include "io/paths/glob.h"

namespace stoker::io {

bool is_hidden(std::string_view name);

// Entries of one kind: how many there are, and the first of them in byte order.
class Tally {
 public:
  void add(const std::string& path);
  int64_t count() const { return count_; }
  // "1 file ('a')" or "2 files ('a' and others)"
  std::string in_words(const std::string& what) const;

 private:
  int64_t count_ = 0;
  std::string first_;
};

// "1 file", "2 files"
std::string counted(size_t n, const std::string& what);
std::string joined_by(std::string_view between, const std::vector<std::string>& parts);

// The patterns of pictures and sounds that readers look for by themselves. Saved graphs hold them,
// so they do not change: readers say that they leave out files of other formats.
const std::vector<std::string>& usual_patterns();

struct Found {
  std::map<std::string, std::vector<std::string>> files;  // names by folder, sorted
  int64_t others = 0;  // entries that are no such files
  // Left out, but for hidden files that the user's own patterns match.
  Tally hidden_folders, hidden_files, taken_hidden_files, files_of_other_formats;
  int64_t effort = INT64_MAX;  // that may still be made: about so many entries are listed
  bool is_all = true;

  // Requires: there are files.
  std::string in_words(const std::string& root) const;
  // What a person would not expect, in clauses. `argument`: that of the patterns.
  std::vector<std::string> surprises(const std::string& argument) const;
};

// Opening a folder takes about as long as listing so many entries.
inline constexpr int64_t kOpening = 20;

// Names of folders start from the root.
class FolderSearch {
 public:
  // `is_own`: whether the patterns are the user's own, which take hidden files as well.
  FolderSearch(std::string root, const std::vector<std::string>& patterns, bool case_sensitive,
               bool is_own);

  bool takes(std::string_view name) const {
    return any_matches(wanted_, name) && (is_own_ || !is_hidden(name));
  }
  // Adds to `own` what is in a folder, and to `below` what is in all those below it. The folders
  // `above` it are not entered again, as links may lead in circles. Where `below` is another, it is
  // only counted, and folders that cannot be read do not matter. Throws GraphError.
  FolderId look(const std::string& folder, Found& own, Found& below,
                std::vector<FolderId> above = {}) const;

 private:
  void see(const std::string& folder, const std::string& name, Found& own,
           std::vector<std::string>& names) const;

  const std::string root_;
  const std::vector<Glob> wanted_;
  const bool is_own_, is_usual_;
};

FolderId list_root(const std::string& path, const std::function<void(FolderEntry)>& found,
                   int64_t most = INT64_MAX);

struct FoundNames {
  std::vector<std::string> names;  // each from the folder on, sorted
  std::string warning;  // what a person would not expect, in words; empty where there is nothing
};
// Files whose names match a pattern of the argument. No folder within itself is entered. Throws
// GraphError where a folder cannot be read or there are no such files.
FoundNames names_found(const std::string& root, const std::vector<std::string>& patterns,
                       const std::string& argument, bool is_own);

}  // namespace stoker::io
