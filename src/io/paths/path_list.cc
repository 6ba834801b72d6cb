// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "io/file_list.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <unordered_map>

#include "base/error.h"
#include "base/hash.h"
#include "io/file.h"
#include "io/glob.h"

namespace stoker::io {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

// A piece of a foreign line in a form for messages: short, without control characters.
std::string shown_piece(std::string_view s) {
  std::string piece = shortened(s, 80);
  for (char& c : piece)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = '?';
  return "'" + piece + "'";
}

std::string_view without_blanks(std::string_view s) {
  while (!s.empty() && is_blank(s.front())) s.remove_prefix(1);
  while (!s.empty() && is_blank(s.back())) s.remove_suffix(1);
  return s;
}

std::string listed(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& n : names) all += (all.empty() ? "" : ", ") + n;
  return all;
}

std::vector<Glob> globs(const std::vector<std::string>& patterns, bool case_sensitive) {
  std::vector<Glob> all;
  for (const std::string& p : patterns) all.emplace_back(p, case_sensitive);
  return all;
}

// Lists a folder. A folder that cannot be read fails the build of the graph.
FolderId list(const std::string& path, const std::function<void(FolderEntry)>& found,
              int64_t most = INT64_MAX) {
  try {
    return list_folder(path, found, most);
  } catch (const SampleError& e) {
    throw GraphError(std::string("file_root: ") + e.what());
  }
}

std::string counted(size_t n, const std::string& what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

// What a search found.
struct Found {
  std::map<std::string, std::vector<std::string>> files;  // names by folder, sorted
  int64_t others = 0;  // entries that are no such files
  int64_t effort = INT64_MAX;  // that may still be made: about so many entries are listed
  bool is_all = true;

  // Requires: there are files.
  std::string in_words(const std::string& root) const {
    size_t count = 0;
    for (const auto& [folder, names] : files) count += names.size();
    return (is_all ? "" : "at least ") + counted(count, "file") + " in " +
           counted(files.size(), "folder") + " within those of the classes, such as '" +
           join_path(root, files.begin()->first) + "'";
  }
};

// To open a folder takes about as long as to list so many entries.
constexpr int64_t kOpening = 20;
// What may be spent on files that are only counted: at most 1000 folders are opened.
constexpr int64_t kCounting = 1000 * kOpening;

// Searches folders for files with such names.
class Search {
 public:
  Search(const std::string& root, const std::vector<std::string>& patterns, bool case_sensitive)
      : root_(root), wanted_(globs(patterns, case_sensitive)) {}

  // Adds to `own` what is in a folder, named from the root on, and to `below` what is in all those
  // below it. The folders `above` it are not entered again: links cannot lead round in circles.
  // Where `below` is another, it is only counted, and a folder there may be closed to us.
  void look(const std::string& folder, Found& own, Found& below,
            std::vector<FolderId> above = {}) const {
    std::vector<std::string> names, inner;
    int64_t entries = 0;
    const auto see = [&](const FolderEntry& e) {
      ++entries;
      if (e.is_folder) inner.push_back(join_path(folder, e.name));
      else if (any_matches(wanted_, e.name)) names.push_back(e.name);
    };
    const bool only_counts = &own != &below;
    const FolderId id = list(join_path(root_, folder), see, own.effort);
    own.effort -= kOpening + entries;
    own.is_all &= own.effort > 0;
    if (!only_counts && std::ranges::count(above, id)) return;
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
  }

 private:
  const std::string& root_;
  const std::vector<Glob> wanted_;
};

}  // namespace

// Fills a list. It remembers folders to find them again.
class FileList::Builder {
 public:
  explicit Builder(FileList& list) : l_(list) {}

  void scan(const FileListSpec& spec);
  void load(const FileListSpec& spec);
  void take(const FileListSpec& spec);
  void parse(std::string_view text, const std::string& shown);
  void finish();

 private:
  void reserve(double times);
  size_t parse_lines(std::string_view text, bool is_end, const std::string& shown);
  void require_files(const std::string& shown) const;
  void add(std::string_view name, int32_t label);
  void parse_line(std::string_view line, const std::string& shown);
  uint32_t folder(std::string_view prefix);

  FileList& l_;
  int64_t line_ = 0;  // number of the text's last line that was parsed
  std::unordered_map<std::string, uint32_t> known_;
  std::string last_;  // the last folder: lists are mostly sorted, so it mostly comes again
  uint32_t last_number_ = 0;
};

uint32_t FileList::Builder::folder(std::string_view prefix) {
  if (!l_.folders_.empty() && prefix == last_) return last_number_;
  last_ = prefix;
  const auto [at, fresh] = known_.emplace(last_, static_cast<uint32_t>(l_.folders_.size()));
  // A name is joined to the folder and taken off, so that a root without a slash gets one.
  if (fresh) {
    std::string joined = join_path(l_.root_, last_ + "x");
    joined.pop_back();
    l_.folders_.push_back(std::move(joined));
  }
  return last_number_ = at->second;
}

void FileList::Builder::add(std::string_view name, int32_t label) {
  size_t cut = last_.size();
  if (!name.starts_with(last_) || name.find('/', cut) != std::string_view::npos)
    cut = name.rfind('/') + 1;  // 0 without a slash
  l_.folder_.push_back(folder(name.substr(0, cut)));
  l_.names_.append(name.substr(cut));
  l_.ends_.push_back(l_.names_.size());
  l_.labels_.push_back(label);
}

// Reserves room for `times` the present size, so that a long list does not grow step by step.
void FileList::Builder::reserve(double times) {
  const auto room = [&](auto& c) {
    c.reserve(static_cast<size_t>(times * static_cast<double>(c.size())));
  };
  room(l_.names_), room(l_.ends_), room(l_.folder_), room(l_.labels_);
}

void FileList::Builder::finish() {
  const auto fit = [](auto& c) {
    if (c.capacity() > c.size() + c.size() / 16) c.shrink_to_fit();
  };
  fit(l_.names_), fit(l_.ends_), fit(l_.folder_), fit(l_.labels_), fit(l_.folders_);
}

void FileList::Builder::scan(const FileListSpec& spec) {
  const std::vector<Glob> wanted_folders = globs(spec.dir_filters, spec.case_sensitive_filter);
  std::vector<std::string> folders;
  int64_t other_folders = 0, loose = 0;
  const FolderId root = list(l_.root_, [&](FolderEntry e) {
    if (!e.is_folder) ++loose;
    else if (!wanted_folders.empty() && !any_matches(wanted_folders, e.name)) ++other_folders;
    else folders.push_back(std::move(e.name));
  });
  std::sort(folders.begin(), folders.end());
  const Search search(l_.root_, spec.file_filters, spec.case_sensitive_filter);
  Found taken, left_out;
  left_out.effort = kCounting;
  for (size_t label = 0; label < folders.size(); ++label) {
    search.look(folders[label], taken, spec.recursive ? taken : left_out, {root});
    for (const auto& [folder, names] : taken.files)
      for (const std::string& n : names) add(folder + "/" + n, static_cast<int32_t>(label));
    taken.files.clear();
  }
  if (!left_out.files.empty())
    l_.warning_ = "leaves out " + left_out.in_words(l_.root_) + "; recursive=True takes them too";
  if (!l_.labels_.empty()) return;
  if (folders.empty() && other_folders == 0 && loose > 0)
    throw GraphError("file_root '" + l_.root_ + "' holds " + std::to_string(loose) +
                     " files but no folders. Put them into folders, one per class, or give files=");
  throw GraphError(
      "file_root: no files in the sub-folders of '" + l_.root_ + "'. Looked for " +
      listed(spec.file_filters) +
      (spec.dir_filters.empty() ? "" : " in sub-folders named " + listed(spec.dir_filters)) +
      "; found " + counted(folders.size(), "sub-folder") + " with " + std::to_string(taken.others) +
      " other entries, " + counted(other_folders, "sub-folder") + " of other names, " +
      counted(loose, "file") + " outside of sub-folders" +
      (left_out.files.empty() ? "" : "; recursive=True takes " + left_out.in_words(l_.root_)));
}

void FileList::Builder::load(const FileListSpec& spec) {
  int64_t piece = 1 << 20;
  ByteBuffer buffer;
  try {
    const File file(spec.file_list);
    for (int64_t at = 0; at < file.size() || at == 0;) {
      const int64_t length = std::min(piece, file.size() - at);
      file.read(buffer, at, length);
      std::string_view text(reinterpret_cast<const char*>(buffer.data()), buffer.size());
      const bool is_end = at + length == file.size();
      const auto used = static_cast<int64_t>(parse_lines(text, is_end, spec.file_list));
      if (is_end) break;
      if (at == 0 && used)
        reserve(1.02 * static_cast<double>(file.size()) / static_cast<double>(used));
      at += used;
      if (used == 0) piece *= 2;  // the line is longer than the piece
    }
  } catch (const SampleError& e) {
    throw GraphError(std::string("file list: ") + e.what());
  }
  require_files(spec.file_list);
}

void FileList::Builder::take(const FileListSpec& spec) {
  if (!spec.labels.empty() && spec.labels.size() != spec.files.size())
    throw GraphError("file list: one label per file is needed, got " +
                     std::to_string(spec.labels.size()) + " labels for " +
                     std::to_string(spec.files.size()) + " files");
  if (spec.files.size() > INT32_MAX)
    throw GraphError("file list: at most 2^31 - 1 files, got " + std::to_string(spec.files.size()));
  for (size_t i = 0; i < spec.files.size(); ++i) {
    if (spec.files[i].empty())
      throw GraphError("file list: the name of file " + std::to_string(i) + " is empty");
    add(spec.files[i], spec.labels.empty() ? static_cast<int32_t>(i) : spec.labels[i]);
  }
}

void FileList::Builder::parse(std::string_view text, const std::string& shown) {
  parse_lines(text, true, shown);
  require_files(shown);
}

// Parses the whole lines of a text and, at its end, also what follows the last line break. Returns
// the number of bytes parsed.
size_t FileList::Builder::parse_lines(std::string_view text, bool is_end,
                                      const std::string& shown) {
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = text.find('\n', at);
    if (end == std::string_view::npos && !is_end) break;
    std::string_view line = text.substr(at, end - at);
    if (line_++ == 0 && line.starts_with("\xef\xbb\xbf"))
      line.remove_prefix(3);  // the byte order mark that some editors write
    parse_line(line, shown);
    at = end == std::string_view::npos ? text.size() : end + 1;
  }
  return at;
}

void FileList::Builder::require_files(const std::string& shown) const {
  if (l_.labels_.empty())
    throw GraphError("file list: " + shown + " names no files: all of its " +
                     std::to_string(line_) + " lines are empty");
}

void FileList::Builder::parse_line(std::string_view whole, const std::string& shown) {
  const std::string_view line = without_blanks(whole);
  if (line.empty()) return;
  const auto refuse = [&](const std::string& why) {
    throw GraphError("file list: " + shown + ":" + std::to_string(line_) + ": " + why + ", got " +
                     shown_piece(line));
  };
  size_t begin = line.size();  // where the label begins
  while (begin > 0 && !is_blank(line[begin - 1])) --begin;
  if (begin == 0) refuse("expected a name and a label");
  const std::string_view token = line.substr(begin);
  int32_t label = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), label);
  if (error != std::errc() || end != token.data() + token.size())
    refuse("the label " + shown_piece(token) + " is not a whole number of 32 bits");
  const std::string_view name = without_blanks(line.substr(0, begin));
  if (name.find('\0') != std::string_view::npos) refuse("the name holds a zero byte");
  if (name.back() == '/') refuse("the name is that of a folder");
  add(name, label);
}

FileList::FileList(const FileListSpec& spec) : root_(spec.file_root) {
  if (!spec.files.empty() && !spec.file_list.empty())
    throw GraphError("file list: 'files' and 'file_list' exclude each other");
  if (spec.files.empty() && !spec.labels.empty())
    throw GraphError("file list: 'labels' needs 'files'");
  Builder builder(*this);
  if (!spec.files.empty()) {
    builder.take(spec);
  } else if (!spec.file_list.empty()) {
    if (root_.empty()) root_ = spec.file_list.substr(0, spec.file_list.rfind('/') + 1);
    builder.load(spec);
  } else if (!root_.empty()) {
    builder.scan(spec);
  } else {
    throw GraphError("file list: one of 'file_root', 'file_list' and 'files' is needed");
  }
  builder.finish();
}

FileList FileList::parse(std::string_view text, const std::string& shown, const std::string& root) {
  FileList list;
  list.root_ = root;
  Builder builder(list);
  builder.parse(text, shown);
  builder.finish();
  return list;
}

std::string FileList::path(int64_t i) const {
  const auto n = static_cast<size_t>(i);
  const uint64_t begin = n == 0 ? 0 : ends_[n - 1];
  const std::string& folder = folders_[folder_[n]];
  std::string path;
  path.reserve(folder.size() + ends_[n] - begin);
  path.append(folder).append(names_, begin, ends_[n] - begin);
  return path;
}

size_t FileList::bytes() const {
  size_t sum = names_.capacity() + ends_.capacity() * sizeof(uint64_t) +
               folder_.capacity() * sizeof(uint32_t) + labels_.capacity() * sizeof(int32_t) +
               folders_.capacity() * sizeof(std::string);
  for (const std::string& f : folders_) sum += f.capacity();
  return sum;
}

uint64_t FileList::fingerprint() const {
  std::vector<uint64_t> folders;
  for (const std::string& f : folders_) {
    const bool is_below = !root_.empty() && f.starts_with(root_);
    folders.push_back(hash64(is_below ? std::string_view(f).substr(root_.size()) : ""));
  }
  uint64_t h = hash64(names_);
  for (size_t i = 0; i < labels_.size(); ++i)
    h = mix(h, folders[folder_[i]], ends_[i], static_cast<uint64_t>(labels_[i]));
  return h;
}

std::vector<std::string> names_listed(const std::string& path) {
  ByteBuffer buffer;
  try {
    File(path).read(buffer);
  } catch (const SampleError& e) {
    throw GraphError(std::string("file list: ") + e.what());
  }
  std::string_view text(reinterpret_cast<const char*>(buffer.data()), buffer.size());
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  std::vector<std::string> names;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view name = without_blanks(text.substr(at, end - at));
    if (!name.empty()) names.emplace_back(name);
    at = end + 1;
  }
  if (names.empty()) throw GraphError("file list: " + path + " names no files");
  return names;
}

std::vector<std::string> names_found(const std::string& root,
                                     const std::vector<std::string>& patterns,
                                     bool case_sensitive) {
  Found found;
  Search(root, patterns, case_sensitive).look("", found, found);
  std::vector<std::string> names;
  for (const auto& [folder, files] : found.files)
    for (const std::string& f : files) names.push_back(join_path(folder, f));
  if (names.empty())
    throw GraphError("file list: no files " + listed(patterns) + " in '" + root + "' and below");
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace stoker::io
