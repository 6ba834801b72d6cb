// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
#include "io/file_list.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <unordered_map>

#include "base/error.h"
#include "io/file.h"
#include "io/glob.h"

namespace stoker::io {

namespace {

constexpr std::string_view kBlanks = " \t\r\v\f";

// A piece of a foreign line as it may stand in a message: short, without control characters.
std::string shown_piece(std::string_view s) {
  constexpr size_t kMost = 80;
  std::string piece(s.substr(0, kMost));
  for (char& c : piece)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = '?';
  return "'" + piece + (s.size() > kMost ? "...'" : "'");
}

std::string_view without_blanks(std::string_view s) {
  const size_t first = s.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return s.substr(first, s.find_last_not_of(kBlanks) + 1 - first);
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

// A folder's entries; that it cannot be read ends the build of the graph.
void list(const std::string& path, const std::function<void(FolderEntry)>& found) {
  try {
    list_folder(path, found);
  } catch (const SampleError& e) {
    throw GraphError(std::string("file list: ") + e.what());
  }
}

}  // namespace

// Fills a list; only this knows how folders are found again.
class FileList::Builder {
 public:
  explicit Builder(FileList& list) : l_(list) {}

  void scan(const FileListSpec& spec);
  void load(const FileListSpec& spec);
  void take(const FileListSpec& spec);
  void parse(std::string_view text, const std::string& shown);
  void finish();

 private:
  void add(std::string_view name, int32_t label);
  void parse_line(std::string_view line, const std::string& shown, int64_t number);
  uint32_t folder(std::string_view prefix);

  FileList& l_;
  std::unordered_map<std::string, uint32_t> known_;
  std::string last_;  // lists are mostly sorted: the folder is mostly the one before
  uint32_t last_number_ = 0;
};

uint32_t FileList::Builder::folder(std::string_view prefix) {
  if (!l_.folders_.empty() && prefix == last_) return last_number_;
  last_ = prefix;
  const auto [at, fresh] = known_.emplace(last_, static_cast<uint32_t>(l_.folders_.size()));
  // With a name behind it, so that a root without a slash gets one.
  if (fresh) {
    std::string joined = join_path(l_.root_, last_ + "x");
    joined.pop_back();
    l_.folders_.push_back(std::move(joined));
  }
  return last_number_ = at->second;
}

void FileList::Builder::add(std::string_view name, int32_t label) {
  const size_t slash = name.rfind('/');
  const size_t cut = slash == std::string_view::npos ? 0 : slash + 1;
  l_.folder_.push_back(folder(name.substr(0, cut)));
  l_.names_.append(name.substr(cut));
  l_.ends_.push_back(l_.names_.size());
  l_.labels_.push_back(label);
}

void FileList::Builder::finish() {
  l_.names_.shrink_to_fit();
  l_.ends_.shrink_to_fit();
  l_.folder_.shrink_to_fit();
  l_.labels_.shrink_to_fit();
  l_.folders_.shrink_to_fit();
}

void FileList::Builder::scan(const FileListSpec& spec) {
  const std::vector<Glob> wanted = globs(spec.file_filters, spec.case_sensitive_filter);
  const std::vector<Glob> wanted_folders = globs(spec.dir_filters, spec.case_sensitive_filter);
  std::vector<std::string> folders;
  int64_t other_folders = 0, loose = 0, skipped = 0;
  list(l_.root_, [&](FolderEntry e) {
    if (!e.is_folder) ++loose;
    else if (!wanted_folders.empty() && !any_matches(wanted_folders, e.name)) ++other_folders;
    else folders.push_back(std::move(e.name));
  });
  std::sort(folders.begin(), folders.end());
  for (size_t label = 0; label < folders.size(); ++label) {
    std::vector<std::string> names;
    list(join_path(l_.root_, folders[label]), [&](const FolderEntry& e) {
      if (!e.is_folder && any_matches(wanted, e.name))
        names.push_back(folders[label] + "/" + e.name);
      else ++skipped;
    });
    std::sort(names.begin(), names.end());
    for (const std::string& n : names) add(n, static_cast<int32_t>(label));
  }
  if (!l_.labels_.empty()) return;
  const auto count = [](int64_t n, const char* what) { return std::to_string(n) + " " + what; };
  throw GraphError(
      "file list: no files in the sub-folders of '" + l_.root_ + "'. Looked for " +
      listed(spec.file_filters) +
      (spec.dir_filters.empty() ? "" : " in sub-folders named " + listed(spec.dir_filters)) +
      "; found " + count(static_cast<int64_t>(folders.size()), "sub-folders with ") +
      count(skipped, "other entries, ") + count(other_folders, "sub-folders of other names, ") +
      count(loose, "files outside of sub-folders"));
}

void FileList::Builder::load(const FileListSpec& spec) {
  ByteBuffer text;
  try {
    File(spec.file_list).read(text);
  } catch (const SampleError& e) {
    throw GraphError(std::string("file list: ") + e.what());
  }
  parse({reinterpret_cast<const char*>(text.data()), text.size()}, spec.file_list);
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
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // some editors' byte order mark
  int64_t number = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    parse_line(text.substr(0, end), shown, ++number);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (l_.labels_.empty())
    throw GraphError("file list: " + shown + " names no files: all of its " +
                     std::to_string(number) + " lines are empty");
}

void FileList::Builder::parse_line(std::string_view whole, const std::string& shown,
                                   int64_t number) {
  const std::string_view line = without_blanks(whole);
  if (line.empty()) return;
  const auto refuse = [&](const std::string& why) {
    throw GraphError("file list: " + shown + ":" + std::to_string(number) + ": " + why + ", got " +
                     shown_piece(line));
  };
  const size_t blank = line.find_last_of(kBlanks);
  if (blank == std::string_view::npos) refuse("expected a name and a label");
  const std::string_view token = line.substr(blank + 1);
  int32_t label = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), label);
  if (error != std::errc() || end != token.data() + token.size())
    refuse("the label " + shown_piece(token) + " is not a whole number of 32 bits");
  const std::string_view name = without_blanks(line.substr(0, blank));
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

}  // namespace stoker::io
