// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "io/paths/folder_search.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/picture_formats.h"
#include "base/text.h"

namespace stoker::io {

namespace {

// Pictures and sounds whose names no reader takes by itself.
const std::vector<Glob>& other_formats() {
  static const std::vector<Glob> all = [] {
    std::vector<Glob> globs;
    const auto add = [&](std::string_view ending) {
      const std::string pattern = "*" + std::string(ending);
      if (!std::ranges::count(usual_patterns(), pattern)) globs.emplace_back(pattern, false);
    };
    for (const PictureFormat& f : picture_formats()) std::ranges::for_each(f.endings, add);
    for (const char* sound : {".mp3", ".aif", ".aiff", ".au", ".opus", ".oga", ".w64"}) add(sound);
    return globs;
  }();
  return all;
}

}  // namespace

bool is_hidden(std::string_view name) {
  constexpr std::array<std::string_view, 5> kOfSystems = {
      "__MACOSX", "@eaDir", "lost+found", "$RECYCLE.BIN", "System Volume Information"};
  return name.starts_with('.') || std::ranges::find(kOfSystems, name) != kOfSystems.end();
}

void Tally::add(const std::string& path) {
  if (count_++ == 0 || path < first_) first_ = path;
}

std::string Tally::in_words(const std::string& what) const {
  return counted(static_cast<size_t>(count_), what) + " ('" + first_ +
         (count_ == 1 ? "')" : "' and others)");
}

std::string counted(size_t n, const std::string& what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

std::string joined_by(std::string_view between, const std::vector<std::string>& parts) {
  std::string all;
  for (const std::string& p : parts) (all.empty() ? all : all.append(between)) += p;
  return all;
}

const std::vector<std::string>& usual_patterns() {
  static const std::vector<std::string> all = {"*.jpg",  "*.jpeg", "*.png",  "*.bmp", "*.tif",
                                               "*.tiff", "*.pnm",  "*.ppm",  "*.pgm", "*.pbm",
                                               "*.jp2",  "*.webp", "*.flac", "*.ogg", "*.wav"};
  return all;
}

std::string Found::in_words(const std::string& root) const {
  size_t count = 0;
  for (const auto& [folder, names] : files) count += names.size();
  return (is_all ? "" : "at least ") + counted(count, "file") + " in " +
         counted(files.size(), "folder") + " within those of the classes, such as '" +
         join_path(root, files.begin()->first) + "'";
}

std::vector<std::string> Found::surprises(const std::string& argument) const {
  std::vector<std::string> all;
  if (hidden_folders.count())
    all.push_back("leaves out " + hidden_folders.in_words("hidden folder"));
  if (hidden_files.count())
    all.push_back("leaves out " + hidden_files.in_words("hidden file") + ", which only " +
                  argument + " of your own would take");
  if (taken_hidden_files.count())
    all.push_back("takes " + taken_hidden_files.in_words("hidden file") + ", as " + argument +
                  " says");
  if (files_of_other_formats.count())
    all.push_back("leaves out " + files_of_other_formats.in_words("file") +
                  ", of formats that it takes only where " + argument + " names them");
  return all;
}

FolderSearch::FolderSearch(std::string root, const std::vector<std::string>& patterns,
                           bool case_sensitive, bool is_own)
    : root_(std::move(root)),
      wanted_(globs_of(patterns, case_sensitive)),
      is_own_(is_own),
      is_usual_(patterns == usual_patterns()) {}

// Counts a file, takes it or leaves it out.
void FolderSearch::see(const std::string& folder, const std::string& name, Found& own,
                       std::vector<std::string>& names) const {
  const bool hidden = is_hidden(name), is_wanted = any_matches(wanted_, name);
  if (is_wanted && (is_own_ || !hidden)) {
    names.push_back(name);
    if (hidden) own.taken_hidden_files.add(join_path(folder, name));
  } else if (is_wanted) {
    own.hidden_files.add(join_path(folder, name));
  } else if (is_usual_ && !hidden && any_matches(other_formats(), name)) {
    own.files_of_other_formats.add(join_path(folder, name));
  }
}

FolderId FolderSearch::look(const std::string& folder, Found& own, Found& below,
                            std::vector<FolderId> above) const {
  std::vector<std::string> names, inner;
  int64_t entries = 0;
  const bool only_counts = &own != &below;
  const auto take = [&](const FolderEntry& e) {
    ++entries;
    if (!e.is_folder) see(folder, e.name, own, names);
    else if (!is_hidden(e.name)) inner.push_back(join_path(folder, e.name));
    else if (!only_counts) own.hidden_folders.add(join_path(folder, e.name));
  };
  const FolderId id = list_root(join_path(root_, folder), take, own.effort);
  own.effort -= kOpening + entries;
  own.is_all &= own.effort > 0;
  if (!only_counts && std::ranges::count(above, id)) return id;
  above.push_back(id);
  own.others += entries - static_cast<int64_t>(names.size());
  std::ranges::sort(names);
  if (!names.empty()) own.files.emplace(folder, std::move(names));
  std::ranges::sort(inner);
  for (const std::string& f : inner) {
    try {
      if (below.effort > 0) look(f, below, below, above);
    } catch (const GraphError&) {
      if (!only_counts) throw;
      below.is_all = false;
    }
  }
  return id;
}

FolderId list_root(const std::string& path, const std::function<void(FolderEntry)>& found,
                   int64_t most) {
  try {
    return list_folder(path, found, most);
  } catch (const SampleError& e) {
    throw GraphError(std::string("file_root: ") + e.what());
  }
}

FoundNames names_found(const std::string& root, const std::vector<std::string>& patterns,
                       const std::string& argument, bool is_own) {
  Found found;
  FolderSearch(root, patterns, false, is_own).look("", found, found);
  FoundNames all;
  for (const auto& [folder, files] : found.files)
    for (const std::string& f : files) all.names.push_back(join_path(folder, f));
  all.warning = joined_by("; ", found.surprises(argument));
  if (all.names.empty())
    throw GraphError("file list: no files " + joined_by(", ", patterns) + " in '" + root +
                     "' and below" + (all.warning.empty() ? "" : "; the reader " + all.warning));
  std::sort(all.names.begin(), all.names.end());
  return all;
}

}  // namespace stoker::io
